//! What JavaScript and TypeScript are tested, checked and run with.

use super::rule::{Recogniser, Rule};

/// Behind a failed test, whose next line says why.
const WHY: u8 = 1;
/// Behind the name of a file in which something failed.
const FILE: u8 = 3;
/// Behind the heading of an error outside of any test.
const UNHANDLED: u8 = 2;

pub(super) static JEST: Recogniser = Recogniser::new(
    "jest",
    "^ *FAIL +\\S|^  ● |^(Tests|Test Suites|Snapshots): +|^Jest: .+ threshold ",
    &[
        Rule::problem("^ ?FAIL +(\\S+ )?\\S+\\.[cm]?[jt]sx?( \\([0-9.]+ m?s\\))?$").leaves(FILE),
        Rule::nothing("^  ● Console$"),
        Rule::sign("^  ● Test suite failed to run$").leaves(WHY),
        Rule::nothing("^$").when(WHY).leaves(WHY),
        Rule::detail("^ {4}\\S").when(WHY),
        // Totals are missing where a test calls `process.exit`, and after a kill.
        Rule::problem("^  ●  process\\.exit called with \"").sure(),
        Rule::problem("^  ● .+ › \\S").sure(),
        Rule::problem("^  ● \\S").when(FILE).sure(),
        Rule::problem("^  ● \\S"),
        Rule::result("^Test Suites: .*[0-9]+ total$").sure(),
        Rule::result("^Tests: +.*[0-9]+ total$").sure(),
        Rule::result("^Snapshots: +.*[0-9]+ (failed|obsolete).* total$"),
        Rule::result("^Jest: .+ threshold "),
    ],
)
.begins(b"FTSJ\xe2")
.then(b"Aen\x97");

pub(super) static VITEST: Recogniser = Recogniser::new(
    "vitest",
    "^ FAIL  \\S|^ +× |^ Test Files  |^ +(Tests|Snapshots|Errors)  [0-9]",
    &[
        Rule::problem("^ FAIL  (\\S+ )?\\S+\\.[cm]?[jt]sx?( > .+| \\[ .+ \\])$").leaves(WHY),
        Rule::detail("^[A-Z][A-Za-z]*: ").when(WHY),
        Rule::result("^ Test Files  [0-9].*\\([0-9]+\\)$").sure(),
        Rule::result("^ +Tests  [0-9].*\\([0-9]+\\)$"),
        Rule::result("^ +Errors  [0-9]+ errors?$"),
        Rule::result("^ +Snapshots  .*[0-9]+ failed"),
        // As the tests run; a run that was killed tells no more.
        Rule::early("^ +× \\S.* [0-9.]+m?s$"),
        Rule::nothing("^⎯+ Unhandled (Rejection|Error|Exception) ⎯+$").leaves(UNHANDLED),
        Rule::problem("^\\S").when(UNHANDLED),
        Rule::sign("^ (RUN|DEV)  v[0-9]+\\.[0-9]"),
    ],
)
.begins(b"FTRDES\xc3\xe2")
.then(b"AeUErn\x97\x8e");

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

/// In the list below the dots.
const DOTS: u8 = 1;

// Node's own runner, as its `spec` reporter writes; on a pipe it writes TAP.
pub(super) static NODE_TEST: Recogniser = Recogniser::new(
    "node --test",
    "^ *✖ |^ℹ (tests|pass|fail|cancelled) [0-9]",
    &[
        Rule::nothing("^ *✖ (failing tests:$|.* # (TODO|SKIP))"),
        // The reporter of dots has nothing but this list.
        Rule::nothing("^Failed tests:$").leaves(DOTS),
        Rule::nothing("^$").when(DOTS).leaves(DOTS),
        Rule::problem("^✖ .+ \\([0-9.]+ms\\)$").when(DOTS).sure(),
        // One that was cancelled has no time.
        Rule::problem("^ *✖ \\S"),
        Rule::nothing("^ℹ cancelled 0$"),
        Rule::result("^ℹ (tests|pass|fail|cancelled) [0-9]+$"),
        Rule::sign("^ℹ duration_ms [0-9.]+$"),
    ],
)
// The first byte of both signs.
.begins(b"F\xe2")
.then(b"a\x9c\x84");

/// Behind the caret that shows the place in the source; what was thrown follows an empty line.
const THROWN: u8 = 1;

pub(super) static NODE: Recogniser = Recogniser::new(
    "node",
    "^(Uncaught )?[A-Za-z]*(Error|Exception)( \\[[A-Z_]+\\])?: |^\\[[A-Za-z]*Error: |^Node\\.js v[0-9]",
    &[
        Rule::nothing("^ *\\^+$").leaves(THROWN),
        Rule::nothing("^$").when(THROWN).leaves(THROWN),
        Rule::problem("^\\S").when(THROWN),
        Rule::sign("^Node\\.js v[0-9]+\\.[0-9]+\\.[0-9]+$"),
    ],
)
.begins(b"^N");

/// Behind one that failed, whose further names and words follow.
const PATH: u8 = 1;
/// Behind the empty line after its names.
const WORDS: u8 = 2;

pub(super) static MOCHA: Recogniser = Recogniser::new(
    "mocha",
    "^  [0-9]+ (passing|failing|pending)|^  [0-9]+\\) ",
    &[
        Rule::result("^  [0-9]+ passing \\([0-9]+(ms|s|m)\\)$").sure(),
        Rule::result("^  [0-9]+ failing$"),
        Rule::nothing("^  [0-9]+ pending$"),
        Rule::problem("^  [0-9]+\\) \\S").leaves(PATH),
        Rule::nothing("^ +at ").when(PATH),
        Rule::detail("^ {5,}\\S").when(PATH).leaves(PATH),
        Rule::nothing("^$").when(PATH).leaves(WORDS),
        Rule::detail("^ {5,}\\S").when(WORDS),
    ],
)
.begins(b"0123456789")
.then(b" )0123456789");

pub(super) static AVA: Recogniser = Recogniser::new(
    "ava",
    "^ *✘ \\[fail\\]: |^  [0-9]+ (tests?|hooks?) failed$|^  ✘ ",
    &[
        Rule::problem("^ *✘ \\[fail\\]: ").sure(),
        Rule::problem("^ *✘ \\S.* (exited|timed out|No tests found)"),
        Rule::result("^ +[0-9]+ (tests?|uncaught exceptions?|unhandled rejections?|known failures?) (failed|passed)?$"),
    ],
)
.begins(b"\xe20123456789")
.then(b" \x9c0123456789");

pub(super) static ESLINT: Recogniser = Recogniser::new(
    "eslint",
    "^ +[0-9]+:[0-9]+ +error +\\S|^✖ [0-9]+ problems? \\(",
    &[
        Rule::title("^(/|[A-Za-z]:\\\\)\\S.*\\.[A-Za-z]+$"),
        Rule::problem("^ +[0-9]+:[0-9]+ +error +\\S"),
        Rule::result("^✖ [0-9]+ problems? \\([0-9]+ errors?, [0-9]+ warnings?\\)$").sure(),
    ],
)
.begins(b"/\xe20123456789");

/// Behind the line with npm's code; the next one says what it is.
const SAYS: u8 = 1;

// npm up to version 10 spelled it `ERR!`.
pub(super) static NPM: Recogniser = Recogniser::new(
    "npm",
    "^npm (ERR!|error) ",
    &[
        Rule::problem("^npm (ERR!|error) code \\S+$").sure().leaves(SAYS),
        Rule::problem("^npm (ERR!|error) (Missing script: |Lifecycle script `|Test failed\\.|command failed)"),
        Rule::sign("^npm (ERR!|error) A complete log of this run can be found in: "),
        Rule::nothing("^npm (ERR!|error) (errno|syscall|path) .*$").when(SAYS).leaves(SAYS),
        Rule::nothing("^npm (ERR!|error)( [0-9A-Z]+)?$").when(SAYS).leaves(SAYS),
        Rule::detail("^npm (ERR!|error) \\S").when(SAYS),
    ],
)
.begins(b"n")
.then(b"p");
