//! What sets up machines: apt and dpkg, pip, and Ansible.

use super::rule::{Recogniser, Rule};

/// Behind an error, whose next line says more.
const MORE: u8 = 1;

pub(super) static APT: Recogniser = Recogniser::new(
    "apt",
    "^E: |^Err:[0-9]+ |^dpkg(-[a-z]+)?: error|^Errors were encountered while processing:",
    &[
        Rule::problem("^E: \\S"),
        Rule::problem("^Err:[0-9]+ \\S").leaves(MORE),
        Rule::detail("^  \\S").when(MORE),
        Rule::problem("^dpkg(-[a-z]+)?: error( processing .+)?: \\S").sure(),
        Rule::problem("^dpkg: error processing (archive|package) .+:$").sure().leaves(MORE),
        Rule::detail("^ \\S").when(MORE).leaves(MORE),
        Rule::result("^Errors were encountered while processing:$").sure(),
        Rule::sign("^Reading package lists\\.\\.\\."),
    ],
)
.begins(b"EdR")
.then(b":rpe");

/// Behind the name of what pip could not do, behind an empty line.
const WHAT: u8 = 2;

pub(super) static PIP: Recogniser = Recogniser::new(
    "pip",
    "^ERROR: (Could not find|No matching)|^ *error: [a-z]+(-[a-z]+)+$|^ *× ",
    &[
        Rule::problem("^ERROR: Could not find a version that satisfies the requirement ").sure(),
        Rule::result("^ERROR: No matching distribution found for ").sure(),
        Rule::problem("^ +error: subprocess-exited-with-error$").sure().leaves(WHAT),
        Rule::nothing("^ *$").when(WHAT).leaves(WHAT),
        Rule::detail("^ +× \\S").when(WHAT),
        Rule::result("^error: [a-z]+(-[a-z]+)+$"),
    ],
)
.begins(b"Ee")
.then(b"Rr");

/// Below the heading of the totals.
const RECAP: u8 = 1;

pub(super) static ANSIBLE: Recogniser = Recogniser::new(
    "ansible",
    "^(fatal|failed): \\[.+\\]( \\(item=.*\\))?(: [A-Z]+!)? => |^\\S+ +: ok=[0-9]+ ",
    &[
        Rule::title("^(TASK|RUNNING HANDLER) \\[.+\\] \\*+$"),
        Rule::problem("^(fatal|failed): \\[[^ ]+\\]( \\(item=.*\\))?(: (FAILED|UNREACHABLE)!)? => "),
        Rule::sign("^PLAY RECAP \\*+$").leaves(RECAP),
        Rule::result("^\\S+ +: ok=[0-9]+ .*(unreachable|failed)=[1-9]").when(RECAP).leaves(RECAP),
        Rule::fine("^\\S+ +: ok=[0-9]+ ").when(RECAP).leaves(RECAP),
    ],
)
.begins(b"fTRP")
.then(b"aAUL");
