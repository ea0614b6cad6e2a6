//! Hard settings of bash: what people set, trap, close and replace, in a startup file or in a session.

use libtest_mimic::Failed;

use crate::row::{Row, Want, ensure, lost, not_run, row, want};
use crate::terminal::Step::{Line, Type};
use crate::terminal::Terminal;
use crate::terminal::Wait::{Continuation, End, Foreground, Gone, Prompt, Text};

/// A startup file with a short prompt and this in it.
macro_rules! bash_profile {
    ($text:expr) => {
        &[(".bash_profile", concat!("PS1='$ '\n", $text, "\n"))]
    };
}

/// What is typed after the setting, in every row that [`set`] makes.
const AFTER: [Want; 4] = [
    want("echo m; true|true", "m", 0).stages(&[0, 0]),
    want("(exit 7)", "", 7),
    want("echo $?", "7", 0),
    want("false", "", 1),
];

/// The prompt alone tells the end then, and knows no stages.
const HOOKLESS: &[Want] = &[want("*", "", 0), want("echo m", "m", 0), want("(exit 7)", "", 7), want("echo $?", "7", 0)];

/// A row that gives the shell one line, and then some that show that all is as ever.
macro_rules! set {
    ($name:literal, $line:expr) => {
        row(
            $name,
            &[Line($line), Line("echo m; true|true"), Line("(exit 7)"), Line("echo $?"), Line("false")],
            &[want("*", "*", 0), AFTER[0], AFTER[1], AFTER[2], AFTER[3]],
        )
    };
}

/// A row whose startup file holds this besides a short prompt.
macro_rules! startup {
    ($name:literal, $text:expr) => {
        row(
            $name,
            &[Line("ready=1"), Line("echo m; true|true"), Line("(exit 7)"), Line("echo $?"), Line("false")],
            &[want("ready=1", "*", 0), AFTER[0], AFTER[1], AFTER[2], AFTER[3]],
        )
        .files(bash_profile!($text))
    };
}

/// A row whose startup file, with this in it, leaves the shell a plain one.
macro_rules! unmarked {
    ($name:literal, $text:expr) => {
        row($name, &[Type("echo pl$((1+1))\r", Text("pl2\r\n"))], &[])
            .files(&[(".bash_profile", concat!("PS1='plain$ '\n", $text, "\n"))])
            .ready(Text("plain$ "))
            .check(unmarked)
    };
}

fn unmarked(terminal: &Terminal) -> Result<(), Failed> {
    let marked = terminal.shown().contains("]133;");
    ensure(!marked && terminal.lines().iter().any(|line| line == "pl2"), "a plain shell, without marks")
}

pub(crate) const ROWS: &[Row] = &[
    set!(
        "set_names_readonly",
        "declare -r st=5 one=3 host=x user=y before=x after=y found=z now=k part=k code=k status=3 extra=4 next=1 pre=1 rest=1"
    ),
    set!("set_ifs_readonly", "readonly IFS LC_ALL REPLY"),
    set!("set_keyword_arguments", "set -k"),
    set!("set_printf_prints_nothing", "printf() { :; }"),
    set!("set_printf_and_builtin_do_nothing", "builtin() { :; }; printf() { :; }"),
    set!("set_shopt_disabled", "enable -n shopt"),
    startup!(
        "set_startup_aliases",
        "alias printf='echo aliased' local='echo al' if='echo' set=echo unset=echo export=echo return=false .=echo"
    ),
    // What such a trap prints gets into the output of a command substitution, too.
    startup!("set_startup_debug_trap_of_functions", "set -T; trap '[[ -n ${ready-} ]] || echo DBG' DEBUG"),
    startup!("set_startup_keyword_arguments", "set -k"),
    startup!("set_startup_stdin_opened_anew", "exec </dev/tty"),
    startup!("set_startup_all_opened_anew", "exec </dev/tty >/dev/tty 2>&1"),
    startup!("set_startup_no_path", "unset PATH"),
    startup!("set_startup_path_to_nowhere", "PATH=/no/such"),
    // No start of a command can be told, or no end: a plain shell, which prints nothing of ours.
    unmarked!("set_startup_readonly_start", "PS0=; readonly PS0"),
    unmarked!("set_startup_readonly_start_and_hook", "PROMPT_COMMAND=true PS0=; readonly PS0 PROMPT_COMMAND"),
    unmarked!("set_startup_readonly_hook_and_prompt", "PROMPT_COMMAND=true; readonly PS1 PROMPT_COMMAND"),
    set!("set_noclobber", "set -o noclobber"),
    set!("set_vi", "set -o vi"),
    set!("set_notify", "set -b"),
    set!("set_return_trap", "set -T; trap 'echo RET' RETURN"),
    set!("set_xpg_echo_and_more", "shopt -s xpg_echo nocasematch nullglob dotglob extglob globstar"),
    // As mc does it, to hear that its shell is at the prompt.
    row(
        "set_prompt_command_writes_to_descriptors",
        &[
            Line("exec 7>f7 8>f8 9>f9; PROMPT_COMMAND='for n in 7 8 9; do echo p$n >&$n; done'"),
            Line("true"),
            Line("sort -u f7 f8 f9"),
        ],
        &[want("*", "", 0), want("true", "", 0), want("*", "p7\np8\np9", 0)],
    ),
    set!("set_no_path", "PATH="),
    set!("set_c_locale", "LC_ALL=C"),
    set!("set_user_ps0", "PS0='started\\n'"),
    set!("set_empty_prompts", "PS1= PS2= PS4="),
    set!("set_no_prompts", "unset PS1 PS2 PS4"),
    set!("set_prompt_of_letters", "PS1='é➜😀 \\[\\e[31m\\]漢\\[\\e[m\\] $ '"),
    set!("set_readonly_hook", "readonly PROMPT_COMMAND"),
    row("set_hook_emptied", &[Line("PROMPT_COMMAND="), Line("echo m"), Line("(exit 7)"), Line("echo $?")], HOOKLESS),
    row(
        "set_hook_array_emptied",
        &[Line("PROMPT_COMMAND=()"), Line("echo m"), Line("(exit 7)"), Line("echo $?")],
        HOOKLESS,
    ),
    row(
        "set_hook_emptied_for_good",
        &[Line("PROMPT_COMMAND=; readonly PROMPT_COMMAND"), Line("echo m"), Line("(exit 7)"), Line("echo $?")],
        HOOKLESS,
    ),
    // The prompt cannot take the marks. (As a number it would be an error to try, after which bash begins the prompt anew.)
    row(
        "set_prompts_of_numbers",
        &[Type("declare -i PS1 PS2 PS0\r", End), Type("(exit 7)\r", End), Type("declare -u PS1\r", End)],
        &[want("*", "", 0), want("*", "*", 7), want("*", "*", 0)],
    ),
    // What begins a command is left, and puts the hook back when the next one does.
    row(
        "set_hook_and_prompt_replaced",
        &[
            Type("PROMPT_COMMAND= PS1='new$ '\r", Text("hnew$ ")),
            Line("(exit 7)"),
            Line("echo $?"),
            Line("PROMPT_COMMAND=('mine=1' 'mine=$((mine+1))')"),
            Line("echo $mine"),
            Type("PROMPT_COMMAND='mine=7' PS1='new$ ' PS2='more '\r", Text("hnew$ ")),
            Line("false|true"),
            Line("echo $mine"),
        ],
        &[
            want("*", "*", 0),
            want("*", "", 7),
            want("echo $?", "7", 0),
            want("*", "", 0),
            want("echo $mine", "2", 0),
            want("*", "*", 0),
            want("*", "", 0).stages(&[1, 0]),
            want("echo $mine", "7", 0),
        ],
    ),
    // And nothing where it cannot: each command is closed by the next one, with its status.
    row(
        "set_hook_and_prompt_replaced_for_good",
        &[
            Type("PROMPT_COMMAND= PS1='new$ '; readonly PROMPT_COMMAND\r", Text("hnew$ ")),
            Type("(exit 7)\r", Text("hnew$ ")),
            Type("echo $?\r", Text("hnew$ ")),
            Type("exit 5\r", Gone),
        ],
        &[want("*", "*", 0), want("*", "*", 7), want("*", "~^7", 0), want("*", "*", 5)],
    ),
    row(
        "set_all_replaced",
        &[
            Type("PROMPT_COMMAND='x=1' PS0= PS1='new$ ' PS2='more '\r", Text("new$ ")),
            Type("echo pl$((1+1))\r", Text("pl2")),
            Type("exit 5\r", Gone),
        ],
        &[lost("*", "*")],
    ),
    set!("set_paste_unbracketed", "bind 'set enable-bracketed-paste off'"),
    set!("set_enter_is_a_macro", "bind '\"\\C-m\":\"\\C-a\\C-e\\C-j\"'"),
    set!("set_history_ignored", "HISTIGNORE='*' HISTCONTROL=ignoreboth HISTSIZE=0"),
    set!("set_stdout_closed_once", "{ exec 3>&1 >&-; } ; exec >&3 3>&-"),
    set!("set_builtin_disabled", "enable -n builtin"),
    set!("set_extended_debugging_and_posix", "shopt -s extdebug; set -o posix; IFS=13D"),
    set!(
        "set_functions_named_as_builtins",
        "printf() { builtin printf \"$@\"; }; echo() { command echo \"$@\"; }; export -f printf"
    ),
    row(
        "set_exit_trap",
        &[Line("trap 'echo bye' EXIT"), Line("f() { exit 7; }"), Type("f\r", Gone)],
        &[want("*", "", 0), want("*", "", 0), want("f", "exit\nbye", 7)],
    )
    .check(|terminal| ensure(terminal.log.program_exit() == Some(7), "the function ended the shell with 7")),
    row(
        "set_err_trap_of_functions",
        &[Line("set -E; trap 'echo ERR' ERR"), Line("f() { false; true; }; f"), Line("true"), Line("echo on")],
        &[want("*", "", 0), want("*", "ERR", 0), want("true", "", 0), want("echo on", "on", 0)],
    ),
    row("set_timeout", &[Type("TMOUT=1\r", Gone)], &[want("TMOUT=1", "", 0)]),
    row(
        // bash prints what it reads: the line once more, and the hook behind the output.
        "set_verbose",
        &[Line("set -v"), Line("echo hi"), Line("(exit 3)"), Line("set +v"), Line("echo on")],
        &[
            want("set -v", "*", 0),
            want("~^echo hi", "~^hi", 0),
            want("~^\\(exit 3\\)", "*", 3),
            want("~^set \\+v", "", 0),
            want("echo on", "on", 0),
        ],
    ),
    row(
        "set_xtrace_in_the_startup_file",
        &[Line("echo hi"), Line("(exit 3)")],
        &[want("*", "+ echo hi\nhi", 0), want("*", "+ exit 3", 3)],
    )
    .files(bash_profile!("set -x"))
    .check(|terminal| {
        let lines = terminal.lines();
        ensure(lines.len() < 30, &format!("reading the integration is not traced: {} lines", lines.len()))
    }),
    // Each trace of a line costs a process then, and leaves a letter.
    row(
        "set_xtrace_with_a_process",
        &[Line("set +x"), Line("[ $(wc -c <~/traced) -lt 1000 ]; echo $?")],
        &[want("*", "*", 0), want("*", "0", 0)],
    )
    .files(bash_profile!("PS4='$(printf x >>~/traced)+ '; set -x")),
    row(
        "set_histverify",
        &[Line("shopt -s histverify"), Line("echo h1"), Type("!!\r", Text("echo h1")), Line("")],
        &[want("*", "", 0), want("echo h1", "h1", 0), want("~echo h1$", "h1", 0)],
    ),
    row(
        "set_no_echo",
        &[Line("stty -echo"), Line("echo hi"), Line("(exit 3)"), Line("stty echo"), Line("echo on")],
        &[want("stty -echo", "", 0), want("", "hi", 0), want("", "", 3), want("", "", 0), want("echo on", "on", 0)],
    ),
    row(
        "set_stderr_to_nowhere",
        &[
            Type("exec 2>/dev/null\r", Text("133;C")),
            Type("echo qu$((1+1))\r", Text("qu2")),
            Line("exec 2>/dev/tty"),
            Line("echo on"),
        ],
        &[want("exec 2>/dev/null", "*", 0), want("echo on", "on", 0)],
    ),
    row(
        "set_stdout_closed",
        &[
            Type("exec 1>&-\r", Text("133;B")),
            Type("(exit 3)\r", Text("133;B")),
            Type("echo lost\r", Text("133;B")),
            Line("exec 1>&2"),
            Line("echo on"),
        ],
        &[
            want("*", "", 0),
            want("(exit 3)", "", 3),
            want("echo lost", "~Bad file descriptor", 1),
            want("*", "", 0),
            want("echo on", "on", 0),
        ],
    ),
    row(
        "set_script_with_errors",
        &[
            Line("echo 'echo a; false; nosuchcmd_y' >s; echo 'echo )' >t"),
            Line(". ./s"),
            Line(". ./t"),
            Line(". ./nosuchfile"),
            Line("eval 'echo )'"),
            Line("echo on"),
        ],
        &[
            want("*", "", 0),
            want(". ./s", "~^a\n.*command not found", 127),
            want(". ./t", "~syntax error", 2),
            want(". ./nosuchfile", "~No such file", 1),
            want("eval 'echo )'", "~syntax error", 2),
            want("echo on", "on", 0),
        ],
    ),
    row(
        "set_empty_continuation_prompt",
        &[Line("PS2="), Type("echo \"a\r", Continuation), Line("b\"")],
        &[want("PS2=", "", 0), want("echo \"a\nb\"", "a\nb", 0)],
    ),
    row(
        "set_ignoreeof",
        &[Line("set -o ignoreeof"), Type("\x04", Prompt), Line("echo on")],
        &[want("*", "", 0), want("echo on", "on", 0)],
    ),
    row(
        "set_nested_shell_suspended",
        &[
            Line("bash"),
            Line("echo in"),
            Line("suspend -f"),
            Line("echo out"),
            Line("fg"),
            Line("echo in again"),
            Line("exit 4"),
            Line("echo $?"),
        ],
        &[
            want("bash", "*", 147),
            want("echo in", "in", 0),
            lost("suspend -f", "*"),
            want("echo out", "out", 0),
            want("fg", "*", 4),
            want("echo in again", "in again", 0),
            lost("exit 4", "*"),
            want("echo $?", "4", 0),
        ],
    ),
    row(
        "set_fc",
        &[Line("echo x"), Line("fc -s"), Line("history -c"), Line("echo y")],
        &[want("echo x", "x", 0), want("fc -s", "echo x\nx", 0), want("history -c", "", 0), want("echo y", "y", 0)],
    ),
    row(
        "set_vi_with_continuation_and_interrupts",
        &[
            Line("set -o vi"),
            Type("echo \"a\r", Continuation),
            Line("b\""),
            Type("sleep 60\r", Foreground),
            Type("\x03", Prompt),
            Type("abc", Text("abc")),
            Type("\x03", Prompt),
            Line("echo on"),
        ],
        &[want("*", "", 0), want("echo \"a\nb\"", "a\nb", 0), want("sleep 60", "^C", 130), want("echo on", "on", 0)],
    )
    .check(|terminal| ensure(not_run(terminal) == 1, "the line broken off was not run")),
    row(
        "set_exec_bash_without_files",
        &[Line("exec bash --norc"), Line("echo in"), Line("(exit 4)")],
        &[lost("*", ""), want("echo in", "in", 0), want("(exit 4)", "", 4)],
    ),
    row(
        "set_letters",
        &[Line("echo 'ä€😀漢'"), Line("echo \"tab\there\""), Line("printf '%s\\n' é")],
        &[want("echo 'ä€😀漢'", "ä€😀漢", 0), want("*", "*", 0), want("printf '%s\\n' é", "é", 0)],
    ),
];
