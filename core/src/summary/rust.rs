//! rustc, as it is or under cargo, and the test harness that `cargo test` runs.

use super::rule::{Recogniser, Rule};

/// Behind an error or a panic, whose next line says more.
const MORE: u8 = 1;

pub(super) static RUSTC: Recogniser = Recogniser::new(
    "rustc",
    "^error(\\[E[0-9]+\\])?: ",
    &[
        Rule::problem("^error\\[E[0-9]{4}\\]: ").sure().leaves(MORE),
        Rule::result("^error: (could not compile `|aborting due to )").sure(),
        Rule::problem("^error: linking with .+ failed: ").sure(),
        // What cargo says about tests is theirs.
        Rule::nothing("^error: ((test|doctest|bench) failed, to rerun|[0-9]+ targets? failed:)"),
        Rule::problem("^error: ").leaves(MORE),
        Rule::detail("^ *--> .+:[0-9]+:[0-9]+$").when(MORE).sure(),
    ],
)
.begins(b"e");

pub(super) static CARGO_TEST: Recogniser = Recogniser::new(
    "cargo test",
    "^test .+ \\.\\.\\. FAILED$|^test result: |panicked at |^error: (doc)?test failed",
    &[
        Rule::problem("^test .+ \\.\\.\\. FAILED$").sure(),
        Rule::problem("^test result: FAILED\\. ").sure(),
        Rule::result("^test result: ok\\. [0-9]+ passed; ").sure(),
        Rule::problem("^thread '.*' (\\([0-9]+\\) )?panicked at ").sure().leaves(MORE),
        Rule::problem("^error: (test|doctest|bench) failed, to rerun").sure(),
        Rule::nothing("^note: run with `RUST_BACKTRACE").when(MORE),
        Rule::detail("^\\S").when(MORE),
    ],
)
.begins(b"te");
