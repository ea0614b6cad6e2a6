//! make, ninja, cmake, ctest and Automake's tests: which step failed, and giving up.

use super::rule::{Recogniser, Rule};

pub(super) static MAKE: Recogniser = Recogniser::new(
    "make",
    "^\\S*make(\\[[0-9]+\\])?: \\*\\*\\* |^\\S*Makefile\\S*:[0-9]+: \\*\\*\\* ",
    &[
        Rule::nothing("^\\S*make(\\[[0-9]+\\])?: \\*\\*\\* (.* \\(ignored\\)$|Waiting for unfinished jobs)"),
        Rule::problem("^(\\S*/)?[a-z0-9_-]*make(\\[[0-9]+\\])?: \\*\\*\\* ").sure(),
        // What it cannot read or was told to stop at.
        Rule::problem("^(\\S*/)?Makefile[^\\s:]*:[0-9]+: \\*\\*\\* .+\\.  Stop\\.$").sure(),
    ],
)
.begins(b"mgx/M");

pub(super) static NINJA: Recogniser = Recogniser::new(
    "ninja",
    "^FAILED: |^ninja: (build stopped|error|fatal): ",
    &[
        Rule::problem("^FAILED: \\S"),
        Rule::result("^ninja: (build stopped|error|fatal): ").sure(),
        Rule::sign("^\\[[0-9]+/[0-9]+\\] \\S"),
    ],
)
.begins(b"Fn[")
.then(b"Ai0123456789");

/// Behind an error, whose next line says what it is.
const WHAT: u8 = 1;

pub(super) static CMAKE: Recogniser = Recogniser::new(
    "cmake",
    "^CMake Error(:| at | in )|^-- Configuring incomplete|^CMake Generate step failed",
    &[
        Rule::problem("^CMake Error( at \\S+:[0-9]+( \\(\\S+\\))?| in \\S+)?:").sure().leaves(WHAT),
        Rule::detail("^  \\S").when(WHAT),
        Rule::result("^-- Configuring incomplete, errors occurred!$|^CMake Generate step failed\\.").sure(),
    ],
)
.begins(b"C-")
.then(b"M-");

/// In the list of what failed.
const LIST: u8 = 1;

pub(super) static CTEST: Recogniser = Recogniser::new(
    "ctest",
    "^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\\*\\*\\*|[0-9]+% tests passed, |^No tests were found",
    &[
        Rule::sign("^ *[0-9]+/[0-9]+ (Mem)?Test +#[0-9]+: .*\\*\\*\\*(Skipped |Not Run \\(Disabled\\) )"),
        Rule::problem("^ *[0-9]+/[0-9]+ (Mem)?Test +#[0-9]+: .*\\*\\*\\*").sure(),
        Rule::result("^No tests were found!!!$").sure(),
        Rule::result("^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$").sure(),
        Rule::sign("^The following tests FAILED:$").leaves(LIST),
        Rule::again("^\\s+[0-9]+ - .+ \\(.+\\)$").when(LIST).leaves(LIST),
    ],
)
.begins(b"0123456789TN")
.then(b" /%ho0123456789");

// The tests of a package that Automake made: `make check`.
pub(super) static AUTOMAKE: Recogniser = Recogniser::new(
    "automake",
    "^(FAIL|XPASS|ERROR): |^# (TOTAL|PASS|FAIL|XPASS|ERROR): ",
    &[
        Rule::problem("^(FAIL|XPASS|ERROR): \\S"),
        Rule::sign("^Testsuite summary for .+$"),
        Rule::nothing("^# (FAIL|XPASS|ERROR): +0$"),
        Rule::result("^# (TOTAL|PASS|FAIL|XPASS|ERROR): +[0-9]+$"),
    ],
)
.begins(b"FXET#")
.then(b"APRe ");

pub(super) static MESON: Recogniser = Recogniser::new(
    "meson",
    "^ *[0-9]+/[0-9]+ .+ (FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS) |^(Ok|Fail|Timeout): |meson\\.build:[0-9]+:[0-9]+: ERROR: ",
    &[
        Rule::problem("^ *[0-9]+/[0-9]+ .+ (FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS|INTERRUPT) +[0-9.]+s( |$)"),
        Rule::nothing("^(Fail|Timeout|Unexpected Pass): +0 *$"),
        Rule::result("^(Ok|Fail|Timeout|Unexpected Pass): +[0-9]+ *$"),
        Rule::sign("^Full log written to \\S+testlog.*\\.txt$"),
        Rule::problem("^(\\S+/)?meson\\.build:[0-9]+:[0-9]+: ERROR: ").sure(),
    ],
)
.begins(b"0123456789OFTUm")
.then(b"kainue/0123456789");
