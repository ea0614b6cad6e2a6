//! javac, Maven with its test runner Surefire, and Gradle.

use super::rule::{Recogniser, Rule};

/// Behind an error: the line of source, then one with a caret.
const SOURCE: u8 = 1;
const CARET: u8 = 2;

pub(super) static JAVAC: Recogniser = Recogniser::new(
    "javac",
    "\\.java:[0-9]+: error: ",
    &[
        Rule::problem("^[^\\s:]+\\.java:[0-9]+: error: ").leaves(SOURCE),
        Rule::nothing("").when(SOURCE).leaves(CARET),
        Rule::sign("^\\s*\\^$").when(CARET),
        Rule::result("^[0-9]+ errors?$"),
    ],
)
.begins(b"0123456789")
.says_error();

pub(super) static MAVEN: Recogniser = Recogniser::new(
    "maven",
    "^\\[ERROR\\] .*(<<< (FAILURE|ERROR)!|:[0-9]+|:\\[[0-9]+,[0-9]+\\] |Failed to execute goal)|Tests run: |BUILD (FAILURE|SUCCESS)",
    &[
        Rule::sign("^\\[INFO\\] Scanning for projects\\.\\.\\.$"),
        Rule::result("^\\[INFO\\] BUILD (FAILURE|SUCCESS)$").sure(),
        Rule::result("^\\[[A-Z]+\\] Tests run: [0-9]+, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+$"),
        // How one class went; its tests are told one by one.
        Rule::nothing("^\\[[A-Z]+\\] Tests run: "),
        Rule::problem("^\\[ERROR\\] .* <<< (FAILURE|ERROR)!"),
        Rule::problem("^\\[ERROR\\] {2,}[A-Za-z_$]\\S*:[0-9]+"),
        Rule::problem("^\\[ERROR\\] .+\\.[a-z]+:\\[[0-9]+,[0-9]+\\] "),
        Rule::result("^\\[ERROR\\] Failed to execute goal "),
    ],
)
.begins(b"[");

/// Behind a failed test, whose next line says where.
const WHERE: u8 = 1;
/// Behind the heading of what went wrong; behind its first line.
const WRONG: u8 = 3;
const CAUSE: u8 = 4;

pub(super) static GRADLE: Recogniser = Recogniser::new(
    "gradle",
    "^\\S+ > .+ FAILED$|^[0-9]+ tests? completed|^BUILD (FAILED|SUCCESSFUL) in |^Execution failed for task",
    &[
        Rule::problem("^\\S+ > .+ FAILED$").leaves(WHERE),
        Rule::detail("^ {4}\\S+ at \\S+:[0-9]+$").when(WHERE),
        Rule::sign("^FAILURE: Build (failed with an exception|completed with [0-9]+ failures)\\.$"),
        Rule::nothing("^\\* What went wrong:$").leaves(WRONG),
        Rule::problem("^\\S").when(WRONG).leaves(CAUSE),
        Rule::detail("^> ").when(CAUSE),
        Rule::result("^[0-9]+ tests? completed, [0-9]+ failed"),
        Rule::result("^BUILD (FAILED|SUCCESSFUL) in ").sure(),
    ],
)
.begins(b"F*B0123456789")
.ends(b"D");
