//! The Test Anything Protocol, as it is and as `prove` sums it up.

use super::rule::{Recogniser, Rule};

/// Behind a failed test, whose next line says where.
const WHERE: u8 = 1;
/// In what `prove` says about one file.
const FILE: u8 = 2;

pub(super) static TAP: Recogniser = Recogniser::new(
    "tap",
    "^ *not ok |^Bail(out called\\.| out!)|\\(Wstat: |^#   Failed test|^Files=[0-9]|^# (Tests were run but no plan|Looks like you)|^Result: ",
    &[
        // A test that may fail, and one that was not run, are no problem: TAP 13, "Directives".
        Rule::nothing("^ *not ok(?-u:\\b).*# *(?i:todo|skip)"),
        Rule::problem("^not ok(?-u:\\b)"),
        Rule::problem("^( {4})+not ok [0-9]+ "),
        Rule::problem("^Bail out!|^Bailout called\\.  Further testing stopped").sure(),
        Rule::again("^#   Failed test ").leaves(WHERE),
        Rule::detail("^#   at .+ line [0-9]+\\.$").when(WHERE),
        Rule::problem("^\\S.* \\(Wstat: [0-9]+ .*Tests: [0-9]+ Failed: [0-9]+\\)$").leaves(FILE),
        Rule::detail("^  (Failed tests?|Parse errors): ").when(FILE).leaves(FILE),
        Rule::nothing("^  \\S").when(FILE).leaves(FILE),
        Rule::result("^Files=[0-9]+, Tests=[0-9]+, ").sure(),
        Rule::result("^Result: (FAIL|PASS|NOTESTS)$"),
        Rule::result("^# Looks like you (failed|planned) [0-9]+ tests? "),
        // A program that died, and so wrote no plan.
        Rule::result("^# Tests were run but no plan was declared and done_testing\\(\\) was not seen\\.$").sure(),
        Rule::result("^# Looks like your test exited with [0-9]+ (just after|before) ").sure(),
        Rule::nothing("^# cancelled 0$"),
        Rule::result("^# (tests|pass|fail|failed|cancelled) +[0-9]+( of [0-9]+ tests)?$"),
        Rule::sign("^[0-9]+\\.\\.[0-9]+( *#.*)?$"),
        Rule::sign("^TAP version [0-9]+$"),
    ],
)
.begins(b"nB#FRT0123456789")
.then(b"oa ieA.0123456789")
.ends(b")");
