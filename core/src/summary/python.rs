//! pytest, unittest, checkers of types, and the traceback with which any Python program ends.

use super::rule::{Recogniser, Rule};

/// Behind a conftest.py that cannot be loaded.
const CONFTEST: u8 = 1;
/// Behind the line that says how pytest is called.
const USAGE: u8 = 2;

// `SUBFAIL` and `SUBFAILED(...)` are those of subtests, a plugin's and pytest 9's own; up to version 4 seconds were spelled out.
pub(super) static PYTEST: Recogniser = Recogniser::new(
    "pytest",
    "^(FAILED|ERROR|SUBFAIL\\S*) \\S+\\.py|^ERROR: |^FAIL Required |^ImportError while loading|^INTERNALERROR> [A-Za-z]|\\.py::.+ (FAILED|ERROR) +\\[|\\+{3,} Timeout \\+{3,}$|: error: |^!!+ .+ !!+$|^(=+ )?(([0-9]+ [a-z]+|no tests)( [a-z]+)?,? )+in [0-9.]+ ?s|^_+ .+ _+$",
    &[
        Rule::problem("^(FAILED|ERROR|SUBFAIL(ED)?(\\(.*\\))?) [^ ]+\\.py::").sure(),
        Rule::problem("^SUBFAIL(ED)?(\\[.*\\])? [^ ]+\\.py::").sure(),
        Rule::problem("^(FAILED|ERROR) [^ ]+\\.py( - |$)"),
        Rule::problem("^(FAILED|ERROR) [^ ]+::[^ ]"),
        Rule::result("^!!+ (.*[ :])?stopping after [0-9]+ failures !!+$"),
        Rule::problem("^!!+ .+ !!+$"),
        Rule::problem("^ERROR: (file or directory not found|not found|found no collectors for|Coverage failure): ?"),
        Rule::problem("^FAIL Required test coverage of [0-9.]+% not reached\\. "),
        Rule::problem("^ImportError while loading conftest '").sure().leaves(CONFTEST),
        Rule::nothing("^[^E]").when(CONFTEST).leaves(CONFTEST),
        Rule::detail("^E   \\S").when(CONFTEST),
        // The last line of a traceback in pytest itself or in a plugin.
        Rule::problem("^INTERNALERROR> [A-Za-z_][A-Za-z0-9_.]*(: \\S|$)").sure(),
        Rule::sign("^ERROR: usage: ").leaves(USAGE),
        Rule::problem("^\\S.*: error: ").when(USAGE),
        // pytest-timeout where it ends the process: the first line stands behind the test's file.
        Rule::problem("^[^+\\s]\\S* ?\\+{3,} Timeout \\+{3,}$"),
        Rule::again("^\\+{3,} Timeout \\+{3,}$"),
        Rule::sign("^~+ Stack of \\S+ \\([0-9]+\\) ~+$"),
        // The heading of a failed test's own words, and what `-v`, with `-n` too, prints as the tests run.
        Rule::early("^_{2,} [^ ].* _{2,}$"),
        Rule::early("^\\S+\\.py::.+ (FAILED|ERROR) +\\[ *[0-9]+%\\]$"),
        Rule::early("^\\[gw[0-9]+\\] \\[ *[0-9]+%\\] (FAILED|ERROR) [^ ]+\\.py::"),
        Rule::result(
            "^=+ (.* )?[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)(, .*)? in [0-9.]+ ?s(econds)?(?-u:\\b).*=+$",
        )
        .sure(),
        Rule::result(
            "^[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(, [0-9]+ [a-z]+( [a-z]+)?)* in [0-9.]+ ?s(econds)?(?-u:\\b)",
        )
        .sure(),
        Rule::result("^=+ no tests ran in [0-9.]+ ?s(econds)?(?-u:\\b).*=+$").sure(),
        Rule::sign("^=+ test session starts( \\(.+\\))? =+$"),
    ],
)
.begins(b"FES!=I_[~0123456789")
.then(b"ARU!=mN_g~ 0123456789")
.ends(b"]+");

/// In a heading: behind the line of `=`.
const HEADING: u8 = 1;
/// Behind the line of `-` above the totals.
const TOTALS: u8 = 2;

// What failed is told between a line of `=` and one of `-`; its traceback is that of any Python program.
pub(super) static UNITTEST: Recogniser = Recogniser::new(
    "unittest",
    "^(FAIL|ERROR): \\S|^Ran [0-9]+ tests? in [0-9.]+s$|^FAILED \\(|^OK( \\(|$)",
    &[
        Rule::nothing("^={70}$").leaves(HEADING),
        Rule::problem("^(FAIL|ERROR): \\S").when(HEADING),
        Rule::nothing("^-{70}$").leaves(TOTALS),
        Rule::result("^Ran [0-9]+ tests? in [0-9.]+s$").when(TOTALS).sure(),
        Rule::result(
            "^(FAILED|OK)( \\((failures|errors|skipped|expected failures|unexpected successes)=[0-9]+.*\\))?$",
        ),
    ],
)
.begins(b"=-ROF")
.then(b"=-aKA");

// A module's or a text's examples, as `python -m doctest` tells them.
pub(super) static DOCTEST: Recogniser = Recogniser::new(
    "doctest",
    "^File \".+\", line [0-9]+, in |^\\*\\*\\*Test Failed\\*\\*\\* ",
    &[
        Rule::nothing("^\\*{70}$").leaves(HEADING),
        Rule::problem("^File \".+\", line [0-9]+, in \\S").when(HEADING),
        Rule::result("^\\*\\*\\*Test Failed\\*\\*\\* [0-9]+ failures?").sure(),
    ],
)
.begins(b"*")
.then(b"*");

/// In the traceback.
const INSIDE: u8 = 1;
/// In the thread in which the interpreter itself died.
const DIED: u8 = 2;

pub(super) static PYTHON: Recogniser = Recogniser::new(
    "python",
    "^Traceback \\(most recent call last\\):$|Fatal Python error: |^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit|Interrupt|Warning)\\b",
    &[
        Rule::nothing("^Traceback \\(most recent call last\\):$").leaves(INSIDE),
        Rule::nothing("^\\s").when(INSIDE).leaves(INSIDE),
        Rule::problem("^[A-Za-z_][A-Za-z0-9_.]*(: |:?$)").when(INSIDE).sure(),
        // A crash: faulthandler's words may stand behind the dots and names of a test runner.
        Rule::problem("^(\\S+\\.py(::\\S+)? )?[.sxXFER]*Fatal Python error: \\S"),
        Rule::sign("^Current thread 0x[0-9a-f]+ (\\[.*\\] )?\\(most recent call first\\):$").leaves(DIED),
        Rule::detail("^  File \"").when(DIED),
    ],
)
.begins(b"TC")
.then(b"ru")
.says_error();

// Checkers of types: mypy, and pyright, which puts a file's errors under its name.
pub(super) static TYPES: Recogniser = Recogniser::new(
    "mypy",
    "^ *\\S+\\.pyi?(:[0-9]+){0,2}(:| -) error: |^Found [0-9]+ errors? in |^[0-9]+ errors?, [0-9]+ warnings?, ",
    &[
        Rule::problem("^[^\\s:]+\\.pyi?(:[0-9]+){0,2}: error: "),
        Rule::problem("^ +/\\S+\\.pyi?:[0-9]+:[0-9]+ - error: "),
        Rule::result("^Found [0-9]+ errors? in [0-9]+ files? \\((checked [0-9]+ |errors prevented )").sure(),
        Rule::result("^[0-9]+ errors?, [0-9]+ warnings?, [0-9]+ (informations?|notes?) *$").sure(),
    ],
)
.begins(b"F0123456789")
.then(b"o 0123456789")
.says_error();

/// Behind what ruff found, whose place is on the next line.
const PLACE: u8 = 1;

// Checkers of style: ruff, and flake8, which has no totals.
pub(super) static STYLE: Recogniser = Recogniser::new(
    "ruff",
    "^[A-Z]+[0-9]{3,4} |^invalid-syntax: |^[^\\s:]+\\.pyi?:[0-9]+:[0-9]+: [A-Za-z-]+[0-9]* |^Found [0-9]+ errors?",
    &[
        Rule::problem("^[A-Z]{1,5}[0-9]{3,4} \\S").leaves(PLACE),
        Rule::problem("^invalid-syntax: \\S").leaves(PLACE),
        Rule::detail("^ *--> \\S+\\.(py|pyi|ipynb):.*[0-9]+:[0-9]+$").when(PLACE).sure(),
        Rule::problem("^[A-Za-z0-9./_][^\\s:]*\\.pyi?:[0-9]+:[0-9]+: [A-Z]{1,5}[0-9]{3,4} \\S").sure(),
        Rule::problem("^[A-Za-z0-9./_][^\\s:]*\\.pyi?:[0-9]+:[0-9]+: invalid-syntax: \\S").sure(),
        Rule::result("^Found [0-9]+ errors?( \\([0-9]+ fixed, [0-9]+ remaining\\))?\\.$"),
    ],
)
.begins(b"iF")
.says_place();

pub(super) static TOX: Recogniser = Recogniser::new(
    "tox",
    "^  \\S+: FAIL |^  (evaluation failed|congratulations) :",
    &[
        Rule::problem("^  \\S+: FAIL (code -?[0-9]+ )?\\([0-9.]+=.* seconds\\)$"),
        Rule::result("^  evaluation failed :\\( \\([0-9.]+ seconds\\)$").sure(),
        Rule::fine("^  congratulations :\\) \\([0-9.]+ seconds\\)$").sure(),
    ],
)
.begins(b"ec")
.then(b"vo")
.says_place();
