//! pytest, and the traceback with which any Python program ends.

use super::rule::{Recogniser, Rule};

pub(super) static PYTEST: Recogniser = Recogniser::new(
    "pytest",
    "^(FAILED|ERROR) \\S+\\.py|^!!+ .+ !!+$|^(=+ )?([0-9]+ [a-z]+,? )+in [0-9.]+s",
    &[
        Rule::problem("^(FAILED|ERROR) [^ ]+\\.py::").sure(),
        Rule::problem("^(FAILED|ERROR) [^ ]+\\.py( - |$)"),
        Rule::problem("^!!+ .+ !!+$"),
        Rule::result(
            "^=+ .*\\b[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\\b.* in [0-9.]+s\\b.*=+$",
        )
        .sure(),
        Rule::result(
            "^[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(, [0-9]+ [a-z]+)* in [0-9.]+s\\b",
        )
        .sure(),
        Rule::sign("^=+ test session starts =+$"),
    ],
)
.begins(b"FE!=0123456789");

/// In the traceback.
const INSIDE: u8 = 1;

pub(super) static PYTHON: Recogniser = Recogniser::new(
    "python",
    "^Traceback \\(most recent call last\\):$|^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit|Interrupt|Warning)\\b",
    &[
        Rule::nothing("^Traceback \\(most recent call last\\):$").leaves(INSIDE),
        Rule::nothing("^\\s").when(INSIDE).leaves(INSIDE),
        Rule::problem("^[A-Za-z_][A-Za-z0-9_.]*(: |:?$)").when(INSIDE).sure(),
    ],
)
.begins(b"T");
