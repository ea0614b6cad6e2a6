//! make, ninja, cmake and ctest: which step failed, and giving up.

use super::rule::{Recogniser, Rule};

pub(super) static MAKE: Recogniser = Recogniser::new(
    "make",
    "^\\S*make(\\[[0-9]+\\])?: \\*\\*\\* ",
    &[
        Rule::nothing("^\\S*make(\\[[0-9]+\\])?: \\*\\*\\* (.* \\(ignored\\)$|Waiting for unfinished jobs)"),
        Rule::problem("^(\\S*/)?g?make(\\[[0-9]+\\])?: \\*\\*\\* ").sure(),
    ],
)
.begins(b"mg/");

pub(super) static NINJA: Recogniser = Recogniser::new(
    "ninja",
    "^FAILED: |^ninja: (build stopped|error|fatal): ",
    &[
        Rule::problem("^FAILED: \\S"),
        Rule::result("^ninja: (build stopped|error|fatal): ").sure(),
        Rule::sign("^\\[[0-9]+/[0-9]+\\] \\S"),
    ],
)
.begins(b"Fn[");

/// Behind an error, whose next line says what it is.
const WHAT: u8 = 1;

pub(super) static CMAKE: Recogniser = Recogniser::new(
    "cmake",
    "^CMake Error(:| at )|^-- Configuring incomplete",
    &[
        Rule::problem("^CMake Error( at \\S+:[0-9]+ \\(\\S+\\))?:").sure().leaves(WHAT),
        Rule::detail("^  \\S").when(WHAT),
        Rule::result("^-- Configuring incomplete, errors occurred!$").sure(),
    ],
)
.begins(b"C-");

/// In the list of what failed.
const LIST: u8 = 1;

pub(super) static CTEST: Recogniser = Recogniser::new(
    "ctest",
    "^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\\*\\*\\*|[0-9]+% tests passed, ",
    &[
        Rule::problem("^ *[0-9]+/[0-9]+ (Mem)?Test +#[0-9]+: .*\\*\\*\\*").sure(),
        Rule::result("^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$").sure(),
        Rule::sign("^The following tests FAILED:$").leaves(LIST),
        Rule::again("^\\s+[0-9]+ - .+ \\(.+\\)$").when(LIST).leaves(LIST),
    ],
)
.begins(b"0123456789T");
