//! The test runners and checks of Ruby, PHP, Lua, R and the shell.

use super::rule::{Recogniser, Rule};

/// Behind the heading of one that failed, whose name or words follow.
const NAME: u8 = 1;
/// Behind its name.
const WORDS: u8 = 2;

pub(super) static RSPEC: Recogniser = Recogniser::new(
    "rspec",
    "^rspec \\S+ # |^  [0-9]+\\) |^[0-9]+ examples?, |^An error occurred while loading ",
    &[
        Rule::problem("^rspec \\S+ # "),
        Rule::problem("^An error occurred while loading \\S+\\.rb\\.$"),
        // The same with its words, the pending ones before.
        Rule::early("^  [0-9]+\\) \\S"),
        Rule::result("^[0-9]+ examples?, [0-9]+ failures?(, |$)").sure(),
    ],
)
.begins(b"rA0123456789")
.then(b"sn )0123456789");

pub(super) static MINITEST: Recogniser = Recogniser::new(
    "minitest",
    "^[A-Z]\\S*#test_|^[0-9]+ (runs|tests), [0-9]+ assertions, ",
    &[
        Rule::nothing("^(  [0-9]+\\) )?(Failure|Error):$").leaves(NAME),
        Rule::problem("^[A-Z]\\S*#test_\\S").when(NAME).leaves(WORDS),
        Rule::detail("^\\S").when(WORDS),
        Rule::result("^[0-9]+ (runs|tests), [0-9]+ assertions, [0-9]+ failures, [0-9]+ errors").sure(),
    ],
)
.begins(b"FE0123456789")
.then(b"ar )0123456789");

pub(super) static PHPUNIT: Recogniser = Recogniser::new(
    "phpunit",
    "^[0-9]+\\) \\S+::\\S|^ ✘ |^Tests: [0-9]+, Assertions: |^OK \\([0-9]+ tests?, ",
    &[
        Rule::problem("^[0-9]+\\) [A-Za-z_\\\\][A-Za-z0-9_\\\\]*::\\S").leaves(WORDS),
        Rule::detail("^\\S").when(WORDS),
        // With `--testdox` a class's tests stand under its name.
        Rule::problem("^ ✘ \\S"),
        Rule::result("^Tests: [0-9]+, Assertions: [0-9]+").sure(),
        Rule::fine("^OK \\([0-9]+ tests?, [0-9]+ assertions?\\)$").sure(),
    ],
)
.begins(b"TO\xe20123456789")
.then(b"eK\x9c )0123456789");

pub(super) static BUSTED: Recogniser = Recogniser::new(
    "busted",
    "^(Failure|Error) → |^[0-9]+ success(es)? / ",
    &[
        Rule::problem("^(Failure|Error) → \\S").leaves(NAME),
        Rule::detail("^\\S").when(NAME).leaves(WORDS),
        Rule::detail("^\\S").when(WORDS),
        Rule::result("^[0-9]+ success(es)? / [0-9]+ failures? / [0-9]+ errors? / ").sure(),
    ],
)
.begins(b"FE0123456789")
.then(b"ar 0123456789");

// On a terminal; on a pipe it writes TAP.
pub(super) static BATS: Recogniser = Recogniser::new(
    "bats",
    "^ ✗ |^[0-9]+ tests?, [0-9]+ failures?",
    &[
        Rule::problem("^ ✗ \\S").leaves(WORDS),
        Rule::detail("^   \\(.+ line [0-9]+\\)$").when(WORDS),
        Rule::result("^[0-9]+ tests?, [0-9]+ failures?(, [0-9]+ (skipped|not run))*( in .+)?$").sure(),
    ],
)
.begins(b"\xe20123456789")
.then(b"\x9c 0123456789");

// `R CMD check`, and what a script of R died of.
pub(super) static R: Recogniser = Recogniser::new(
    "R",
    "^\\* checking .+ \\.\\.\\. (ERROR|WARNING)$|^Status: [0-9]+ |^Error( in .+ )?: ",
    &[
        Rule::problem("^\\* checking .+ \\.\\.\\. (ERROR|WARNING)$"),
        Rule::result("^Status: [0-9]+ (ERROR|WARNING|NOTE)s?(, |$)").sure(),
        Rule::nothing("^\\* checking .+ \\.\\.\\.$").leaves(NAME),
        Rule::title("^  Running ‘.+’$").when(NAME).leaves(WORDS),
        Rule::problem("^ ERROR$").when(WORDS),
        Rule::problem("^Error( in .+ )?: \\S"),
        Rule::sign("^Execution halted$"),
    ],
)
.begins(b"*SER")
.then(b" trxRu");
