//! zsh as a person uses it: commands, the prompt, options, startup files, shells inside.

use crate::row::{Row, Want, ensure, lost, not_run, row, want, zsh};
use crate::terminal::Step::{Line, Type};
use crate::terminal::Wait::{Continuation, Foreground, Gone, Opened, Prompt, Prompts, Text};

const WIDE: &str = concat!(
    "echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
);
const HOSTS: &[(&str, &str)] = &[("hosta", ""), ("hostb", "")];

pub(crate) const ROWS: &[Row] = &[
    zsh("Z1_echo", &[Line("echo hi"), Line("false")], &[want("echo hi", "hi", 0), want("false", "", 1)]),
    zsh(
        "Z2_pipelines",
        &[
            Line("false|true|(exit 3)"),
            Line("false|true|(exit 3)"),
            Line("f() { :; }"),
            Line("x=1"),
            Line("! false | true"),
            Line("set -o pipefail; false|true"),
        ],
        &[
            want("false|true|(exit 3)", "", 3).stages(&[1, 0, 3]),
            want("false|true|(exit 3)", "", 3).stages(&[1, 0, 3]),
            want("f() { :; }", "", 0),
            want("x=1", "", 0),
            want("! false | true", "", 1).stages(&[1, 0]),
            want("set -o pipefail; false|true", "", 1).stages(&[1, 0]),
        ],
    ),
    zsh(
        "Z9_no_line_end",
        &[Line("printf abc"), Line("echo next"), Line("printf 'abc   '"), Line("echo next")],
        &[
            want("printf abc", "abc", 0),
            want("echo next", "next", 0),
            want("printf 'abc   '", "~^abc *$", 0),
            want("echo next", "next", 0),
        ],
    ),
    zsh("Z11_not_found", &[Line("nosuchcmd_x")], &[want("nosuchcmd_x", "zsh: command not found: nosuchcmd_x", 127)]),
    zsh(
        "Z12_empty_lines",
        &[Line(""), Line("false"), Line(""), Line("echo $?")],
        &[want("false", "", 1), want("echo $?", "1", 0)],
    )
    .check(|terminal| ensure(not_run(terminal) == 2, "two empty lines were not run")),
    zsh(
        "Z14_syntax_error",
        &[Line("(exit 9)"), Line("echo )"), Line("echo on $?")],
        &[
            want("(exit 9)", "", 9),
            want("echo )", "zsh: parse error near `)'", 0).unknown_exit(),
            want("echo on $?", "on 9", 0),
        ],
    ),
    zsh(
        // zsh makes 1 of a status of 0 where a line does not parse.
        "Z14_syntax_error_behind_a_success",
        &[
            Line("true"),
            Line("echo )"),
            Line("true"),
            Type("for i in 1 2; do\r", Continuation),
            Line("  fi"),
            Line("echo on"),
        ],
        &[
            want("true", "", 0),
            want("echo )", "zsh: parse error near `)'", 0).unknown_exit(),
            want("true", "", 0),
            want("for i in 1 2; do\n  fi", "zsh: parse error near `fi'", 0).unknown_exit(),
            want("echo on", "on", 0),
        ],
    ),
    zsh(
        "Z15_loop",
        &[Type("for i in 1 2\r", Continuation), Type("do echo $i\r", Continuation), Line("done")],
        &[want("for i in 1 2\ndo echo $i\ndone", "1\n2", 0)],
    ),
    zsh(
        "Z16_heredoc",
        &[Type("cat <<X\r", Continuation), Type("one\r", Continuation), Line("X")],
        &[want("cat <<X\none\nX", "one", 0)],
    ),
    zsh(
        "Z17_history_expansion",
        &[Line("echo h1"), Line("!!")],
        &[want("echo h1", "h1", 0), want("echo h1", "~h1$", 0)],
    ),
    zsh(
        "Z18_interrupt_at_the_prompt",
        &[Type("abc", Text("abc")), Type("\x03", Prompt), Line("echo on")],
        &[want("echo on", "on", 0)],
    ),
    zsh("Z19_interrupt", &[Type("sleep 60\r", Foreground), Type("\x03", Prompt)], &[want("sleep 60", "^C", 130)]),
    zsh(
        "Z20_stop_and_go_on",
        &[
            Type("sleep 60\r", Foreground),
            Type("\x1a", Prompt),
            Type("fg\r", Text("continued")),
            Type("", Foreground),
            Type("\x03", Prompt),
        ],
        &[want("sleep 60", "~suspended", 148), want("fg", "~continued", 130)],
    ),
    zsh(
        "zsh_job_notice_is_no_output",
        &[
            Line("true &"),
            Line("while kill -0 $! 2>/dev/null; do :; done"),
            Line("echo on"),
            Type("sleep 0.05 &\r", Text("done")),
            Line("echo again"),
        ],
        &[
            want("true &", "~^\\[1\\] \\d+", 0),
            want("*", "~^(\\[1\\].*done.*)?$", 0),
            want("echo on", "on", 0),
            want("sleep 0.05 &", "~^\\[1\\] \\d+$", 0),
            want("echo again", "again", 0),
        ],
    ),
    zsh("Z22_wrapped_line", &[Line(WIDE), Line("echo on")], &[want(WIDE, "~^x{200,}$", 0), want("echo on", "on", 0)]),
    zsh(
        "Z23_bracketed_paste",
        &[Type("\x1b[200~echo a\n(exit 5)\necho c\x1b[201~", Text("echo c")), Line("")],
        &[want("echo a\n(exit 5)\necho c", "a\nc", 0)],
    ),
    zsh(
        "Z23_plain_paste",
        &[Type("echo a\r(exit 5)\recho c\r", Prompts(3))],
        &[want("echo a", "a", 0), want("(exit 5)", "", 5), want("echo c", "c", 0)],
    ),
    zsh(
        "Z24_clear_in_mid_line",
        &[Type("echo abc", Text("abc")), Type("\x0c", Text("abc")), Line("")],
        &[want("echo abc", "abc", 0)],
    ),
    zsh(
        "Z25_completion_list",
        &[Type("ls ~/hos\t", Text("t")), Type("\t\t", Text("hostb")), Line("\x15echo listed")],
        &[want("echo listed", "listed", 0)],
    )
    .files(HOSTS),
    zsh(
        "Z26_reads",
        &[
            Line("read v <<< foo; echo $v"),
            Type("read w\r", Opened),
            Line("bar"),
            Type("select x in a b; do break; done\r", Text("?# ")),
            Line("1"),
        ],
        &[
            want("read v <<< foo; echo $v", "foo", 0),
            want("read w", "bar", 0),
            want("select x in a b; do break; done", "~^1\\) a", 0),
        ],
    ),
    zsh(
        "Z28_status_kept",
        &[Line("(exit 42)"), Line("echo $?"), Line("false|true"), Line("echo $pipestatus")],
        &[
            want("(exit 42)", "", 42),
            want("echo $?", "42", 0),
            want("false|true", "", 0).stages(&[1, 0]),
            want("echo $pipestatus", "1 0", 0),
        ],
    ),
    zsh(
        "Z30_leading_space",
        &[Line(" echo sp"), Line("setopt hist_ignore_space"), Line(" echo sp")],
        &[want(" echo sp", "sp", 0), want("setopt hist_ignore_space", "", 0), want(" echo sp", "sp", 0)],
    ),
    zsh(
        "Z32_prompts_are_the_persons_while_a_command_runs",
        &[
            Line("print -r -- $PS1$PS2$+RPS1"),
            Line("print -r -- $+ZDOTDIR $+PROMPT_EOL_MARK"),
            Line("(zsh -c 'echo x${ZDOTDIR}x')"),
        ],
        &[want("*", "~^\\$ %_> [01]$", 0), want("*", "0 1", 0), want("*", "xx", 0)],
    ),
    zsh(
        "Z33_directories",
        &[Line("cd /tmp"), Line("pwd"), Line("mkdir -p ~/'a;b %c$(echo x)`echo y`\\!' && cd ~/a*"), Line("true")],
        &[
            want("cd /tmp", "", 0),
            want("pwd", "/tmp", 0).cwd("/tmp"),
            want("*", "", 0).cwd("/tmp"),
            want("true", "", 0),
        ],
    )
    .check(|terminal| {
        let cwd = terminal.log.region(4).and_then(|region| region.cwd.clone());
        ensure(cwd.is_some_and(|cwd| cwd.ends_with("/a;b %c$(echo x)`echo y`\\!")), "the odd directory is told")
    }),
    zsh(
        "Z35_alias_as_typed",
        &[Line("alias e='echo al'"), Line("e x")],
        &[want("alias e='echo al'", "", 0), want("e x", "al x", 0)],
    ),
    zsh(
        "Z36_nested",
        &[Line("zsh"), Line("echo in"), Line("exit 4"), Line("echo back $?")],
        &[want("zsh", "~\nin\n", 4), want("echo in", "in", 0), lost("exit 4", "*"), want("echo back $?", "back 4", 0)],
    ),
    zsh("Z37_exec", &[Line("exec zsh"), Line("echo in")], &[lost("exec zsh", ""), want("echo in", "in", 0)]),
    zsh("Z37_exec_bash", &[Line("exec bash"), Line("echo in")], &[lost("exec bash", ""), want("echo in", "in", 0)]),
    zsh(
        "Z38_bash_inside",
        &[Line("bash"), Line("echo b"), Line("zsh"), Line("echo z"), Line("exit 5"), Line("exit 3"), Line("echo $?")],
        &[
            want("bash", "~\nb\n", 3),
            want("echo b", "b", 0),
            want("zsh", "~\nz\n", 5),
            want("echo z", "z", 0),
            lost("exit 5", "*"),
            lost("exit 3", "exit"),
            want("echo $?", "3", 0),
        ],
    ),
    zsh(
        "Z39_without_startup_files_is_plain",
        &[Type("PS1='p%% ' zsh -f\r", Text("p% ")), Type("echo pl$((1+1))\r", Text("pl2")), Line("exit")],
        &[want("*", "~pl2", 0)],
    ),
    zsh("Z40_not_interactive", &[Line("zsh -c \"echo x; exit 3\"")], &[want("zsh -c \"echo x; exit 3\"", "x", 3)]),
    zsh(
        "ends_with_the_shell",
        &[Line("echo a"), Type("exit 3\r", Gone)],
        &[want("echo a", "a", 0), want("exit 3", "", 3)],
    )
    .check(|terminal| ensure(terminal.log.program_exit() == Some(3), "the shell ended with 3")),
];

const AFTER: Want = want("echo m; true|true", "m", 0).stages(&[0, 0]);

macro_rules! option {
    ($name:literal, $option:literal) => {
        zsh(
            $name,
            &[Line(concat!("setopt ", $option)), Line("echo m; true|true"), Line("print -rn -- $PS1")],
            &[want(concat!("setopt ", $option), "", 0), AFTER, want("print -rn -- $PS1", "$", 0)],
        )
    };
}

/// Options of the person's.
pub(crate) const OPTIONS: &[Row] = &[
    option!("Z42_ksharrays", "ksharrays"),
    option!("Z43_nounset", "nounset"),
    option!("Z44_sh_word_split", "sh_word_split"),
    option!("Z48_ignore_braces", "ignore_braces"),
    option!("Z49_ksh_glob", "ksh_glob"),
    option!("Z50_no_prompt_sp", "no_prompt_sp"),
    option!("Z51_no_prompt_cr", "no_prompt_cr"),
    option!("Z52_prompt_subst", "prompt_subst"),
    option!("Z53_prompt_bang", "prompt_bang"),
    option!("Z54_glob_subst", "glob_subst"),
    option!("Z55_no_bare_glob_qual", "no_bare_glob_qual"),
    option!("Z56_warn_create_global", "warn_create_global"),
    option!("Z56_warn_nested_var", "warn_nested_var"),
    option!("Z57_extended_glob", "extended_glob"),
    option!("Z58_no_multibyte", "no_multibyte"),
    option!("Z58_all_export", "all_export"),
    option!("Z58_null_glob", "null_glob no_nomatch"),
    option!("Z58_no_unset_and_more", "no_unset ksharrays no_short_loops posix_builtins"),
    zsh(
        "Z46_xtrace",
        &[Line("setopt xtrace"), Line("echo m; true|true")],
        &[
            want("setopt xtrace", "", 0),
            want("echo m; true|true", "~^(\\+[a-z/]*zsh:\\d+> (echo m|true)\n?|m\n)+$", 0).stages(&[0, 0]),
        ],
    )
    .check(|terminal| ensure(!terminal.shown().contains("+__dtmcp"), "no trace of ours is shown")),
    zsh(
        "Z47_err_exit",
        &[Line("setopt err_exit"), Line("echo m; true|true"), Type("false\r", Gone)],
        &[want("setopt err_exit", "", 0), AFTER, want("false", "", 1)],
    ),
    zsh(
        "Z59_no_prompt_percent",
        &[Line("setopt no_prompt_percent"), Line("echo npp"), Line("(exit 3)"), Line("setopt prompt_percent")],
        &[want("*", "", 0), want("echo npp", "npp", 0), want("(exit 3)", "", 3), want("*", "", 0)],
    ),
    zsh(
        "Z60_prompt_ends_in_percent",
        &[Line("PS1='x %'"), Line("echo pct")],
        &[want("PS1='x %'", "", 0), want("echo pct", "pct", 0)],
    )
    .check(|terminal| {
        ensure(terminal.lines().iter().any(|line| line.starts_with("x %echo")), "the prompt is as it was")
    }),
    zsh(
        "Z62_right_prompt",
        &[Line("RPS1='%F{red}right%f'"), Line("echo rp"), Line("unset RPS1"), Line("echo on")],
        &[want("*", "", 0), want("echo rp", "rp", 0), want("*", "", 0), want("echo on", "on", 0)],
    ),
];

macro_rules! zshrc {
    ($text:expr) => {
        &[(".zshrc", concat!("PS1='$ '\n", $text, "\n"))]
    };
}

const FIVE: &[crate::terminal::Step] =
    &[Line("echo hi"), Line("false|true"), Line("(exit 7)"), Line("echo st=$?"), Line("printf abc")];
const FIVE_WANTED: &[Want] = &[
    want("echo hi", "hi", 0),
    want("false|true", "", 0).stages(&[1, 0]),
    want("(exit 7)", "", 7),
    want("echo st=$?", "st=7", 0),
    want("printf abc", "abc", 0),
];

const FILES_SAY: &[(&str, &str)] = &[
    (".zshenv", "print env $ZDOTDIR >>~/order\n"),
    (".zprofile", "print profile $ZDOTDIR >>~/order\n"),
    (".zshrc", "print rc $ZDOTDIR >>~/order\nPS1='$ '\n"),
    (".zlogin", "print login $ZDOTDIR >>~/order\n"),
];
const MOVED: &[(&str, &str)] = &[
    (".zshenv", "ZDOTDIR=~/.config/zsh\n"),
    (".config/zsh/.zshrc", "PS1='$ '\nHISTFILE=${ZDOTDIR:-$HOME}/.zhist\nSAVEHIST=5\n"),
];

/// Startup files and what people and frameworks put into them.
pub(crate) const FILES: &[Row] = &[
    zsh("Z66_startup_files_in_order", &[Line("cat ~/order")], &[want("*", "env\nprofile\nrc\nlogin", 0)]).files(FILES_SAY),
    zsh(
        "Z67_moved_startup_files",
        &[Line("print -r -- ${ZDOTDIR#$HOME} ${HISTFILE#$HOME}"), Line("zsh"), Line("echo ${ZDOTDIR#$HOME}"), Line("exit")],
        &[
            want("*", "/.config/zsh /.config/zsh/.zhist", 0),
            want("zsh", "*", 0),
            want("*", "/.config/zsh", 0),
            lost("exit", "*"),
        ],
    )
    .files(MOVED),
    // What is not exported moves no files of a zsh inside, whose first one moves them again.
    zsh(
        "moved_startup_files_of_a_zsh_inside",
        &[
            Line("zsh"),
            Line("cat ~/order"),
            Line("exit"),
            Line("fish"),
            Line("set -g ZDOTDIR /x"),
            Line("zsh"),
            Line("cat ~/order"),
            Line("exit"),
            Line("exit"),
        ],
        &[
            want("zsh", "*", 0),
            want("cat ~/order", "first\nfirst", 0),
            lost("exit", "*"),
            want("fish", "*", 0),
            want("set -g ZDOTDIR /x", "", 0),
            want("zsh", "*", 0),
            want("cat ~/order", "first\nfirst\nfirst", 0),
            lost("exit", "*"),
            lost("exit", "*"),
        ],
    )
    .needs(&["zsh", "fish"])
    .files(&[
        (".zshenv", "print first >>~/order\nZDOTDIR=~/.config/zsh\n"),
        (".config/zsh/.zshenv", "print second >>~/order\n"),
        (".config/zsh/.zshrc", "PS1='$ '\n"),
        (".config/fish/config.fish", "set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n"),
    ]),
    row(
        "Z70_moved_by_the_environment",
        &[
            Line("export ZDOTDIR=~/.config/zsh"),
            Line("exec sh ${__DTMCP_ZDIR%/zsh}/start zsh zsh"),
            Line("print -r -- ${ZDOTDIR#$HOME} ${HISTFILE#$HOME}"),
            Line("zsh"),
            Line("print -r -- ${ZDOTDIR#$HOME}"),
            Line("exit"),
        ],
        &[
            want("*", "", 0),
            lost("*", "*"),
            want("*", "/.config/zsh /.config/zsh/.zhist", 0),
            want("zsh", "*", 0),
            want("*", "/.config/zsh", 0),
            lost("exit", "*"),
        ],
    )
    .needs(&["zsh"])
    .files(MOVED),
    zsh("Z34_history_file", &[Line("print -r -- ${HISTFILE#$HOME} $+ZDOTDIR")], &[want("*", "/.zsh_history 0", 0)])
        .files(zshrc!("HISTFILE=${ZDOTDIR:-$HOME}/.zsh_history")),
    zsh("H0_hooks_thrown_away", FIVE, FIVE_WANTED).files(zshrc!("precmd_functions=() preexec_functions=()")),
    zsh("H4_reset_prompt", FIVE, FIVE_WANTED).files(zshrc!(
        "async() { PS1='later $ '; zle && zle .reset-prompt; zle -F $1; exec {fd}<&- }\n\
         precmd() { PS1='$ '; exec {fd}</dev/null; zle -F $fd async }"
    )),
    zsh("H6_prints_a_blank_line", FIVE, FIVE_WANTED).files(zshrc!("precmd() { print; print printed }\npreexec() { : }")),
    zsh("H7_empty_mark", FIVE, FIVE_WANTED).files(zshrc!("PROMPT_EOL_MARK=\nsetopt notify\nchpwd() { print moved }")),
    zsh("H8_rebuilt_prompt", FIVE, FIVE_WANTED)
        .files(zshrc!("setopt prompt_subst\nmine() { PS1='%B$(print -rn b)%b\n[%?] $ ' RPS1='%*' }\nprecmd_functions+=(mine)")),
    // As powerlevel10k: last at every prompt, whatever else wants to be.
    zsh("H2_last_of_all", FIVE, FIVE_WANTED).files(zshrc!(
        "last() { precmd_functions=(${precmd_functions:#last} last); PS1='p10k $ ' }\nprecmd_functions+=(last)"
    )),
    // As prompts that are worked out beside the line editor.
    zsh(
        "continuation_prompt_set_behind_the_hooks",
        &[Type("echo \"a\r", Continuation), Type("b\r", Continuation), Line("c\""), Line("(exit 7)")],
        &[want("echo \"a\nb\nc\"", "a\nb\nc", 0), want("(exit 7)", "", 7)],
    )
    .files(zshrc!("zle-line-finish() { PS2='more '; }\nzle -N zle-line-finish")),
    zsh("H9_line_editor_taken", FIVE, FIVE_WANTED)
        .files(zshrc!("bindkey -v\nzle-line-init() { : }\nzle -N zle-line-init\nzle-keymap-select() { zle reset-prompt }\nzle -N zle-keymap-select")),
    zsh(
        "H10_hooks_thrown_away_in_a_session",
        &[Line("precmd_functions=(); preexec_functions=()"), Line("(exit 5)"), Line("echo on")],
        &[want("*", "", 0).any_exit(), want("(exit 5)", "", 5), want("echo on", "on", 0)],
    ),
];
