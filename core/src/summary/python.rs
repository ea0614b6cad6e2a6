//! pytest, unittest, checkers of types, and the traceback with which any Python program ends.

use super::rule::{Recogniser, Rule};

/// Behind a conftest.py that cannot be loaded.
const CONFTEST: u8 = 1;

// `SUBFAIL` and `SUBFAILED(...)` are those of subtests, a plugin's and pytest 9's own; up to version 4 seconds were spelled out.
pub(super) static PYTEST: Recogniser = Recogniser::new(
    "pytest",
    "^(FAILED|ERROR|SUBFAIL\\S*) \\S+\\.py|^ERROR: |^FAIL Required |^ImportError while loading|^!!+ .+ !!+$|^(=+ )?([0-9]+ [a-z]+( [a-z]+)?,? )+in [0-9.]+ ?s|^_+ .+ _+$",
    &[
        Rule::problem("^(FAILED|ERROR|SUBFAIL(ED)?(\\(.*\\))?) [^ ]+\\.py::").sure(),
        Rule::problem("^SUBFAIL(ED)?(\\[.*\\])? [^ ]+\\.py::").sure(),
        Rule::problem("^(FAILED|ERROR) [^ ]+\\.py( - |$)"),
        Rule::problem("^(FAILED|ERROR) [^ ]+::[^ ]"),
        Rule::problem("^!!+ .+ !!+$"),
        Rule::problem("^ERROR: (file or directory not found|not found|found no collectors for|Coverage failure): ?"),
        Rule::problem("^FAIL Required test coverage of [0-9.]+% not reached\\. "),
        Rule::problem("^ImportError while loading conftest '").sure().leaves(CONFTEST),
        Rule::nothing("^[^E]").when(CONFTEST).leaves(CONFTEST),
        Rule::detail("^E   \\S").when(CONFTEST),
        // The heading of a failed test's own words, and what `-n` with `-v` prints as the tests run.
        Rule::early("^_{2,} [^ ].* _{2,}$"),
        Rule::early("^\\[gw[0-9]+\\] \\[ *[0-9]+%\\] (FAILED|ERROR) [^ ]+\\.py::"),
        Rule::result(
            "^=+ (.* )?[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)(, .*)? in [0-9.]+ ?s(econds)?(?-u:\\b).*=+$",
        )
        .sure(),
        Rule::result(
            "^[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(, [0-9]+ [a-z]+( [a-z]+)?)* in [0-9.]+ ?s(econds)?(?-u:\\b)",
        )
        .sure(),
        Rule::sign("^=+ test session starts( \\(.+\\))? =+$"),
    ],
)
.begins(b"FES!=I_[0123456789");

/// In a heading: behind the line of `=`.
const HEADING: u8 = 1;
/// Behind the line of `-` above the totals.
const TOTALS: u8 = 2;

// What failed is told between a line of `=` and one of `-`; its traceback is that of any Python program.
pub(super) static UNITTEST: Recogniser = Recogniser::new(
    "unittest",
    "^(FAIL|ERROR): \\S|^Ran [0-9]+ tests? in [0-9.]+s$|^FAILED \\(|^OK( \\(|$)",
    &[
        Rule::nothing("^={70}$").leaves(HEADING),
        Rule::problem("^(FAIL|ERROR): \\S").when(HEADING),
        Rule::nothing("^-{70}$").leaves(TOTALS),
        Rule::result("^Ran [0-9]+ tests? in [0-9.]+s$").when(TOTALS).sure(),
        Rule::result(
            "^(FAILED|OK)( \\((failures|errors|skipped|expected failures|unexpected successes)=[0-9]+.*\\))?$",
        ),
    ],
)
.begins(b"=-ROF");

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

// Checkers of types: mypy, and pyright, which puts a file's errors under its name.
pub(super) static TYPES: Recogniser = Recogniser::new(
    "mypy",
    "^ *\\S+\\.pyi?:[0-9]+(:[0-9]+)?(:| -) error: |^Found [0-9]+ errors? in |^[0-9]+ errors?, [0-9]+ warnings?, ",
    &[
        Rule::problem("^[^\\s:]+\\.pyi?:[0-9]+(:[0-9]+)?: error: "),
        Rule::problem("^ +/\\S+\\.pyi?:[0-9]+:[0-9]+ - error: "),
        Rule::result("^Found [0-9]+ errors? in [0-9]+ files? \\((checked [0-9]+ |errors prevented )").sure(),
        Rule::result("^[0-9]+ errors?, [0-9]+ warnings?, [0-9]+ (informations?|notes?) *$").sure(),
    ],
)
.begins(b"F0123456789")
.says_error();
