//! Shells other than bash, filters, languages, and programs that start others: one situation of each kind.

use super::Do::{Judged, Runs, See, Type};
use super::{Row, row};

const PYTHON: &[&str] = &["python3"];

pub(crate) const ROWS: &[Row] = &[
    row("busybox_prompt", &["busybox"], &[Type("busybox sh\r"), Runs("busybox")], "waits", "waits"),
    row("mksh_prompt", &["mksh"], &[Type("mksh\r"), Runs("mksh")], "waits", "waits"),
    row("tcsh_prompt", &["tcsh"], &[Type("tcsh -f\r"), Runs("tcsh")], "waits", "waits"),
    row("tclsh_prompt", &["tclsh"], &[Type("tclsh\r"), Runs("tclsh")], "waits", "waits"),
    row("dash_read", &["dash"], &[Type("dash -c 'read x'\r"), Runs("dash")], "waits", "waits"),
    row("zsh_read", &["zsh"], &[Type("zsh -fc 'read x'\r"), Runs("zsh")], "waits", "waits"),
    row("zsh_reads_a_key", &["zsh"], &[Type("zsh -fc 'read -q x'\r"), Runs("zsh")], "waits", "waits"),
    row("bash_read_for_a_while", &[], &[Type("read -t 300 -p 'Soo''n? ' x\r"), See("Soon? ", 1)], "waits", "waits"),
    row("bash_reads_a_fifo", &[], &[Type("mkfifo q; read x <>q\r"), See("<>q\r\n", 1)], "works", "works"),
    row("loop_reads_a_pipe", &[], &[Type("sleep 60 | while read x; do :; done\r"), Runs("sleep")], "works", "works"),
    row("sort", &[], &[Type("sort\r"), Runs("sort")], "waits", "waits"),
    row("wc", &[], &[Type("wc\r"), Runs("wc")], "waits", "waits"),
    row("grep_without_a_file", &[], &[Type("grep x\r"), Runs("grep")], "waits", "waits"),
    row("nested_wrappers", &[], &[Type("env nice timeout --foreground 300 cat\r"), Runs("cat")], "waits", "waits"),
    row(
        "wrappers_sleep",
        &[],
        &[Type("env nice timeout --foreground 300 sleep 60\r"), Runs("sleep")],
        "works",
        "works",
    ),
    row("chroot_cat", &["chroot", "root"], &[Type("chroot / cat\r"), Runs("cat")], "waits", "waits"),
    row("tail_follows", &[], &[Type("touch z; tail -f z\r"), Runs("tail")], "works", "unknown"),
    row("dd_copies", &[], &[Type("dd if=/dev/zero of=/dev/null\r"), Runs("dd")], "works", "works"),
    row("top_batch", &["top"], &[Type("top -b -d 300\r"), Runs("top")], "works", "waits"),
    row("perl_reads", &["perl"], &[Type("perl -ne 1\r"), Runs("perl")], "waits", "waits"),
    row("python_pdb", PYTHON, &[Type("python3 -c 'breakpoint()'\r"), See("(Pdb) ", 1)], "waits", "waits"),
    row(
        "python_lines",
        PYTHON,
        &[Type("python3 -c 'import sys; print(\"up\"+\"!\"); list(sys.stdin)'\r"), See("up!", 1)],
        "waits",
        "waits",
    ),
    row(
        "python_input_with_readline",
        PYTHON,
        &[Type("python3 -c 'import readline; input(\"so\"+\"? \")'\r"), See("so? ", 1)],
        "waits",
        "waits",
    ),
    row("python_asyncio_prompt", PYTHON, &[Type("python3 -m asyncio\r"), See(">>> ", 1)], "waits", "waits"),
    row(
        "python_asyncio_awaits",
        PYTHON,
        &[
            Type("python3 -m asyncio\r"),
            See(">>> import asyncio", 1),
            Judged("waits"),
            Type("await asyncio.sleep(300)\r"),
            See("sleep(300)\r\n", 1),
        ],
        "works",
        "works",
    ),
    // Keys that nobody has read, in a terminal that gives them one by one.
    row(
        "typed_ahead_raw",
        PYTHON,
        &[
            Type("python3 -c 'import tty,time; tty.setraw(0); print(\"up\"+\"!\"); time.sleep(300)'\r"),
            See("up!", 1),
            Type("keys"),
        ],
        "works",
        "works",
    ),
    row(
        "node_question",
        &["node"],
        &[
            Type(
                "node -e 'require(\"readline\").createInterface(process.stdin,process.stdout).question(\"so\"+\"? \",()=>0)'\r",
            ),
            See("so? ", 1),
        ],
        "waits",
        "waits",
    ),
    row(
        "gdb_confirms",
        &["gdb"],
        &[Type("gdb -q -nx\r"), See("(gdb) ", 1), Type("define x\rend\rdefine x\r"), See("(y or n)", 1)],
        "waits",
        "waits",
    ),
    row(
        "less_follows",
        &["less"],
        &[Type("touch z; less +F z\r"), Runs("less"), See("Waiting for data", 1)],
        "works",
        "works",
    ),
    row(
        "script_less",
        &["script", "less"],
        &[Type("script -q -c 'less /etc/services' /dev/null\r"), Runs("less"), See("\u{1b}[?1049h", 1)],
        "waits",
        "waits",
    ),
    row(
        "vim_inserts",
        &["vim"],
        &[Type("vim -u NONE f\r"), Runs("vim"), Judged("waits"), Type("ihello")],
        "waits",
        "waits",
    ),
    row("xargs_opens_vim", &["vim"], &[Type("echo f | xargs -o vim -u NONE\r"), Runs("vim")], "waits", "waits"),
    row("shell_starts_vim", &["vim"], &[Type("sh -c 'vim -u NONE f; true'\r"), Runs("vim")], "waits", "waits"),
    row(
        "make_into_tee",
        &["make"],
        &[Type("printf 'a:\\n\\tsleep 60\\n' >Makefile; make | tee log\r"), Runs("sleep"), Runs("tee")],
        "works",
        "works",
    ),
    row(
        "git_adds_a_patch",
        &["git"],
        &[
            Type("git init -q . && echo a >a && git add a && echo b >a && git -c color.ui=false add -p\r"),
            See("this hunk", 1),
        ],
        "waits",
        "waits",
    ),
    row(
        "git_commits_in_vim",
        &["git", "vim"],
        &[
            Type("git init -q . && GIT_EDITOR='vim -u NONE' git -c user.name=a -c user.email=a commit --allow-empty\r"),
            Runs("vim"),
        ],
        "waits",
        "waits",
    ),
    row(
        "ssh_keygen_overwrites",
        &["ssh-keygen"],
        &[Type("touch k; ssh-keygen -q -t ed25519 -f k\r"), See("(y/n)?", 1)],
        "waits",
        "waits",
    ),
    row(
        "ssh_keygen_hides",
        &["ssh-keygen"],
        &[Type("ssh-keygen -q -t ed25519 -f k\r"), See("passphrase", 1)],
        "hidden",
        "hidden",
    ),
];
