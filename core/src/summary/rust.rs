//! rustc, as it is or under cargo, the test harness that `cargo test` runs, nextest, and panics.

use super::rule::{Recogniser, Rule};

/// Behind an error or a panic, whose next line says more.
const MORE: u8 = 1;

/// Behind what cargo's or rustc's error says on a second level.
const CAUSE: u8 = 2;
/// In a linker's words, which rustc hands on as a note.
const NOTES: u8 = 3;

pub(super) static RUSTC: Recogniser = Recogniser::new(
    "rustc",
    "^error(\\[E[0-9]+\\])?: |^[^\\s:]+\\.rs:[0-9]+:[0-9]+: error|generated [0-9]+ warnings?",
    &[
        Rule::problem("^error\\[E[0-9]{4}\\]: ").sure().leaves(MORE),
        Rule::problem("^[A-Za-z0-9./_][^\\s:]*\\.rs:[0-9]+:[0-9]+: error\\[E[0-9]{4}\\]: ").sure(),
        Rule::problem("^[A-Za-z0-9./_][^\\s:]*\\.rs:[0-9]+:[0-9]+: error: "),
        Rule::result("^error: (could not compile `|aborting due to |could not document `)").sure(),
        Rule::problem("^error: linking with .+ failed: ").sure().leaves(NOTES),
        Rule::nothing("^  (\\||= note: +(\"|some arguments ))").when(NOTES).leaves(NOTES),
        Rule::detail("^  = note: \\S").when(NOTES),
        Rule::problem("^error: failed to run custom build command for `").sure().leaves(CAUSE),
        Rule::nothing("^(note: .*)?$|^Caused by:$").when(CAUSE).leaves(CAUSE),
        Rule::detail("^  process didn't exit successfully: `").when(CAUSE),
        // What cargo says about tests is theirs.
        Rule::nothing("^error: ((test|doctest|bench) failed, to rerun|[0-9]+ targets? failed:)"),
        Rule::problem("^error: ").leaves(MORE),
        Rule::detail("^ *--> .+:[0-9]+:[0-9]+$").when(MORE).sure(),
        Rule::fine("^warning: `.+` \\(.+\\) generated [0-9]+ warnings?( |$)").sure(),
    ],
)
.begins(b"ew")
.then(b"ra")
.says_error();

/// In the list of tests that failed.
const LIST: u8 = 3;

pub(super) static CARGO_TEST: Recogniser = Recogniser::new(
    "cargo test",
    "^test .+ \\.\\.\\. FAILED$|^\\S+ --- FAILED$|^test result: |^error: ((doc)?test failed|[0-9]+ targets? failed)|^    \\S+::\\S+$",
    &[
        Rule::problem("^test .+ \\.\\.\\. FAILED$").sure(),
        Rule::problem("^\\S.* --- FAILED$"),
        // With `-q` on a pipe, and where what a test prints stands between its name and how it went, as with
        // `--nocapture`, only this list has the names.
        Rule::untold("^FAILED$"),
        Rule::nothing("^failures:$").leaves(LIST),
        Rule::nothing("^$").when(LIST).leaves(LIST),
        Rule::again("^ {4}\\S").when(LIST).leaves(LIST),
        Rule::result("^test result: FAILED\\. ").sure(),
        Rule::fine("^test result: ok\\. [0-9]+ passed; ").sure(),
        Rule::problem("^error: (test|doctest|bench) failed, to rerun").sure().leaves(CAUSE),
        Rule::nothing("^$|^Caused by:$").when(CAUSE).leaves(CAUSE),
        Rule::detail("^  process didn't exit successfully: `").when(CAUSE),
        Rule::sign("^error: [0-9]+ targets? failed:$"),
    ],
)
.begins(b"tfe")
.then(b"ear")
.ends(b"D");

// Every Rust program's.
pub(super) static PANIC: Recogniser = Recogniser::new(
    "panic",
    "panicked at ",
    &[
        Rule::problem("^thread '.*' (\\([0-9]+\\) )?(has )?panicked at ").sure().leaves(MORE),
        Rule::nothing("^(note: run with `RUST_BACKTRACE|stack backtrace:$)").when(MORE),
        Rule::detail("^\\S").when(MORE),
        Rule::problem("^thread '.*' (\\([0-9]+\\) )?has overflowed its stack$").sure(),
    ],
)
.begins(b"t")
.then(b"h");

// cargo-nextest tells what failed as it happens, with what it printed, and once more at the end.
pub(super) static NEXTEST: Recogniser = Recogniser::new(
    "nextest",
    "^ +(TRY [0-9]+ )?(FAIL|TIMEOUT|ABORT|SIG[A-Z]+|LEAK-FAIL|TMT|ABRT|SEGV|Summary) \\[|^error: (test run failed|no tests to run)$",
    &[
        Rule::problem("^ +(TRY [0-9]+ )?(FAIL|TIMEOUT|ABORT|SIG[A-Z]+|LEAK-FAIL|TMT|ABRT|SEGV) \\[ *[>]?[0-9.]+s\\] "),
        Rule::result("^ +Summary \\[ *[0-9.]+s\\] +([0-9]+/)?[0-9]+ tests? run: ").sure(),
        Rule::result("^error: (test run failed|no tests to run)$"),
        // The only sign of a run that was killed.
        Rule::sign("^ *Nextest run ID \\S+ with nextest profile: "),
    ],
)
.begins(b"FTASLeN")
.then(b"ARIMBEure");
