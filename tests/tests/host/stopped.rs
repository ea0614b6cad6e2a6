//! One process of several that was stopped: nothing goes on, or others do.

use super::Do::{Runs, See, Type};
use super::{Row, row};

/// Types a line in which `stop.sh` says so and stops itself.
macro_rules! stop {
    ($($line:literal),+) => {
        Type(concat!("echo 'echo st\"\"ops; kill -STOP $$; true' >stop.sh; clear; ", $($line),+, "\r"))
    };
}

/// It has said so; a pipe it would say so to is left empty.
const STOPS: super::Do = See("stops", 1);

pub(crate) const ROWS: &[Row] = &[
    row("stopped_before_a_pipe", &[], &[stop!("sh stop.sh | cat"), STOPS], "stopped", "stopped"),
    row("stopped_behind_a_pipe", &[], &[stop!("yes | sh stop.sh"), STOPS], "stopped", "stopped"),
    row(
        "stopped_between_pipes",
        &[],
        &[stop!("yes 2>&1 | cat 2>&1 | sh stop.sh 2>&1 | cat 2>&1 | cat"), STOPS],
        "stopped",
        "stopped",
    ),
    row("stopped_before_a_worker", &[], &[stop!("sh stop.sh >&2 | sleep 999"), STOPS], "works", "works"),
    row("stopped_behind_a_worker", &[], &[stop!("sleep 999 | sh stop.sh"), STOPS], "works", "works"),
    row("stopped_before_a_reader", &[], &[stop!("sh stop.sh >&2 | cat /dev/tty"), STOPS], "waits", "waits"),
    row("stopped_in_a_substitution", &[], &[stop!("x=$(sh stop.sh | tee /dev/tty)"), STOPS], "stopped", "stopped"),
    row(
        "stopped_in_a_loop",
        &[],
        &[stop!("while read x; do echo $x; done < <(sh stop.sh)"), STOPS],
        "stopped",
        "stopped",
    ),
    row(
        "stopped_in_a_makefile",
        &["make"],
        &[stop!("printf 'a:\\n\\tsh stop.sh\\n' >Makefile; make -j4 2>&1 | tee log"), STOPS],
        "stopped",
        "stopped",
    ),
    row(
        "stopped_in_a_makefile_beside_a_worker",
        &["make"],
        &[
            stop!("printf 'a: b c\\nb:\\n\\tsh stop.sh\\nc:\\n\\tsleep 999\\n' >Makefile; make -j4 2>&1 | tee log"),
            STOPS,
            Runs("sleep"),
        ],
        "works",
        "works",
    ),
    row(
        "stopped_beside_a_script",
        &[],
        &[stop!("bash -c 'timeout 99 cat </dev/tty & sleep 999'"), Runs("sleep")],
        "works",
        "works",
    ),
    row(
        "stopped_in_script",
        &["script"],
        &[stop!("script -q -c 'sh stop.sh | cat' /dev/null"), STOPS],
        "stopped",
        "stopped",
    ),
    row("stopped_in_sudo", &["sudo", "root"], &[stop!("sudo sh -c 'sh stop.sh | cat'"), STOPS], "stopped", "stopped"),
    row(
        "stopped_in_su",
        &["su", "root"],
        &[stop!("su nobody -s /bin/sh -c 'sh stop.sh; true'"), STOPS],
        "stopped",
        "stopped",
    ),
    row("stopped_in_another_session", &["setsid"], &[stop!("setsid -w sh stop.sh"), STOPS], "stopped", "stopped"),
    row(
        "stopped_before_a_poll",
        &["python3"],
        &[stop!("sh stop.sh 3>&1 >&2 | python3 -c 'import select; select.select([0],[],[])'"), STOPS, Runs("python3")],
        "stopped",
        "unknown",
    ),
];
