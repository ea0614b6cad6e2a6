//! javac, Maven with its test runner Surefire, Gradle, JUnit by itself, and the traces of Java programs.

use super::rule::{Recogniser, Rule};

/// Behind an error: the line of source, then one with a caret.
const SOURCE: u8 = 1;
const CARET: u8 = 2;
/// Behind the caret, where the name that was not found may stand.
const SYMBOL: u8 = 3;

pub(super) static JAVAC: Recogniser = Recogniser::new(
    "javac",
    "\\.java:[0-9]+: error: ",
    &[
        Rule::problem("^[^\\s:]+\\.java:[0-9]+: error: ").leaves(SOURCE),
        Rule::nothing("").when(SOURCE).leaves(CARET),
        Rule::sign("^\\s*\\^$").when(CARET).leaves(SYMBOL),
        Rule::detail("^  symbol: +\\S").when(SYMBOL),
        Rule::result("^[0-9]+ errors?$"),
        Rule::result("^only showing the first [0-9]+ errors, of [0-9]+ total"),
    ],
)
.begins(b"o0123456789")
.then(b"n 0123456789")
.says_error();

/// Behind the name of a project whose POM cannot be read.
const POM: u8 = 2;
/// Behind the time at which a build ended.
const FINISHED: u8 = 1;

pub(super) static MAVEN: Recogniser = Recogniser::new(
    "maven",
    "^\\[ERROR\\] .*(<<< (FAILURE|ERROR)!|:[0-9]+|:\\[[0-9]+,[0-9]+\\] |Failed to execute goal)|^\\[ERROR\\] [A-Z]|Tests run: |BUILD (FAILURE|SUCCESS)|\\.\\. FAILURE \\[",
    &[
        Rule::sign("^\\[INFO\\] Scanning for projects\\.\\.\\.$"),
        Rule::result("^\\[INFO\\] BUILD (FAILURE|SUCCESS)$").sure(),
        Rule::result("^\\[[A-Z]+\\] Tests run: [0-9]+, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+$"),
        // How one class went; its tests are told one by one.
        Rule::nothing("^\\[[A-Z]+\\] Tests run: "),
        Rule::problem("^\\[ERROR\\] .* <<< (FAILURE|ERROR)!"),
        Rule::problem("^\\[ERROR\\] {2,}[A-Za-z_$](\\S*:[0-9]+|\\S* » )"),
        Rule::problem("^\\[ERROR\\] .+\\.[a-z]+:\\[[0-9]+,[0-9]+\\] "),
        Rule::result("^\\[INFO\\] .+ \\.{2,} FAILURE \\[.+\\]$"),
        Rule::result("^\\[ERROR\\] Failed to execute goal ").sure(),
        Rule::result("^\\[ERROR\\] The build could not read [0-9]+ projects?").sure(),
        Rule::nothing("^\\[ERROR\\]   The project .* has [0-9]+ errors?$").leaves(POM),
        Rule::problem("^\\[ERROR\\] {5}\\S").when(POM).leaves(POM),
        // What ended the build is the first error behind its times.
        Rule::nothing("^\\[INFO\\] Finished at: ").leaves(FINISHED),
        Rule::nothing("^\\[INFO\\] -+$").when(FINISHED).leaves(FINISHED),
        Rule::result("^\\[ERROR\\] \\S").when(FINISHED),
    ],
)
.begins(b"[")
.then(b"IEWDF");

/// Behind a failed test, whose next line says where.
const WHERE: u8 = 1;
/// Behind the heading of what went wrong; behind its first line.
const WRONG: u8 = 3;
const CAUSE: u8 = 4;

pub(super) static GRADLE: Recogniser = Recogniser::new(
    "gradle",
    "^[^ >].* > .+ FAILED$|^(> Task )?:\\S+ FAILED$|^e: |^[0-9]+ tests? completed|^BUILD (FAILED|SUCCESSFUL) in |^Execution failed for task",
    &[
        Rule::problem("^[^\\s>].* > .+ FAILED$").leaves(WHERE),
        Rule::detail("^ {4}\\S+ at \\S+:[0-9]+$").when(WHERE),
        Rule::detail("^ {4}[A-Za-z0-9_.$]+(Error|Exception|Failure)(: |$)").when(WHERE),
        Rule::early("^(> Task )?:\\S+ FAILED$"),
        // Kotlin's compiler in Gradle.
        Rule::problem("^e: (file://)?\\S+\\.kts?:"),
        Rule::sign("^FAILURE: Build (failed with an exception|completed with [0-9]+ failures)\\.$"),
        Rule::nothing("^\\* What went wrong:$").leaves(WRONG),
        Rule::problem("^\\S").when(WRONG).leaves(CAUSE),
        Rule::detail("^> ").when(CAUSE),
        Rule::result("^[0-9]+ tests? completed, [0-9]+ failed"),
        Rule::result("^BUILD (FAILED|SUCCESSFUL) in ").sure(),
    ],
)
.begins(b"F*Be0123456789")
.then(b"AU: 0123456789")
.ends(b"D");

/// Behind a failed test of JUnit 5's console, whose place and words follow, or of JUnit 4's, whose words do.
const MORE: u8 = 1;

// JUnit's own runners: the console launcher of JUnit 5 and later, and `JUnitCore` of JUnit 4.
pub(super) static JUNIT: Recogniser = Recogniser::new(
    "junit",
    "^  JUnit [A-Z][A-Za-z ]+:|^\\[ +[0-9]+ tests (successful|failed) +\\]$|^[0-9]+\\) .+\\(.+\\)$|^Tests run: [0-9]+,  |^OK \\([0-9]+ tests?\\)$",
    &[
        Rule::problem("^  JUnit [A-Z][A-Za-z ]+:\\S").leaves(MORE),
        Rule::nothing("^ +[A-Z][A-Za-z]+Source \\[").when(MORE).leaves(MORE),
        Rule::detail("^ +=> \\S").when(MORE),
        Rule::result("^\\[ +[0-9]+ tests (successful|failed) +\\]$"),
        Rule::sign("^Test run finished after [0-9]+ ms$"),
        Rule::problem("^[0-9]+\\) [^ ]+\\(.+\\)$").leaves(MORE),
        Rule::detail("^[A-Za-z0-9_.$]+(: |$)").when(MORE),
        Rule::result("^Tests run: [0-9]+,  Failures: [0-9]+$").sure(),
        Rule::fine("^OK \\([0-9]+ tests?\\)$"),
        Rule::sign("^JUnit version [0-9]"),
    ],
)
.begins(b"JT[O0123456789")
.then(b"UeK )0123456789");

/// In a stack trace.
const TRACE: u8 = 1;

pub(super) static JAVA: Recogniser = Recogniser::new(
    "java",
    "^Exception in thread \"|^Caused by: ",
    &[
        Rule::problem("^Exception in thread \"[^\"]+\" [a-z]\\S*\\.[A-Z]").sure().leaves(TRACE),
        Rule::nothing("^\\s+(at |\\.\\.\\. [0-9]+ more)").when(TRACE).leaves(TRACE),
        Rule::detail("^Caused by: \\S").when(TRACE).leaves(TRACE),
    ],
)
.begins(b"E")
.then(b"x");
