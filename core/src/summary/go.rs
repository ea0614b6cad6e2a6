//! `go test`, `go build` and `go vet`.

use super::rule::{Recogniser, Rule};

/// Behind a failed test, whose next line says why.
const WHY: u8 = 1;
/// Behind the line that names a package, or its errors.
const PACKAGE: u8 = 2;

pub(super) static GO: Recogniser = Recogniser::new(
    "go",
    "^ *--- FAIL: |^FAIL\\s+\\S|^panic: |^(vet: )?[^\\s:]+\\.go:[0-9]+:[0-9]+: ",
    &[
        Rule::problem("^ *--- FAIL: .+ \\([0-9.]+s\\)$").sure().leaves(WHY),
        Rule::problem("^FAIL\\s+\\S+\\s+([0-9.]+s|\\[[a-z ]+ failed\\])$").sure(),
        Rule::problem("^panic: "),
        Rule::sign("^goroutine [0-9]+ \\[.+\\]:$"),
        Rule::nothing("^# \\S+( \\[\\S+\\])?$").leaves(PACKAGE),
        Rule::problem("^(vet: )?[^\\s:]+\\.go:[0-9]+:[0-9]+: ").when(PACKAGE).sure().leaves(PACKAGE),
        Rule::nothing("^\\s").when(PACKAGE).leaves(PACKAGE),
        Rule::detail("^ +\\S+\\.go:[0-9]+: ").when(WHY),
    ],
)
.begins(b"-Fpg#");
