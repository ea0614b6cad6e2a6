//! bash as a person uses it: commands, the prompt, nested shells, options.

use crate::row::{Row, ensure, lost, not_run, row, want};
use crate::terminal::Step::{Line, Type};
use crate::terminal::Wait::{Continuation, Foreground, Opened, Prompt, Prompts, Text, WantsMore};

const WIDE: &str = concat!(
    "echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
);
const WIDE_OUT: &str = concat!(
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
);
/// With the prompt of two columns this line fills the terminal's 80 exactly.
const EXACT: &str = "echo 12345678901234567890123456789012345678901234567890123456789012345678901234";
const EXACT_OUT: &str = "12345678901234567890123456789012345678901234567890123456789012345678901234";
const HISTORY: &[(&str, &str)] = &[(".bash_history", "echo listed\n")];
const HOSTS: &[(&str, &str)] = &[("hosta", ""), ("hostb", "")];

pub(crate) const ROWS: &[Row] = &[
    row("B1_echo", &[Line("echo hi")], &[want("echo hi", "hi", 0)]),
    row("B2_false", &[Line("false")], &[want("false", "", 1)]),
    row("B3_status", &[Line("(exit 255)")], &[want("(exit 255)", "", 255)]),
    row("B4_not_found", &[Line("nosuchcmd_x")], &[want("nosuchcmd_x", "~command not found$", 127)]),
    row("B6_killed", &[Line("sh -c 'kill -9 $$'")], &[want("sh -c 'kill -9 $$'", "~Killed", 137)]),
    row(
        "B7_pipeline_and_what_leaves_it_standing",
        &[
            Line("false|true|(exit 3)"),
            Line("false|true|(exit 3)"),
            Line("f() { :; }"),
            Line("case x in y) ;; esac"),
            Line("! false | true"),
            Line("set -o pipefail; false|true"),
        ],
        &[
            want("false|true|(exit 3)", "", 3).stages(&[1, 0, 3]),
            want("false|true|(exit 3)", "", 3).stages(&[1, 0, 3]),
            want("f() { :; }", "", 0),
            want("case x in y) ;; esac", "", 0),
            want("! false | true", "", 1).stages(&[1, 0]),
            want("set -o pipefail; false|true", "", 1).stages(&[1, 0]),
        ],
    ),
    row(
        "B14_output_of_both",
        &[Line("echo a; echo b >&2; (exit 4)")],
        &[want("echo a; echo b >&2; (exit 4)", "a\nb", 4)],
    ),
    row(
        "B15_no_line_end",
        &[Line("printf abc"), Line("echo next")],
        &[want("printf abc", "abc", 0), want("echo next", "next", 0)],
    ),
    row(
        "B17_empty_lines",
        &[Line(""), Line("false"), Line(""), Line("echo $?")],
        &[want("false", "", 1), want("echo $?", "1", 0)],
    )
    .check(|terminal| ensure(not_run(terminal) == 2, "two empty lines were not run")),
    row("B19_comment", &[Line("# just a comment")], &[])
        .check(|terminal| ensure(not_run(terminal) == 1, "the comment was not run")),
    row("B20_odd_characters", &[Line("echo \"a;b%c\" 'x'")], &[want("echo \"a;b%c\" 'x'", "a;b%c x", 0)]),
    row(
        "B22_directories",
        &[Line("cd /tmp"), Line("pwd"), Line("mkdir -p ~/'a;b %c' && cd ~/a*"), Line("true")],
        &[
            want("cd /tmp", "", 0),
            want("pwd", "/tmp", 0).cwd("/tmp"),
            want("mkdir -p ~/'a;b %c' && cd ~/a*", "", 0).cwd("/tmp"),
            want("true", "", 0),
        ],
    )
    .check(|terminal| {
        let cwd = terminal.log.region(4).and_then(|region| region.cwd.clone());
        ensure(cwd.is_some_and(|cwd| cwd.ends_with("/a;b %c")), "the odd directory is told")
    }),
    row("B25_unclosed_quote", &[Type("echo \"a\r", Continuation), Line("b\"")], &[want("echo \"a\nb\"", "a\nb", 0)]),
    row(
        "B26_heredoc",
        &[Type("cat <<X\r", Continuation), Type("one\r", Continuation), Type("two\r", Continuation), Line("X")],
        &[want("cat <<X\none\ntwo\nX", "one\ntwo", 0)],
    ),
    row(
        "B27_loop",
        &[Type("for i in 1 2\r", Continuation), Type("do echo $i\r", Continuation), Line("done")],
        &[want("for i in 1 2\ndo echo $i\ndone", "1\n2", 0)],
    ),
    row("B28_backslash", &[Type("echo a \\\r", Continuation), Line("b")], &[want("echo a \\\nb", "a b", 0)]),
    row("B29_history_expansion", &[Line("echo h1"), Line("!!")], &[want("echo h1", "h1", 0), want("~^!!", "h1", 0)]),
    row("B30_no_such_event", &[Line("!nosuch"), Line("echo on")], &[want("echo on", "on", 0)])
        .check(|terminal| ensure(not_run(terminal) == 1, "the failed event was not run")),
    row(
        "B31_syntax_error",
        &[Line("echo )"), Line("echo on")],
        &[want("echo )", "~^bash.*: syntax error near unexpected token `\\)'$", 2), want("echo on", "on", 0)],
    ),
    row(
        "B32_interrupt_at_the_prompt",
        &[Type("abc", Text("abc")), Type("\x03", Prompt), Line("echo $?")],
        &[want("echo $?", "130", 0)],
    ),
    row(
        "B33_interrupt_at_ps2",
        &[Type("echo \"a\r", Continuation), Type("\x03", Prompt), Line("echo b")],
        &[want("echo b", "b", 0)],
    ),
    row("B34_interrupt", &[Type("sleep 60\r", Foreground), Type("\x03", Prompt)], &[want("sleep 60", "^C", 130)]),
    row(
        "B35_stop_and_go_on",
        &[
            Type("sleep 60\r", Foreground),
            Type("\x1a", Prompt),
            Type("fg\r", Text("sleep 60\r\n")),
            Type("", Foreground),
            Type("\x03", Prompt),
        ],
        &[want("sleep 60", "~Stopped", 148), want("fg", "sleep 60\n^C", 130)],
    ),
    // bash tells it before the next prompt; bash 5.3 may do so before the end marker.
    row(
        "job_notice_is_no_output",
        &[Line("true &"), Line("while kill -0 $! 2>/dev/null; do :; done"), Line("echo on"), Line("echo again")],
        &[
            want("true &", "~^\\[1\\] \\d+", 0),
            want("*", "~^(\\[1\\]\\+  Done +true)?$", 0),
            want("echo on", "~^on", 0),
            want("echo again", "again", 0),
        ],
    ),
    row("B38_wait", &[Line("sleep 0.1 & wait $!")], &[want("sleep 0.1 & wait $!", "~^\\[1\\]", 0)]),
    row("B39_wrapped_line", &[Line(WIDE), Line("echo on")], &[want(WIDE, WIDE_OUT, 0), want("echo on", "on", 0)]),
    row(
        "B39_line_of_exact_width",
        &[Line(EXACT), Line("echo on")],
        &[want(EXACT, EXACT_OUT, 0), want("echo on", "on", 0)],
    ),
    row("B40_read", &[Type("read v\r", Opened), Line("foo")], &[want("read v", "foo", 0)]),
    row(
        "B41_read_continued",
        &[Type("read v\r", Opened), Type("foo\\\r", WantsMore), Line("bar")],
        &[want("read v", "foo\\\n> bar", 0)],
    ),
    row(
        "B42_select",
        &[Type("select x in a b; do break; done\r", Text("#? ")), Line("1")],
        &[want("select x in a b; do break; done", "1) a\n2) b\n#? 1", 0)],
    ),
    row(
        "B43_bracketed_paste",
        &[Type("\x1b[200~echo a\n(exit 5)\necho c\x1b[201~", Text("echo c")), Line("")],
        &[want("echo a", "a", 0), want("(exit 5)", "", 5), want("echo c", "c", 0)],
    ),
    row(
        "B44_plain_paste",
        &[Type("echo a\r(exit 5)\recho c\r", Prompts(3))],
        &[want("echo a", "a", 0), want("(exit 5)", "", 5), want("echo c", "c", 0)],
    ),
    row(
        "B46_completion_list",
        &[Type("ls ~/hos\t", Text("\x07t")), Type("\t\t", Text("hostb")), Line("\x15echo listed")],
        &[want("echo listed", "listed", 0)],
    )
    .files(HOSTS),
    row(
        "B47_clear_in_mid_line",
        &[Type("echo abc", Text("abc")), Type("\x0c", Text("abc")), Line("")],
        &[want("echo abc", "abc", 0)],
    ),
    row("B48_search", &[Type("\x12list", Text("[7mlist")), Line("")], &[want("echo listed", "listed", 0)])
        .files(HISTORY),
    row("B49_history", &[Type("\x1b[A", Text("listed")), Line("")], &[want("echo listed", "listed", 0)]).files(HISTORY),
    row(
        "B50_edit_and_execute",
        &[
            Line("export EDITOR=true"),
            Type("echo edited", Text("edited")),
            Type("\x18\x05", Text("133;A")),
            Line("echo on"),
        ],
        &[want("export EDITOR=true", "", 0), want("echo on", "on", 0)],
    ),
    row(
        "B51_last_argument_status_and_jobs",
        &[
            Line("echo one two"),
            Line("echo \"[$_]\""),
            Line("(exit 42)"),
            Line("echo $?"),
            Line("true|false|true"),
            Line("echo ${PIPESTATUS[@]}"),
            Line("jobs"),
            Line("sleep 0 & p=$!; wait; [ $p = $! ] && echo same"),
        ],
        &[
            want("echo one two", "one two", 0),
            want("echo \"[$_]\"", "[two]", 0),
            want("(exit 42)", "", 42),
            want("echo $?", "42", 0),
            want("true|false|true", "", 0).stages(&[0, 1, 0]),
            want("echo ${PIPESTATUS[@]}", "0 1 0", 0),
            want("jobs", "", 0),
            want("*", "~same$", 0),
        ],
    ),
    row(
        "B57_nested",
        &[Line("bash --norc"), Line("echo in"), Line("exit 4"), Line("echo back $?")],
        &[
            want("bash --norc", "~\nin\n(.*\n)*exit$", 4),
            want("echo in", "in", 0),
            lost("exit 4", "exit"),
            want("echo back $?", "back 4", 0),
        ],
    ),
    row(
        "B59_nested_in_a_subshell",
        &[Line("(bash)"), Line("echo in"), Line("exit 2")],
        &[want("(bash)", "*", 2), want("echo in", "in", 0), lost("exit 2", "exit")],
    ),
    row(
        "B60_nested_by_way_of_dash",
        &[Line("dash -c bash"), Line("echo in"), Line("exit")],
        &[want("dash -c bash", "*", 0), want("echo in", "in", 0), lost("exit", "exit")],
    )
    .needs(&["dash"]),
    row("B61_exec", &[Line("exec bash"), Line("echo in")], &[lost("exec bash", ""), want("echo in", "in", 0)]),
    row(
        "B62_not_interactive",
        &[Line("bash -c \"echo x; exit 3\""), Line("echo \"echo y\" | bash")],
        &[want("bash -c \"echo x; exit 3\"", "x", 3), want("echo \"echo y\" | bash", "y", 0).stages(&[0, 0])],
    ),
    row(
        "nested_restricted_is_plain_and_silent",
        &[
            Type("PS1='r$((3+4))> ' bash --norc -r\r", Text("r7> ")),
            Type("echo pl$((1+1))\r", Text("r7> ")),
            Line("exit 3"),
        ],
        &[want("PS1='r$((3+4))> ' bash --norc -r", r"~^r7> echo pl\$\(\(1\+1\)\)\npl2\nr7> exit 3\nexit$", 3)],
    ),
    row(
        "B64_clean_environment_is_plain",
        &[
            Type("env -i PS1='plain> ' bash --norc --noprofile\r", Text("> ")),
            Type("echo pl$((1+1))\r", Text("pl2")),
            Line("exit 6"),
        ],
        &[want("env -i PS1='plain> ' bash --norc --noprofile", "~pl2\n(.*\n)*.*exit 6\nexit$", 6)],
    ),
    row(
        "B65_dash_is_plain",
        &[Type("PS1='p$((3+4))> ' dash\r", Text("p7> ")), Type("echo da$((1+1))\r", Text("da2")), Line("exit 7")],
        &[want("PS1='p$((3+4))> ' dash", "~da2", 7)],
    )
    .needs(&["dash"]),
    row(
        "B66_su_inherits",
        &[Line("su nobody -s /bin/bash"), Line("id -un"), Line("exit")],
        &[want("su nobody -s /bin/bash", "*", 0), want("id -un", "nobody", 0).user("nobody"), lost("exit", "*")],
    )
    .needs(&["root", "su"]),
    row(
        "B67_su_login_is_plain",
        &[Type("su - nobody -s /bin/bash\r", Text("$ ")), Type("id -un\r", Text("\rnobody")), Line("exit")],
        &[want("su - nobody -s /bin/bash", "~\nnobody\n", 0)],
    )
    .needs(&["root", "su"]),
    row(
        "B68_sudo_login_is_plain",
        &[Type("sudo -i\r", Text("# ")), Type("echo de$((1+1))\r", Text("de2")), Line("exit")],
        &[want("sudo -i", "~\nde2\n", 0)],
    )
    .needs(&["root", "sudo"]),
    // sudo runs it on another terminal where its use_pty is on, as it is on Debian, and carries over what comes there.
    row(
        "B69_sudo_with_the_environment",
        &[
            Line("sudo -E bash --norc"),
            Line("false|true"),
            Line("bash --norc"),
            Line("(exit 6)"),
            Line("exit"),
            Line("exit 3"),
        ],
        &[
            want("sudo -E bash --norc", "*", 3),
            want("false|true", "", 0).stages(&[1, 0]),
            want("bash --norc", "*", 6),
            want("(exit 6)", "", 6),
            lost("exit", "*"),
            lost("exit 3", "*"),
        ],
    )
    .needs(&["root", "sudo"]),
    // As sudo with use_pty does it.
    row(
        "shell_in_a_script",
        &[
            Line("script -qc 'bash --norc' typescript"),
            Line("false|true"),
            Line("bash --norc"),
            Line("(exit 6)"),
            Line("exit"),
            Line("exit 3"),
        ],
        &[
            want("script -qc 'bash --norc' typescript", "*", 0),
            want("false|true", "", 0).stages(&[1, 0]),
            want("bash --norc", "*", 6),
            want("(exit 6)", "", 6),
            lost("exit", "*"),
            lost("exit 3", "*"),
        ],
    )
    .needs(&["script"]),
    // Each of them on a terminal of its own, carried to the other's; and sh between sudo and the shell.
    row(
        "B69_sudo_in_a_sudo",
        &[Line("sudo -E sudo -E sh -c 'bash --norc; exit 4'"), Line("false|true"), Line("exit 3")],
        &[want("*", "*", 4), want("false|true", "", 0).stages(&[1, 0]), lost("exit 3", "*")],
    )
    .needs(&["root", "sudo"]),
    row(
        "B69_shell_on_another_pty_in_a_sudo",
        &[Line("sudo -E python3 driver.py bash")],
        &[want("*", "worked markers: 0", 0)],
    )
    .needs(&["root", "sudo", "python3"])
    .files(&[("driver.py", crate::foreign::DRIVER)]),
    row(
        "B70_middle_shell_killed",
        &[Line("bash"), Line("bash"), Line("echo 3deep"), Type("kill -9 $PPID\r", Text("Killed")), Line("")],
        &[
            want("bash", "*", 137),
            lost("bash", "*"),
            want("echo 3deep", "3deep", 0),
            lost("kill -9 $PPID", "*").any_exit(),
        ],
    ),
];

const AFTER: crate::row::Want = want("echo m; true|true", "m", 0).stages(&[0, 0]);

/// Options and traps of the person's, which neither change anything for us nor are changed by us.
pub(crate) const OPTIONS: &[Row] = &[
    row("B71_nounset", &[Line("set -u"), Line("echo m; true|true")], &[want("set -u", "", 0), AFTER]),
    row("B72_errexit", &[Line("set -e"), Line("echo m; true|true")], &[want("set -e", "", 0), AFTER]),
    row(
        "B73_xtrace",
        &[Line("set -x"), Line("echo m; true|true")],
        &[want("set -x", "", 0), want("*", "~^(\\+ (echo m|true)\n|m\n)+\\+ true$", 0).stages(&[0, 0])],
    ),
    row("B74_functrace", &[Line("set -T"), Line("echo m; true|true")], &[want("set -T", "", 0), AFTER]),
    row("B75_errtrace", &[Line("set -E"), Line("echo m; true|true")], &[want("set -E", "", 0), AFTER]),
    row("B76_noglob", &[Line("set -f"), Line("echo m; true|true")], &[want("set -f", "", 0), AFTER]),
    row(
        "B77_allexport",
        &[Line("set -a"), Line("bash"), Line("echo m; true|true")],
        &[want("set -a", "", 0), want("bash", "*", 0).any_exit(), AFTER],
    ),
    row(
        "B78_posix",
        &[Line("set -o posix"), Line("false|true")],
        &[want("set -o posix", "", 0), want("false|true", "", 0).stages(&[1, 0])],
    ),
    row("B79_extdebug", &[Line("shopt -s extdebug"), Line("echo m; true|true")], &[want("*", "", 0), AFTER]),
    row("B80_failglob", &[Line("shopt -s failglob"), Line("echo m; true|true")], &[want("*", "", 0), AFTER]),
    row("B81_odd_ifs", &[Line("IFS='_ ;,a'"), Line("echo m; true|true")], &[want("*", "", 0), AFTER]),
    row(
        "B82_debug_trap",
        &[Line("trap 'echo DBG:$BASH_COMMAND' DEBUG"), Line("echo d")],
        &[want("*", "", 0), want("echo d", "DBG:echo d\nd", 0)],
    ),
    row("B83_err_trap", &[Line("trap 'echo ERR' ERR"), Line("false")], &[want("*", "", 0), want("false", "ERR", 1)]),
    row(
        "B84_history_controls",
        &[
            Line("HISTCONTROL=ignorespace:erasedups"),
            Line(" echo secret"),
            Line("echo dup"),
            Line("echo dup"),
            Line("history | grep -c 'dup$'"),
            Line("set +o history"),
            Line("echo nohist"),
        ],
        &[
            want("*", "", 0),
            want(" echo secret", "secret", 0),
            want("echo dup", "dup", 0),
            want("echo dup", "dup", 0),
            want("history | grep -c 'dup$'", "1", 0).stages(&[0, 0]),
            want("*", "", 0),
            want("echo nohist", "nohist", 0),
        ],
    ),
    row(
        "B88_stderr_away_and_back",
        &[
            Type("exec 2>file\r", Opened),
            Type("echo qu$((1+1))\r", Text("qu2")),
            Type("grep -c 13[3] file\r", Text("0")),
            Line("exec 2>/dev/tty"),
            Line("echo again"),
        ],
        &[want("exec 2>file", "*", 0), want("echo again", "again", 0)],
    ),
    row(
        "B91_promptvars_off",
        &[
            Line("shopt -u promptvars"),
            Line("echo npv"),
            Line("(exit 3)"),
            Line("shopt -s promptvars"),
            Line("echo on"),
        ],
        &[
            want("*", "", 0),
            want("echo npv", "npv", 0),
            want("(exit 3)", "", 3),
            want("*", "", 0),
            want("echo on", "on", 0),
        ],
    ),
];
