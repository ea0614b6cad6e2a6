//! Hard settings of fish: what people set, replace and add, in a startup file or in a session.

use crate::row::{Row, Want, ensure, fish, lost, want};
use crate::terminal::Step::{self, Line, Type};
use crate::terminal::Terminal;
use crate::terminal::Wait::{Foreground, Gone, Prompt, Text};

/// What is typed after the setting, in every row.
const REST: [Step; 4] = [Line("echo m; true|false"), Line("sh -c 'exit 7'"), Line("echo $status"), Line("printf abc")];
const AFTER: [Want; 4] = [
    want("echo m; true|false", "m", 1).stages(&[0, 1]),
    want("sh -c 'exit 7'", "", 7),
    want("echo $status", "7", 0),
    want("printf abc", "abc", 0),
];

/// A row that gives the shell one line, and then some that show that all is as ever.
macro_rules! set {
    ($name:literal, $line:expr) => {
        fish(
            $name,
            &[Line($line), REST[0], REST[1], REST[2], REST[3]],
            &[want("*", "*", 0), AFTER[0], AFTER[1], AFTER[2], AFTER[3]],
        )
    };
}

/// A row whose startup file holds this besides a short prompt.
macro_rules! config {
    ($name:literal, $text:expr) => {
        fish($name, &REST, &AFTER).files(&[(
            ".config/fish/config.fish",
            concat!("set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n", $text, "\n"),
        )])
    };
}

/// Nothing of the integration is shown.
fn nothing_said(terminal: &Terminal) -> Result<(), libtest_mimic::Failed> {
    let shown = terminal.lines().join("\n");
    ensure(!shown.contains("__dtmcp"), &format!("something of ours is shown: {shown}"))
}

pub(crate) const ROWS: &[Row] = &[
    set!("fset_vi", "fish_vi_key_bindings").check(nothing_said),
    config!("fset_startup_vi", "fish_vi_key_bindings").check(nothing_said),
    config!("fset_command_not_found_handler", "function fish_command_not_found; echo none; end"),
    config!("fset_title", "function fish_title; echo 'it''s a title'; end"),
    config!("fset_prompt_over_lines", "function fish_prompt; echo; echo (prompt_pwd); echo -n '> '; end"),
    config!("fset_prompt_without_text", "function fish_prompt; end"),
    config!("fset_prompt_that_fails", "function fish_prompt; nosuchcmd_x 2>/dev/null; echo -n '$ '; false; end"),
    config!("fset_mode_prompt", "function fish_mode_prompt; echo -n 'I '; end\nfish_vi_key_bindings"),
    config!(
        "fset_prompt_painted_again_when_a_job_is_done",
        "function fish_prompt; echo -n \"$p\\$ \"; end
function ask --on-event fish_prompt; set -q p; and return; sh -c 'sleep 0.05' &; set -g job $last_pid
function done --on-process-exit $last_pid; set -g p done; commandline -f repaint; end; disown; end"
    ),
    config!(
        "fset_transient_prompt",
        "function fish_prompt; if set -q short; set -e short; printf '\\e[0J'; echo -n '> '; else; printf '\\e[0J'; echo long; echo -n '$ '; end; end
function enter; set -g short 1; commandline -f repaint execute; end\nbind \\r enter"
    ),
    config!("fset_private", "set -g fish_history ''"),
    set!("fset_trace", "set -g fish_trace 1; set -e fish_trace"),
    fish(
        "fset_trace_is_of_the_persons_own",
        &[Line("set -g fish_trace 1"), Line("echo a"), Line("set -e fish_trace"), Line("echo b")],
        &[want("*", "*", 0), want("echo a", "~a$", 0), want("*", "*", 0), want("echo b", "b", 0)],
    )
    .check(nothing_said),
    fish(
        "fset_hooks_that_print",
        &[Line("echo hi"), Line("false")],
        &[want("echo hi", "~hi", 0), want("false", "*", 1)],
    )
    .files(&[(
        ".config/fish/config.fish",
        "function fish_prompt; echo -n '$ '; end
function a --on-event fish_preexec; echo PRE; end
function b --on-event fish_postexec; echo POST; end
function c --on-event fish_prompt; echo BEFORE; end\n",
    )]),
    fish(
        "fset_status_stands_in_the_prompt",
        &[Line("false"), Line("sh -c 'exit 9'")],
        &[want("false", "", 1), want("sh -c 'exit 9'", "", 9)],
    )
    .files(&[(
        ".config/fish/config.fish",
        "set -g fish_greeting\nfunction fish_prompt; set -l s $status; echo -n \"[$s $pipestatus]\\$ \"; end\n",
    )])
    .check(|terminal| {
        let shown = terminal.shown();
        ensure(shown.contains("[1 1]$ ") && shown.contains("[9 9]$ "), "the prompt knows the status")
    }),
    fish(
        "fset_abbreviation",
        &[Line("abbr -a gg echo expanded"), Line("gg x")],
        &[want("*", "", 0), want("~^echo expanded x$", "expanded x", 0)],
    ),
    fish("fset_paste", &[Type("\x1b[200~echo a\necho b\x1b[201~", Text("b")), Line("")], &[want("echo a\necho b", "a\nb", 0)]),
    fish(
        "fset_suspend",
        &[
            Type("sleep 60\r", Foreground),
            Type("\x1a", Prompt),
            Type("fg\r", Foreground),
            Type("\x03", Prompt),
            Line("echo on"),
        ],
        &[want("sleep 60", "*", 0).any_exit(), want("fg", "*", 0).any_exit(), want("echo on", "on", 0)],
    ),
    fish("fset_exec_fish", &[Line("exec fish"), Line("echo in"), Line("false")], &[
        lost("exec fish", "*"),
        want("echo in", "in", 0),
        want("false", "", 1),
    ]),
    fish("fset_exec_bash", &[Line("exec bash"), Line("echo in"), Line("false")], &[
        lost("exec bash", "*"),
        want("echo in", "in", 0),
        want("false", "", 1),
    ]),
    fish("fset_startup_goes_on_as_bash", &[Line("echo ${BASH_VERSION:+bash}"), Line("false")], &[
        want("*", "bash", 0),
        want("false", "", 1),
    ])
    .files(&[(".config/fish/config.fish", "exec bash\n")]),
    fish("fset_startup_goes_on_as_zsh", &[Line("echo ${ZSH_VERSION:+zsh}"), Line("false")], &[
        want("*", "zsh", 0),
        want("false", "", 1),
    ])
    .files(&[(".config/fish/config.fish", "exec zsh\n")])
    .needs(&["fish", "zsh"]),
    fish("fset_exit_handler_that_prints", &[Line("echo a"), Type("exit 3\r", Gone)], &[
        want("echo a", "a", 0),
        want("exit 3", "~BYE", 3),
    ])
    .files(&[(
        ".config/fish/config.fish",
        "set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\nfunction bye --on-event fish_exit; echo BYE; end\n",
    )]),
    fish("fset_background_job_ends", &[Line("sleep 0.2 &"), Line("sleep 0.5"), Line("echo on")], &[
        want("sleep 0.2 &", "", 0),
        want("sleep 0.5", "*", 0),
        want("echo on", "on", 0),
    ]),
    fish("fset_directory_that_is_gone", &[Line("mkdir d; cd d; rmdir ../d"), Line("echo a"), Line("cd ..; pwd")], &[
        want("*", "", 0),
        want("echo a", "a", 0),
        want("*", "*", 0),
    ]),
    fish("fset_up", &[Line("echo h1"), Type("\x1b[A", Text("h1")), Line("")], &[want("echo h1", "h1", 0), want("echo h1", "h1", 0)]),
    fish("fset_redraw", &[Type("echo abc", Text("c")), Type("\x0c", Text("abc")), Line("")], &[want("echo abc", "abc", 0)]),
    fish("fset_prompt_erased", &[Line("functions -e fish_prompt"), Line("echo a"), Line("false")], &[
        want("*", "", 0),
        want("echo a", "a", 0),
        want("false", "", 1),
    ]),
    fish("fset_private_line", &[Line(" echo secret"), Line("echo on")], &[
        want("~^ ?echo secret$", "secret", 0),
        want("echo on", "on", 0),
    ]),
    fish("fset_letters", &[Line("echo 'ä€😀漢'"), Line("printf '%s\\n' é; false")], &[
        want("echo 'ä€😀漢'", "ä€😀漢", 0),
        want("printf '%s\\n' é; false", "é", 1),
    ]),
    fish("fset_stderr_to_nowhere", &[Line("fish 2>/dev/null"), Line("echo in"), Line("exit 3"), Line("echo on")], &[
        want("*", "*", 3),
        want("echo in", "in", 0),
        lost("exit 3", "*"),
        want("echo on", "on", 0),
    ]),
    fish("fset_killed_inside", &[Line("fish"), Line("kill -9 $fish_pid"), Line("echo on")], &[
        want("fish", "*", 137),
        lost("kill -9 $fish_pid", "*"),
        want("echo on", "on", 0),
    ]),
    fish("fset_time_and_not", &[Line("time true"), Line("not true"), Line("! true"), Line("true; or false; and sh -c 'exit 3'")], &[
        want("time true", "~real|Executed", 0),
        want("not true", "", 1),
        want("! true", "", 1),
        want("*", "", 3),
    ]),
    fish("fset_zdotdir_of_their_own", &[Line("set -gx ZDOTDIR /tmp; zsh -fc true"), Line("echo $ZDOTDIR")], &[
        want("*", "", 0),
        want("echo $ZDOTDIR", "/tmp", 0),
    ])
    .needs(&["fish", "zsh"]),
];
