//! DejaGnu: `runtest`, and `make check` of the tools that use it.

use super::rule::{Recogniser, Rule};

// The words stand in runtest's manual, "A POSIX conforming test framework", and in its framework.exp.
pub(super) static DEJAGNU: Recogniser = Recogniser::new(
    "dejagnu",
    "^(FAIL|XPASS|KPASS|UNRESOLVED|ERROR): |^# of ",
    &[
        // What is told a second time below the totals.
        Rule::nothing("^ERROR: (-+$|  ?tcl error (code|info))|^ERROR: tcl error code "),
        Rule::problem("^(FAIL|XPASS|KPASS|UNRESOLVED|ERROR): "),
        Rule::result(
            "^# of (expected passes|unexpected (failures|successes)|expected failures|known failures|unknown successes|unresolved testcases|untested testcases|unsupported tests|paths in test names|duplicate test names|unexpected core files|DejaGnu errors) +[0-9]+$",
        )
        .sure(),
        Rule::sign("^\\s*=== .+ (tests|Summary)( for .+)? ===$"),
        Rule::sign("^Running \\S+\\.exp \\.\\.\\.$"),
    ],
)
.begins(b"FXKUE#=R")
.then(b"APNR =u");
