//! `go test`, `go build` and `go vet`.

use super::rule::{Recogniser, Rule};

/// Behind a failed test, whose next line says why.
const WHY: u8 = 1;
/// Behind the line that names a package, or its errors.
const PACKAGE: u8 = 2;
/// Behind the line that a test begins.
const RUNNING: u8 = 3;

pub(super) static GO: Recogniser = Recogniser::new(
    "go",
    "^ *--- FAIL: |^FAIL\\s+\\S|^panic: |^fatal error: |^WARNING: DATA RACE$|^(vet: )?[^\\s:]+\\.go:[0-9]+:[0-9]+: |\"Action\":\"(build-)?fail\"",
    &[
        Rule::problem("^ *--- FAIL: .+ \\([0-9.]+s\\)$").sure().leaves(WHY),
        Rule::problem("^FAIL\\s+\\S+\\s+([0-9.]+s|\\[[a-z ]+ failed\\])$").sure(),
        Rule::problem("^panic: |^fatal error: "),
        Rule::problem("^WARNING: DATA RACE$"),
        Rule::sign("^goroutine [0-9]+ \\[.+\\]:$"),
        Rule::problem("^\\{\"(Time|ImportPath)\":\"[^\"]+\",\"Action\":\"(build-)?fail\"").sure(),
        Rule::nothing("^# \\S+( \\[\\S+\\])?$").leaves(PACKAGE),
        Rule::problem("^(vet: )?[^\\s:]+\\.go:[0-9]+:[0-9]+: ").when(PACKAGE).sure().leaves(PACKAGE),
        Rule::nothing("^\\s").when(PACKAGE).leaves(PACKAGE),
        Rule::problem("^[^\\s:]+\\.go:[0-9]+:[0-9]+: (no required module provides package|package \\S+ is not in|cannot find (package|module)|missing go\\.sum entry|import cycle) ").sure(),
        Rule::detail("^ +\\S+\\.go:[0-9]+: ").when(WHY),
        // With `-v` a test's words stand before it.
        Rule::nothing("^=== (RUN|CONT|NAME) ").leaves(RUNNING),
        Rule::title("^ +\\S+\\.go:[0-9]+: ").when(RUNNING).leaves(RUNNING),
        Rule::nothing("^ *--- (PASS|SKIP): "),
    ],
)
.begins(b"-FpfgW#{v=")
.then(b"-Aao \"e=");
