//! Cases that others' trackers brought: what went wrong in programs of this kind.

use crate::row::{Row, ensure, lost, not_run, row, want};
use crate::terminal::Step::{Line, Type};
use crate::terminal::Wait::{Continuation, Gone, Prompt, Text};

const DEBUG_TRAP: &[(&str, &str)] = &[(".bash_profile", "PS1='$ '\ntrap 'echo DBG:$BASH_COMMAND >> ~/dbg' DEBUG\n")];
const PARTS: &[(&str, &str)] = &[(
    ".bash_profile",
    "PS1='$ '\nPROMPT_COMMAND='a() { :; }; history -a; echo -ne \"\\033]0;title\\007\"; b=$((b+1))'\n",
)];
const PARTS_ARRAY: &[(&str, &str)] = &[(
    ".bash_profile",
    "PS1='$ '\nPROMPT_COMMAND=('a() { :; }; history -a' 'echo -ne \"\\033]0;title\\007\"; b=$((b+1))')\n",
)];
const STATUS_PROMPT: &[(&str, &str)] = &[(".bash_profile", "PS1='[$?]\\$ '\n")];
const MANY_LINES: &[(&str, &str)] = &[(".bash_profile", "PS1='one\\ntwo $(echo three)\\n$ '\n")];

pub(crate) const ROWS: &[Row] = &[
    row(
        "C12_phantoms",
        &[Line("(exit 9)"), Type("\x03", Prompt), Line(""), Line("# only a comment")],
        &[want("(exit 9)", "", 9)],
    )
    .check(|terminal| ensure(not_run(terminal) == 3, "three lines were not run")),
    row(
        "C14_printed_prompts",
        &[
            Line("echo \"$PS1\""),
            Line("echo \"${PS1@P}\""),
            Line("env"),
            Line("set | tail -50"),
            Line("declare -p PS1 PS0 PROMPT_COMMAND"),
            Line("echo next"),
        ],
        &[
            want("echo \"$PS1\"", "~dtmcp_A", 0),
            want("echo \"${PS1@P}\"", "$", 0),
            want("env", "~__DTMCP_TTY=", 0),
            want("set | tail -50", "*", 0).stages(&[0, 0]),
            want("declare -p PS1 PS0 PROMPT_COMMAND", "~dtmcp_C", 0),
            want("echo next", "next", 0),
        ],
    ),
    row(
        "C15_quoted_lines",
        &[
            Type("echo \"l1\r", Continuation),
            Type("l2\r", Continuation),
            Line("l3\" > f"),
            Line("echo A"),
            Line("echo B"),
            Line("cat f"),
        ],
        &[
            want("echo \"l1\nl2\nl3\" > f", "", 0),
            want("echo A", "A", 0),
            want("echo B", "B", 0),
            want("cat f", "l1\nl2\nl3", 0),
        ],
    ),
    row(
        "C41_debug_trap",
        &[Line("true"), Line("false"), Line("grep -cx -e DBG:true -e DBG:false ~/dbg")],
        &[want("true", "", 0), want("false", "", 1), want("*", "2", 0)],
    )
    .files(DEBUG_TRAP),
    row(
        "C42_prompt_command_of_parts",
        &[Line("true"), Line("(exit 7)"), Line("echo $? $b")],
        &[want("true", "", 0), want("(exit 7)", "", 7), want("echo $? $b", "7 3", 0)],
    )
    .files(PARTS),
    row(
        "C42_prompt_command_array",
        &[Line("true"), Line("(exit 7)"), Line("echo $? $b")],
        &[want("true", "", 0), want("(exit 7)", "", 7), want("echo $? $b", "7 3", 0)],
    )
    .files(PARTS_ARRAY),
    row(
        "C43_status_in_the_prompt",
        &[Line("true"), Line("(exit 7)"), Line("echo $?")],
        &[want("true", "", 0), want("(exit 7)", "", 7), want("echo $?", "7", 0)],
    )
    .files(STATUS_PROMPT)
    .check(|terminal| {
        let prompts: Vec<String> = terminal.lines().into_iter().filter(|line| line.starts_with('[')).collect();
        let starts = ["[0]", "[0]", "[7]", "[0]"];
        let right = prompts.len() == 4 && prompts.iter().zip(starts).all(|(line, start)| line.starts_with(start));
        ensure(right, &format!("the prompt shows each status: {prompts:?}"))
    }),
    row(
        "C45_strict_options",
        &[
            Line("set -u"),
            Line("true"),
            Line("set -o pipefail"),
            Line("false | true"),
            Line("set -e"),
            Type("false\r", Gone),
        ],
        &[
            want("set -u", "", 0),
            want("true", "", 0),
            want("set -o pipefail", "", 0),
            want("false | true", "", 1).stages(&[1, 0]),
            want("set -e", "", 0),
            want("false", "", 1),
        ],
    )
    .check(|terminal| ensure(terminal.log.program_exit() == Some(1), "the shell ended with 1")),
    row(
        "C46_nested_prompt",
        &[Line("bash"), Line("echo inner"), Line("exit 4"), Line("echo $?")],
        &[want("bash", "*", 4), want("echo inner", "inner", 0), lost("exit 4", "exit"), want("echo $?", "4", 0)],
    ),
    row(
        "prompt_of_several_lines",
        &[Line("echo a"), Type("echo b", Text("echo b")), Type("\x0c", Text("echo b")), Line("")],
        &[want("echo a", "a", 0), want("echo b", "b", 0)],
    )
    .files(MANY_LINES),
    row(
        "program_ends_with_the_shell",
        &[Line("echo a"), Type("exit 3\r", Gone)],
        &[want("echo a", "a", 0), want("exit 3", "exit", 3)],
    )
    .check(|terminal| ensure(terminal.log.program_exit() == Some(3), "the shell ended with 3")),
];
