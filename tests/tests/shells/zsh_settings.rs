//! Hard settings of zsh: what people set, trap, close and replace, in a startup file or in a session.

use crate::row::{Row, Want, ensure, lost, want, zsh};
use crate::terminal::Step::{self, Line, Type};
use crate::terminal::Terminal;
use crate::terminal::Wait::{Continuation, Foreground, Gone, Prompt, Text};

/// What is typed after the setting, in every row.
const REST: [Step; 4] = [Line("echo m; true|true"), Line("(exit 7)"), Line("echo $?"), Line("printf abc")];
const AFTER: [Want; 4] = [
    want("echo m; true|true", "m", 0).stages(&[0, 0]),
    want("(exit 7)", "", 7),
    want("echo $?", "7", 0),
    want("printf abc", "abc", 0),
];

/// A row that gives the shell one line, and then some that show that all is as ever.
macro_rules! set {
    ($name:literal, $line:expr) => {
        zsh(
            $name,
            &[Line($line), REST[0], REST[1], REST[2], REST[3]],
            &[want("*", "*", 0), AFTER[0], AFTER[1], AFTER[2], AFTER[3]],
        )
    };
}

/// A row whose startup file holds this besides a short prompt.
macro_rules! rc {
    ($name:literal, $text:expr) => {
        zsh($name, &REST, &AFTER).files(&[(".zshrc", concat!("PS1='$ '\n", $text, "\n"))])
    };
}

/// The line editor has no complaint, and no trace of the hooks is shown.
fn nothing_said(terminal: &Terminal) -> Result<(), libtest_mimic::Failed> {
    let shown = terminal.shown();
    ensure(!shown.contains("No such widget") && !shown.contains("__dtmcp"), "nothing of ours is shown")
}

pub(crate) const ROWS: &[Row] = &[
    // The line editor's hook tells the end then, and knows no stages.
    zsh("zsh_rc_readonly_first_hooks", &[REST[1], REST[2], REST[3]], &[AFTER[1], AFTER[2], AFTER[3]])
        .files(&[(".zshrc", "PS1='$ '\na() { : }\ntypeset -ra precmd_functions=(a)\n")]),
    zsh("zsh_rc_readonly_hooks", &[Type("echo pl$((1+1))\r", Text("pl2\r\n"))], &[])
        .files(&[(".zshrc", "PS1='plain$ '\na() { : }\ntypeset -ra precmd_functions=(a) preexec_functions=(a)\n")])
        .ready(Text("plain$ "))
        .check(|terminal| ensure(!terminal.shown().contains("]133;"), "a plain shell, without marks")),
    set!("zset_noclobber", "setopt noclobber no_nomatch"),
    set!("zset_vi", "bindkey -v"),
    // The end of the output cannot be told before the mark then, and what stands for a missing line end is output.
    zsh(
        "zset_readonly_mark",
        &[Line("readonly PROMPT_EOL_MARK='~'"), REST[0], REST[1], REST[2], Line("printf abc")],
        &[want("*", "", 0), AFTER[0], AFTER[1], AFTER[2], want("printf abc", "abc~", 0)],
    ),
    set!("zset_emulate_sh", "emulate sh").check(nothing_said),
    set!("zset_emulate_ksh", "emulate ksh").check(nothing_said),
    rc!("zset_startup_emulate_sh", "emulate sh").check(nothing_said),
    zsh("zset_startup_xtrace", &[Line("unsetopt xtrace"), REST[0]], &[want("*", "*", 0), AFTER[0]])
        .files(&[(".zshrc", "PS1='$ '\nsetopt xtrace\n")])
        .check(nothing_said),
    set!("zset_print_prints_nothing", "print() { : }"),
    set!("zset_builtin_does_nothing", "builtin() { : }"),
    zsh(
        "zset_hooks_thrown_away_by_a_line_that_fails",
        &[
            Line("unset precmd_functions; (exit 9)"),
            Line("precmd_functions=() preexec_functions=(); (exit 8)"),
            Line("unsetopt prompt_sp; precmd_functions=(); (exit 6)"),
            REST[0],
        ],
        &[want("*", "", 9), want("*", "", 8), want("*", "*", 6), AFTER[0]],
    ),
    zsh(
        "zset_zerr_trap_that_prints",
        &[Line("TRAPZERR() { print ZERR }"), Line("(exit 7)"), Line("echo $?"), Line("false"), Line("echo on")],
        &[
            want("*", "", 0),
            want("(exit 7)", "ZERR", 7),
            want("echo $?", "7", 0),
            want("false", "ZERR", 1),
            want("echo on", "on", 0),
        ],
    )
    .check(|terminal| {
        let said = terminal.lines().iter().filter(|line| *line == "ZERR").count();
        ensure(said == 2, &format!("{said} times"))
    }),
    set!("zset_no_path", "path=()"),
    set!("zset_c_locale", "LC_ALL=C"),
    set!("zset_precmd_replaced", "precmd_functions=(); precmd() { : }"),
    set!("zset_precmd_functions_unset", "unset precmd_functions preexec_functions"),
    set!("zset_precmd_of_their_own", "precmd() { PS1='own$ ' }; preexec() { : }"),
    set!("zset_empty_prompts", "PS1= PS2= RPS1= PROMPT_EOL_MARK="),
    set!("zset_prompt_of_letters", "PS1='é➜😀 %F{red}漢%f $ ' RPROMPT='%~ ❮'"),
    set!("zset_prompt_of_lines", "PROMPT=$'one\\ntwo\\n$ ' RPROMPT=right"),
    set!("zset_transient_right_prompt", "setopt transient_rprompt; RPS1=right"),
    set!("zset_history_options", "setopt share_history hist_verify hist_ignore_all_dups hist_no_store"),
    set!("zset_correct", "setopt csh_junkie_quotes csh_junkie_loops rc_quotes posix_identifiers"),
    set!("zset_paste_unbracketed", "unset zle_bracketed_paste"),
    set!("zset_enter_is_a_macro", "bindkey -s '^[x' x; accept() { zle .accept-line }; zle -N accept-line accept"),
    set!("zset_global_alias", "alias -g M='| cat' B=C A=D; alias print=echo local=typeset"),
    set!("zset_functions_named_as_builtins", "print() { builtin print \"$@\" }; unfunction print"),
    set!("zset_debug_trap", "trap 'x=$((x+1))' DEBUG"),
    set!("zset_zerr_trap", "trap ': ${y::=err}' ZERR"),
    set!("zset_editor_off_and_on", "unsetopt zle; setopt zle"),
    set!("zset_print_of_the_prompt", "print -P -- $PS1 >/dev/null; print -rn -- ${(%)PS1} >/dev/null"),
    set!("zset_single_line_editor", "setopt single_line_zle"),
    rc!("zset_startup_xtrace_off_again", "setopt xtrace; true; unsetopt xtrace"),
    rc!("zset_startup_err_return_and_more", "setopt err_return no_unset ksh_arrays sh_word_split typeset_silent"),
    rc!("zset_startup_no_prompt_options", "unsetopt prompt_cr prompt_sp prompt_subst"),
    rc!(
        "zset_startup_vi_mode_shown",
        "bindkey -v; zle-keymap-select() { RPS1=$KEYMAP; zle reset-prompt }; zle -N zle-keymap-select; zle -N zle-line-init zle-keymap-select"
    ),
    // As powerlevel10k's transient prompt: once Enter is pressed the prompt becomes a short one.
    rc!(
        "zset_startup_transient_prompt",
        "full='%~ %# ' ; precmd() { PS1=$full }; zle-line-finish() { PS1='> '; zle reset-prompt }; zle -N zle-line-finish"
    ),
    // As its instant prompt: a prompt is printed at once, by other means, and wiped when the real one is ready.
    rc!(
        "zset_startup_instant_prompt",
        "print -rn -- 'instant $ '; once() { print -rn -- $'\\r\\e[K'; precmd_functions=(${precmd_functions:#once}) }; precmd_functions+=(once)"
    ),
    // As frameworks do that draw the slow part later.
    rc!(
        "zset_startup_async_segment",
        "setopt prompt_subst; seg=; PS1='${seg}$ '; late() { zle -F $1; exec {fd}<&-; seg='[git] '; zle reset-prompt }; precmd() { seg=; exec {fd}< <(print); zle -F $fd late }"
    ),
    rc!("zset_startup_precmd_saves_the_prompt", "precmd() { saved=${saved-$PS1}; PS1=\"[$?] $saved\" }"),
    zsh(
        "zset_xtrace_and_off",
        &[Line("setopt xtrace"), Line("unsetopt xtrace"), REST[0], REST[1]],
        &[want("*", "", 0), want("*", "*", 0), AFTER[0], AFTER[1]],
    ),
    zsh(
        "zset_vi_with_continuation_and_interrupts",
        &[
            Line("bindkey -v"),
            Type("echo \"a\r", Continuation),
            Line("b\""),
            Type("sleep 60\r", Foreground),
            Type("\x03", Prompt),
            Type("abc", Text("abc")),
            Type("\x03", Prompt),
            Line("echo on"),
        ],
        &[want("*", "", 0), want("echo \"a\nb\"", "a\nb", 0), want("sleep 60", "^C", 130), want("echo on", "on", 0)],
    ),
    zsh(
        "zset_exit_in_a_function",
        &[Line("trap 'echo bye' EXIT"), Line("f() { exit 7 }"), Type("f\r", Gone)],
        &[want("*", "", 0), want("*", "", 0), want("f", "bye", 7)],
    )
    .check(|terminal| ensure(terminal.log.program_exit() == Some(7), "the function ended the shell with 7")),
    zsh("zset_timeout", &[Type("TMOUT=1\r", Gone)], &[want("TMOUT=1", "*", 0)]),
    zsh(
        "zset_stderr_to_nowhere",
        &[Line("exec 2>/dev/null"), REST[1], REST[2], REST[3], Line("exec 2>/dev/tty"), REST[0]],
        &[want("*", "", 0), AFTER[1], AFTER[2], AFTER[3], want("*", "", 0), AFTER[0]],
    ),
    zsh(
        "zset_stdout_closed",
        &[Line("exec 1>&-"), Line("(exit 3)"), Line("exec 1>/dev/tty"), REST[0]],
        &[want("*", "*", 0), want("(exit 3)", "*", 3), want("*", "*", 0), AFTER[0]],
    ),
    zsh(
        "zset_no_echo",
        &[Line("stty -echo"), Line("echo hi"), Line("(exit 3)"), Line("stty echo"), REST[0]],
        &[want("*", "", 0), want("echo hi", "hi", 0), want("(exit 3)", "", 3), want("*", "", 0), AFTER[0]],
    ),
    zsh(
        "zset_script_with_errors",
        &[
            Line("print -r -- 'echo a; false; nosuchcmd_y' >s; print -r -- 'echo )' >t"),
            Line(". ./s"),
            Line(". ./t"),
            Line(". ./nosuchfile"),
            Line("eval 'echo )'"),
            REST[0],
        ],
        &[
            want("*", "", 0),
            want(". ./s", "~^a\n.*command not found", 127),
            want(". ./t", "~parse error", 126).any_exit(),
            want(". ./nosuchfile", "~no such file", 127),
            want("eval 'echo )'", "~parse error", 1),
            AFTER[0],
        ],
    ),
    zsh(
        "zset_histverify",
        &[Line("setopt histverify"), Line("echo h1"), Type("!!\r", Text("echo h1")), Line("")],
        &[want("*", "", 0), want("echo h1", "h1", 0), want("echo h1", "h1", 0)],
    ),
    zsh(
        "zset_nested_shell_suspended",
        &[
            Line("zsh"),
            Line("echo in"),
            Line("suspend"),
            Line("echo out"),
            Line("fg"),
            Line("echo in again"),
            Line("exit 4"),
            Line("echo $?"),
        ],
        &[
            want("zsh", "*", 0).any_exit(),
            want("echo in", "in", 0),
            lost("suspend", "*"),
            want("echo out", "out", 0),
            want("fg", "*", 4),
            want("echo in again", "in again", 0),
            lost("exit 4", "*"),
            want("echo $?", "4", 0),
        ],
    ),
    zsh(
        "zset_letters",
        &[Line("echo 'ä€😀漢'"), Line("print -r -- é")],
        &[want("echo 'ä€😀漢'", "ä€😀漢", 0), want("print -r -- é", "é", 0)],
    ),
    zsh(
        "zset_startup_goes_on_as_bash",
        &[Line("echo ${BASH_VERSION:+bash}"), Line("false")],
        &[want("*", "bash", 0), want("false", "", 1)],
    )
    .files(&[(".zshrc", "exec bash\n")]),
    zsh(
        "zset_startup_goes_on_as_fish",
        &[Line("string match -q '3*' $version; echo $status"), Line("false")],
        &[want("*", "~^[01]$", 0), want("false", "", 1)],
    )
    .files(&[(".zshrc", "exec fish\n")])
    .needs(&["zsh", "fish"]),
    zsh(
        "zset_enter_that_adds",
        &[
            Line("accept-line() { [[ -n $BUFFER ]] || BUFFER='echo magic'; zle .accept-line }; zle -N accept-line"),
            Line(""),
            Line("false"),
        ],
        &[want("*", "", 0), want("echo magic", "magic", 0), want("false", "", 1)],
    ),
    zsh(
        "zset_directory_hook_that_prints",
        &[Line("chpwd() { echo moved }; setopt autocd"), Line("/tmp"), Line("pwd")],
        &[want("*", "", 0), want("/tmp", "moved", 0), want("pwd", "/tmp", 0).cwd("/tmp")],
    ),
    set!("zset_time_is_told", "REPORTTIME=3600 TIMEFMT=%E"),
];
