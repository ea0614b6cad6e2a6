//! jest, vitest, and the TypeScript compiler.

use super::rule::{Recogniser, Rule};

/// Behind a failed test, whose next line says why.
const WHY: u8 = 1;

pub(super) static JEST: Recogniser = Recogniser::new(
    "jest",
    "^ *FAIL +\\S|^  ● |^(Tests|Test Suites): +",
    &[
        Rule::problem("^ ?FAIL +(\\S+ )?\\S+\\.[cm]?[jt]sx?( \\([0-9.]+ m?s\\))?$"),
        Rule::nothing("^  ● Console$"),
        Rule::problem("^  ● \\S"),
        Rule::result("^Test Suites: .*[0-9]+ total$").sure(),
        Rule::result("^Tests: +.*[0-9]+ total$").sure(),
    ],
)
.begins(b"FT\xe2");

pub(super) static VITEST: Recogniser = Recogniser::new(
    "vitest",
    "^ FAIL  \\S|^ Test Files  |^ +Tests  [0-9]",
    &[
        Rule::problem("^ FAIL  (\\S+ )?\\S+\\.[cm]?[jt]sx?( > .+| \\[ .+ \\])$").leaves(WHY),
        Rule::detail("^[A-Z][A-Za-z]*: ").when(WHY),
        Rule::result("^ Test Files  [0-9].*\\([0-9]+\\)$").sure(),
        Rule::result("^ +Tests  [0-9].*\\([0-9]+\\)$"),
        Rule::sign("^ (RUN|DEV)  v[0-9]+\\.[0-9]"),
    ],
)
.begins(b"FTRD");

pub(super) static TSC: Recogniser = Recogniser::new(
    "tsc",
    "error TS[0-9]+: |^Found [0-9]+ errors?",
    &[
        Rule::problem("^[^\\s:+|#<>-][^\\s:]*\\([0-9]+,[0-9]+\\): error TS[0-9]+: ").sure(),
        Rule::problem("^[^\\s:+|#<>-][^\\s:]*:[0-9]+:[0-9]+ - error TS[0-9]+: ").sure(),
        Rule::problem("^error TS[0-9]+: ").sure(),
        Rule::result("^Found [0-9]+ errors?( in |\\.)"),
    ],
)
.says_error();

// Node's own runner, as its `spec` reporter writes; on a pipe it writes TAP.
pub(super) static NODE_TEST: Recogniser = Recogniser::new(
    "node --test",
    "^ *✖ .+ \\([0-9.]+ms\\)$|^ℹ (tests|pass|fail) [0-9]",
    &[
        Rule::problem("^ *✖ .+ \\([0-9.]+ms\\)$"),
        Rule::result("^ℹ (tests|pass|fail) [0-9]+$"),
        Rule::sign("^ℹ duration_ms [0-9.]+$"),
    ],
)
// The first byte of both signs.
.begins(b"\xe2");
