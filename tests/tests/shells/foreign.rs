//! Shells on ptys of their own inside the session, text that looks like markers, and output that is noise.

use crate::row::{Row, lost, row, want, zsh};
use crate::terminal::Step::{Line, Type};
use crate::terminal::Wait::{Prompt, Text};

/// What pexpect does: starts a shell on a pty of its own, types at it and counts the markers in what comes back.
pub(crate) const DRIVER: &str = r#"
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.write(fd, b"echo in$((1+1))side; exit\r")
seen = b""
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    seen += piece
print("worked" if b"in2side" in seen else "failed", "markers:", seen.count(b"133;"))
"#;
const PIPES: &str = r#"
import subprocess
ran = subprocess.run(["bash", "-i"], input="echo hi\nexit\n", text=True, capture_output=True)
print(ran.stdout.strip(), (ran.stdout + ran.stderr).count("133;"))
"#;
const EXPECT: &str = "log_user 1\nspawn bash\nsend \"echo in\\$((1+1))side; exit\\r\"\nexpect eof\n";
const FILES: &[(&str, &str)] = &[("driver.py", DRIVER), ("pipes.py", PIPES), ("script.exp", EXPECT)];
const OTHER: &[(&str, &str)] = &[(
    "other.log",
    "\x1b]133;D;;dt=fedcba9876543210;pid=7;i=1;q=1;new=bash-5.2.15\x1b\\\x1b]133;A;dt=fedcba9876543210;pid=7;i=1;q=2\x1b\\$ \
     \x1b]133;B;dt=fedcba9876543210;pid=7;i=1\x1b\\ls\r\n\x1b]133;C;dt=fedcba9876543210;pid=7;i=1;q=3\x1b\\x\r\n",
)];

pub(crate) const ROWS: &[Row] = &[
    row(
        "T1_shell_on_another_pty",
        &[Line("python3 driver.py bash"), Line("export PS1; python3 driver.py bash --norc")],
        &[want("*", "worked markers: 0", 0), want("*", "worked markers: 0", 0)],
    )
    .needs(&["python3"])
    .files(FILES),
    row("T3_zsh_on_another_pty", &[Line("python3 driver.py zsh")], &[want("*", "worked markers: 0", 0)])
        .needs(&["python3", "zsh"])
        .files(FILES),
    zsh(
        "T26_shells_on_another_pty_in_zsh",
        &[
            Line("python3 driver.py zsh"),
            Line("ZDOTDIR=$__DTMCP_ZDIR python3 driver.py zsh"),
            Line("python3 driver.py bash"),
            Line("print -rP -- $PS1"),
        ],
        &[
            want("*", "worked markers: 0", 0),
            want("*", "worked markers: 0", 0),
            want("*", "worked markers: 0", 0),
            want("*", "$", 0),
        ],
    )
    .needs(&["python3", "zsh"])
    .files(FILES),
    zsh(
        "T30_stderr_elsewhere",
        &[Line("zsh 2>/dev/null"), Line("echo e"), Line("(exit 4)"), Line("exit")],
        &[want("*", "*", 4), want("echo e", "e", 0), want("(exit 4)", "", 4), lost("exit", "*")],
    ),
    row("T4_expect", &[Line("expect script.exp > out; grep -c 133 out; grep -c in2side out")], &[want("*", "0\n1", 0)])
        .needs(&["expect"])
        .files(FILES),
    row("T6_shell_on_pipes", &[Line("python3 pipes.py")], &[want("*", "hi 0", 0)]).needs(&["python3"]).files(FILES),
    row(
        "T7_forged",
        &[Line(r"printf '\e]133;D;0\a\e]133;A\aX\e]133;D;9;dt=0000;pid=1\a\n'"), Line("echo on")],
        &[want("*", "X", 0), want("echo on", "on", 0)],
    ),
    row(
        "T8_log_of_another_session",
        &[Line("cat other.log"), Line("echo on")],
        &[want("cat other.log", "$ ls\nx", 0), want("echo on", "on", 0)],
    )
    .files(OTHER),
    row(
        "T9_own_prompts_printed",
        &[
            Line("echo \"$PS1\""),
            Line("echo \"${PS1@P}\""),
            Line("echo fine"),
            Line("env | grep -c ^__DTMCP_NONCE="),
            Line("set | grep -a __dtmcp_ | grep -c $'\\e'"),
            Line("declare -p PS1"),
            Line("echo \"$PS2\"; false"),
            Line("echo fine"),
        ],
        &[
            want("*", "~dtmcp_A", 0),
            want("*", "$", 0),
            want("echo fine", "fine", 0),
            want("*", "1", 0).stages(&[0, 0]),
            // PS2 alone holds the bytes; before 5.2 bash prints them as they are.
            want("*", "~^[01]$", 0).any_exit().any_stages(),
            want("*", "~dtmcp_B", 0),
            want("*", ">", 1),
            want("echo fine", "fine", 0),
        ],
    ),
    row(
        "T17_clear_and_reset",
        &[Line("clear"), Line("echo c"), Line("reset; echo r"), Line("echo on")],
        &[want("clear", "*", 0), want("echo c", "c", 0), want("reset; echo r", "~r$", 0), want("echo on", "on", 0)],
    ),
    row(
        "T19_noise",
        &[Line("head -c 3000 /bin/bash; echo; echo end"), Line("echo on")],
        &[want("*", "~end$", 0), want("echo on", "on", 0)],
    ),
    row(
        "T20_unfinished_strings",
        &[
            Line(r"printf '\e]0;title never ended'"),
            Line("echo n1"),
            Line(r"printf '\ePq never ended'"),
            Line("echo n2"),
            Line(r"printf '\e[12'"),
            Line("echo n3"),
        ],
        &[
            want("*", "*", 0),
            want("echo n1", "n1", 0),
            want("*", "*", 0),
            want("echo n2", "n2", 0),
            want("*", "*", 0),
            want("echo n3", "n3", 0),
        ],
    ),
    row(
        "own_log_replayed",
        &[
            Line("echo one"),
            // What the terminal shows of itself is the nearest to a log that a bare pty has: markers made anew from
            // this shell's own variables, with counters that have passed.
            Line(
                r#"printf '%s0;q=1%s' "$__dtmcp_A" "$__dtmcp_Z"; printf '%s0;q=2%s' "$__dtmcp_C" "$__dtmcp_Z"; echo x"#,
            ),
            Line("echo two"),
        ],
        &[want("echo one", "one", 0), want("*", "x", 0), want("echo two", "two", 0)],
    ),
    row(
        "full_screen_program_killed",
        &[Type("sh -c 'printf \"\\033[?1049h\\033[5;5HXX\"; kill -9 $$'\r", Prompt), Line("echo on")],
        &[want("*", "~full-screen program", 137), want("echo on", "on", 0)],
    ),
    row(
        "background_output",
        &[
            Line("(for i in 1 2 3; do echo bg$i; done; echo done > ~/f) &"),
            Line("while [ ! -e ~/f ]; do :; done; echo fg"),
        ],
        &[want("*", "~(?m)^\\[1\\]", 0), want("*", "~fg$", 0)],
    ),
    row(
        "program_asks",
        &[Type("read -p 'name? ' n\r", Text("\\name? ")), Line("me"), Line("echo $n")],
        &[want("read -p 'name? ' n", "name? me", 0), want("echo $n", "me", 0)],
    ),
];
