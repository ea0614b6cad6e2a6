//! The runners that JavaScript has beside Node: Deno and Bun, and Playwright's tests in browsers.

use super::rule::{Recogniser, Rule};

/// Behind the name of one that failed; its words come behind an empty line.
const WORDS: u8 = 1;

pub(super) static PLAYWRIGHT: Recogniser = Recogniser::new(
    "playwright",
    "^  [0-9]+\\) .+ › |^  ✘ |^  [0-9]+ (failed|flaky|interrupted|did not run|passed)",
    &[
        Rule::sign("^Running [0-9]+ tests? using [0-9]+ workers?"),
        Rule::problem("^  [0-9]+\\) .+ › .+").leaves(WORDS),
        Rule::nothing("^$").when(WORDS).leaves(WORDS),
        Rule::detail("^ {4}\\S").when(WORDS),
        Rule::early("^  ✘ +[0-9]+ .+ › "),
        Rule::result("^  [0-9]+ (failed|flaky|interrupted|did not run)$"),
        Rule::result("^  [0-9]+ passed \\([0-9.]+(ms|s|m|h)\\)$"),
    ],
)
.begins(b"R0123456789\xe2")
.then(b"u )\x9c0123456789");

/// In what Deno says about each test that failed; behind the name of one.
const ERRORS: u8 = 1;
const NAME: u8 = 2;
/// Behind an error of types or style, up to where it is.
const WHERE: u8 = 3;

pub(super) static DENO: Recogniser = Recogniser::new(
    "deno",
    " => \\S+:[0-9]+:[0-9]+$|^(FAILED|ok) \\| |^TS[0-9]+ \\[ERROR\\]: |^error\\[[a-z-]+\\]: |^Found [0-9]+ (errors|problem)",
    &[
        Rule::nothing("^ ERRORS ?$").leaves(ERRORS),
        Rule::nothing("^ FAILURES ?$"),
        Rule::problem("^\\S.* => \\S+:[0-9]+:[0-9]+$").when(ERRORS).leaves(NAME),
        Rule::detail("^error: \\S").when(NAME).leaves(ERRORS),
        Rule::nothing("").when(ERRORS).leaves(ERRORS),
        Rule::result("^FAILED \\| [0-9]+ passed .*\\| [0-9]+ failed ").sure(),
        Rule::fine("^ok \\| [0-9]+ passed .*\\| [0-9]+ failed ").sure(),
        Rule::problem("^TS[0-9]+ \\[ERROR\\]: ").sure().leaves(WHERE),
        Rule::detail("^    at file://").when(WHERE),
        Rule::problem("^error\\[[a-z-]+\\]: \\S").leaves(WHERE),
        Rule::detail("^ *--> \\S+:[0-9]+:[0-9]+$").when(WHERE),
        Rule::nothing("\\S").when(WHERE).leaves(WHERE),
        Rule::result("^Found ([0-9]+ errors\\.|[0-9]+ problems?)$"),
        Rule::sign("^Checked [0-9]+ files?$"),
    ],
)
.begins(b"EFoTeC")
.then(b"RAkSroh");

pub(super) static BUN: Recogniser = Recogniser::new(
    "bun",
    "^(✗|\\(fail\\)) |^ [0-9]+ (pass|fail)$|^Ran [0-9]+ tests? across ",
    &[
        Rule::title("^(error|[A-Z][A-Za-z]*Error): \\S"),
        Rule::nothing("^(✓|\\(pass\\)) "),
        Rule::problem("^(✗|\\(fail\\)) .+ \\[[0-9.]+m?s\\]$"),
        Rule::result("^ [0-9]+ (pass|fail|errors?)$"),
        Rule::result("^Ran [0-9]+ tests? across [0-9]+ files?\\. ").sure(),
        Rule::sign("^bun test v[0-9]+\\.[0-9]"),
    ],
)
.begins(b"e\xe2(0123456789RbTSA")
.then(b"yesr\x9cfp 0123456789au");
