//! What people and distributions put into prompts and prompt commands, with the same four commands after each.

use crate::row::{Row, Want, ensure, fish, lost, row, want, zsh};
use crate::terminal::Step::{self, Line, Type};
use crate::terminal::Wait::{End, Text};

const FOUR: &[Step] = &[Line("echo hi"), Line("false|true"), Line("(exit 7)"), Line("echo st=$? $_")];
const FOUR_WANTED: &[Want] = &[
    want("echo hi", "hi", 0),
    want("false|true", "", 0).stages(&[1, 0]),
    want("(exit 7)", "", 7),
    want("echo st=$? $_", "st=7 hi", 0),
];
/// A DEBUG trap changes `$_`, with or without the integration.
const TRAPPED_WANTED: &[Want] = &[FOUR_WANTED[0], FOUR_WANTED[1], FOUR_WANTED[2], want("echo st=$? $_", "~^st=7 ", 0)];
const STRICT: &[Step] = &[
    Line("set -eu"),
    Line("set -o pipefail; set -ET"),
    Line("shopt -s failglob nullglob extdebug"),
    Line("IFS=_"),
    Line("echo hi"),
    Line("true|true"),
];
const STRICT_WANTED: &[Want] = &[
    want("*", "", 0),
    want("*", "", 0),
    want("*", "", 0),
    want("*", "", 0),
    want("echo hi", "hi", 0),
    want("true|true", "", 0).stages(&[0, 0]),
];
const UNMARKED: &[Step] =
    &[Type("echo hi\r", End), Type("false|true\r", End), Type("(exit 7)\r", End), Type("echo st=$? $_\r", End)];
const UNMARKED_WANTED: &[Want] =
    &[want("*", "hi", 0), want("*", "", 0).stages(&[1, 0]), want("*", "", 7), want("*", "st=7 hi", 0)];
const NESTED: &[Step] = &[Line("bash"), Line("echo in"), Line("false"), Line("exit 3")];
const NESTED_WANTED: &[Want] =
    &[want("bash", "*", 3), want("echo in", "in", 0), want("false", "", 1), lost("exit 3", "*")];

/// In a bash inside whose startup file sets `PROMPT_COMMAND` anew, the first prompt has no marks, so nothing tells what is
/// typed there. All else is told.
const SET_ANEW: &[Step] = &[
    Type("bash\r", Text("$ ")),
    Line("echo first; (exit 2) | (exit 3)"),
    Line("echo in $mine"),
    Line("false|true"),
    Line("(exit 7)"),
    Line("echo $? $_"),
    Line("exit 3"),
    Line("echo $?"),
];
const SET_ANEW_WANTED: &[Want] = &[
    want("bash", "~\nfirst\n", 3),
    want("", "~^first", 3).stages(&[2, 3]),
    want("echo in $mine", "~^in [1-9]$", 0),
    want("false|true", "", 0).stages(&[1, 0]),
    want("(exit 7)", "", 7),
    want("echo $? $_", "~^7 [12]$", 0),
    lost("exit 3", "*"),
    want("echo $?", "3", 0),
];
/// As there, with a DEBUG trap, which changes `$_`.
const COUNTED: &[Step] = &[
    Type("bash\r", Text("$ ")),
    Line("echo first"),
    Line("echo in $mine"),
    Line("(exit 7)"),
    Line("exit 3"),
    Line("echo $?"),
];
const COUNTED_WANTED: &[Want] = &[
    want("bash", "~\nfirst\n", 3),
    want("", "first", 0),
    want("echo in $mine", "in 1", 0),
    want("(exit 7)", "", 7),
    lost("exit 3", "*"),
    want("echo $?", "3", 0),
];

const SET_ANEW_IN_DASH: &[Step] =
    &[Type("dash -c 'bash; exit 4'\r", Text("$ ")), Line("(exit 6)"), Line("(exit 7)"), Line("exit")];
const SET_ANEW_IN_DASH_WANTED: &[Want] =
    &[want("*", "*", 4), want("", "", 6), want("(exit 7)", "", 7), lost("exit", "*")];
const KEPT: &[Step] = &[
    Type("bash\r", Text("h$ ")),
    Type("echo pl$((1+1))\r", Text("h$ ")),
    Type("(exit 6)\r", Text("h$ ")),
    Line("exit"),
];
const KEPT_WANTED: &[Want] = &[want("bash", "~\npl2\n\\$ \\(exit 6\\)\n\\$ exit\nexit$", 6)];

/// A home whose `.bashrc` a login shell reads too, as on Debian.
macro_rules! bashrc {
    ($text:expr) => {
        &[(".bash_profile", ". ~/.bashrc\n"), (".bashrc", concat!("PS1='$ '\n", $text, "\n"))]
    };
}

/// Each hands a line on that names zsh.
const OTHER_USERS: &[Step] = &[
    Line("su nobody -s /bin/sh -c 'echo \"[$ZDOTDIR]\"' zsh"),
    Line("runuser -u nobody -- sh -c 'echo \"[$ZDOTDIR]\"' zsh"),
    Line("setpriv --reuid nobody sh -c 'echo \"[$ZDOTDIR]\"' zsh"),
];
const OTHER_USERS_WANTED: &[Want] = &[want("*", "[]", 0), want("*", "[]", 0), want("*", "[]", 0)];
const STRING: &[(&str, &str)] = bashrc!(r#"PROMPT_COMMAND='echo "$?,$_,${PIPESTATUS[*]}" >> ~/seen; history -a;'"#);
const ARRAY: &[(&str, &str)] =
    bashrc!(r#"PROMPT_COMMAND=('echo "$?,$_,${PIPESTATUS[*]}" >> ~/seen' 'echo "$?,${PIPESTATUS[*]}" >> ~/seen2')"#);
/// As systemd 258 puts it into `/etc/profile.d`.
const SYSTEMD: &[(&str, &str)] = bashrc!(
    r#"__ctx() { printf '\e]3008;end;exit=%s\e\\' $?; }
__ctx0() { printf '\e]3008;start=x\e\\'; }
PROMPT_COMMAND+=(__ctx)
PS0='$(__ctx0)'$PS0"#
);
const TIMER: &[(&str, &str)] = bashrc!(
    r#"timer_start() { timer=${timer:-$SECONDS}; }
timer_stop() { timer_show=$((SECONDS - timer)); unset timer; }
trap 'timer_start' DEBUG
if [ "$PROMPT_COMMAND" == "" ]; then PROMPT_COMMAND="timer_stop"; else PROMPT_COMMAND="$PROMPT_COMMAND; timer_stop"; fi
PS1='[${timer_show}s] $ '"#
);
/// As liquidprompt 2.2 has it: before every command it looks at the last prompt command, which only an array has.
const FROM_THE_END: &[(&str, &str)] = bashrc!(
    r#"before() { last=${PROMPT_COMMAND[-1]}; }
unset PROMPT_COMMAND
PROMPT_COMMAND+=('mine=1')
trap before DEBUG"#
);
const TITLE: &[(&str, &str)] = bashrc!(r#"trap 'printf "\e]0;%s\a" "$BASH_COMMAND" >&2' DEBUG"#);

const PREEXEC: &[(&str, &str)] = bashrc!(
    r#"__bp_preexec_interactive_mode=
pre_trap() {
    [[ -t 1 && -n $__bp_preexec_interactive_mode ]] || return 0
    __bp_preexec_interactive_mode=
    [[ $'\n'$PROMPT_COMMAND$'\n' != *$'\n'"$BASH_COMMAND"$'\n'* ]] || return 0
    printf '%s\n' "$BASH_COMMAND" >>~/pre
}
pre_cmd() { return $?; }
pre_on() { __bp_preexec_interactive_mode=on; }
pre_install() {
    trap pre_trap DEBUG
    PROMPT_COMMAND=$'pre_cmd\n'"${PROMPT_COMMAND//$'pre_install'/}"$'\n'pre_on
    echo installed >>~/pre
    pre_on
}
PROMPT_COMMAND="saw=\$((saw+1))${PROMPT_COMMAND:+
$PROMPT_COMMAND}
pre_install""#
);

/// What a prompt command saw of the four commands.
fn saw(terminal: &crate::terminal::Terminal, file: &str, wanted: &[&str]) -> Result<(), libtest_mimic::Failed> {
    let seen = std::fs::read_to_string(terminal.home.path().join(file))?;
    let lines: Vec<&str> = seen.lines().skip(1).collect();
    ensure(lines == wanted, &format!("{file} holds {lines:?}"))
}

pub(crate) const ROWS: &[Row] = &[
    row("F1_plain", FOUR, FOUR_WANTED),
    // A hook that stopped half-way would leave this prompt without its marks.
    row("F3_rebuilt_prompt_under_strict_options", STRICT, STRICT_WANTED)
        .files(bashrc!("PROMPT_COMMAND='PS1=\"$ \"; PS2=\"> \"; PS0='")),
    row("F2_plain_nested", NESTED, NESTED_WANTED),
    row("F3_string", FOUR, FOUR_WANTED)
        .files(STRING)
        .check(|terminal| saw(terminal, "seen", &["0,hi,0", "0,hi,1 0", "7,hi,7", "0,hi,0"])),
    row("F5_array", FOUR, FOUR_WANTED).files(ARRAY).check(|terminal| {
        saw(terminal, "seen", &["0,hi,0", "0,hi,1 0", "7,hi,7", "0,hi,0"])?;
        saw(terminal, "seen2", &["0,0", "0,1 0", "7,7", "0,0"])
    }),
    row("F5_array_counted_from_the_end", FOUR, TRAPPED_WANTED).files(FROM_THE_END),
    row("F6_array_counted_from_the_end_nested", COUNTED, COUNTED_WANTED).files(FROM_THE_END),
    row("F7_prepended", FOUR, FOUR_WANTED).files(bashrc!(r#"PROMPT_COMMAND="history -a; $PROMPT_COMMAND""#)),
    row("F8_prepended_nested", NESTED, NESTED_WANTED).files(bashrc!(r#"PROMPT_COMMAND="history -a; $PROMPT_COMMAND""#)),
    row("F8_appended_nested", NESTED, NESTED_WANTED)
        .files(bashrc!(r#"PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND; }history -a""#)),
    row("F4_string_nested", SET_ANEW, SET_ANEW_WANTED).files(bashrc!("PROMPT_COMMAND='mine=$((mine+1))'")),
    row("F4_exported_string_nested", SET_ANEW, SET_ANEW_WANTED)
        .files(bashrc!("export PROMPT_COMMAND='history -a; mine=$((${mine-0}+1))'; set -u")),
    row("F6_array_nested", SET_ANEW, SET_ANEW_WANTED)
        .files(bashrc!("unset PROMPT_COMMAND; PROMPT_COMMAND=(': $mine' 'mine=$((mine+1))')")),
    row("F6_emptied_nested", SET_ANEW, SET_ANEW_WANTED).files(bashrc!("PROMPT_COMMAND=; mine=1")),
    row("F6_set_anew_in_a_bash_in_a_dash", SET_ANEW_IN_DASH, SET_ANEW_IN_DASH_WANTED)
        .files(bashrc!("PROMPT_COMMAND='history -a'"))
        .needs(&["dash"]),
    // What cannot be changed stays, and nothing is said of it: the shell is a plain one.
    row("F6_set_for_good_nested", KEPT, KEPT_WANTED)
        .files(bashrc!("PROMPT_COMMAND=:; readonly PROMPT_COMMAND; set -u")),
    row("F6_unset_for_good_nested", KEPT, KEPT_WANTED).files(bashrc!("unset PROMPT_COMMAND; readonly PROMPT_COMMAND")),
    row("F6_number_nested", KEPT, KEPT_WANTED)
        .files(bashrc!("unset PROMPT_COMMAND; declare -i PROMPT_COMMAND=0; 0() { :; }")),
    row("F10_prints_nested", SET_ANEW, SET_ANEW_WANTED).files(bashrc!("PROMPT_COMMAND='echo; echo printed; mine=1'")),
    row("F12_fails_and_forks_nested", SET_ANEW, SET_ANEW_WANTED)
        .files(bashrc!("PROMPT_COMMAND='(sleep 0 &); mine=1; false'")),
    row("F40_histappend_nested", SET_ANEW, SET_ANEW_WANTED)
        .files(bashrc!("shopt -s histappend; PROMPT_COMMAND='history -a; history -c; history -r; mine=1'")),
    // As starship and oh-my-posh: what was there is called from inside, and the prompt is made anew after it. So the
    // first prompt inside has no marks but its end marker.
    row(
        "F22_rebuilt_prompt_nested",
        &[Type("bash\r", End), Line("echo in"), Line("false"), Line("exit 3")],
        &[want("bash", "*", 3), want("*", "in", 0), want("false", "", 1), lost("exit 3", "*")],
    )
    .files(bashrc!(
        r#"found=${PROMPT_COMMAND-}
framework() { local st=$?; eval "$found"; PS1="[$st] "'$ '; }
PROMPT_COMMAND=framework"#
    )),
    row("F9_prints", FOUR, FOUR_WANTED).files(bashrc!("PROMPT_COMMAND='echo; echo printed'")),
    row("F11_fails_and_forks", FOUR, FOUR_WANTED).files(bashrc!("PROMPT_COMMAND='(sleep 0 &); false'")),
    row(
        "F13_readonly_prompt_command",
        FOUR,
        &[
            want("echo hi", "hi", 0),
            want("false|true", "", 0),
            want("(exit 7)", "", 7),
            want("echo st=$? $_", "st=7 hi", 0),
        ],
    )
    .files(bashrc!("PROMPT_COMMAND=:; readonly PROMPT_COMMAND")),
    row("F14_readonly_prompt", UNMARKED, UNMARKED_WANTED).files(bashrc!("readonly PS1")).ready(End),
    row("F15_exported_prompt", FOUR, FOUR_WANTED).files(bashrc!("export PS1")),
    row("F16_exported_prompt_nested", NESTED, NESTED_WANTED).files(bashrc!("export PS1 PS2")),
    row(
        "exported_prompt_shows_nothing_of_ours_elsewhere",
        &[
            Line("export PS1='me> ' PS2='more> '"),
            Line("dash -ic 'echo \"[$PS1$PS2]\"' | grep -c dtmcp"),
            Line("env | grep '^PS[12]='"),
            Line("set -a; PS1='other> '"),
            Line("env | grep '^PS[12]='"),
            Line("bash --norc"),
            Line("(exit 3)"),
            Line("exit"),
        ],
        &[
            want("*", "", 0),
            want("*", "0", 1).any_stages(),
            want("*", "", 1).any_stages(),
            want("*", "", 0),
            want("*", "", 1).any_stages(),
            want("bash --norc", "*", 3),
            want("(exit 3)", "", 3),
            lost("exit", "exit"),
        ],
    )
    .check(|terminal| {
        let lines = terminal.lines();
        let inside = lines.iter().any(|line| line.starts_with("other> (exit 3)"));
        ensure(inside, &format!("a bash without startup files has the exported prompt: {lines:?}"))
    }),
    // The other user's zsh could not read what it names.
    row("su_hands_on_no_zdotdir", OTHER_USERS, OTHER_USERS_WANTED).needs(&["su", "runuser", "setpriv", "root"]),
    zsh("su_in_zsh_hands_on_no_zdotdir", OTHER_USERS, OTHER_USERS_WANTED)
        .needs(&["zsh", "su", "runuser", "setpriv", "root"]),
    fish("su_in_fish_hands_on_no_zdotdir", OTHER_USERS, OTHER_USERS_WANTED)
        .needs(&["fish", "zsh", "su", "runuser", "setpriv", "root"]),
    row("F17_prompt_of_two_lines_with_a_command", FOUR, FOUR_WANTED).files(bashrc!("PS1='a $(echo b)\\n$ '")),
    row("F18_prompt_of_two_lines_nested", NESTED, NESTED_WANTED).files(bashrc!("PS1='a $(echo b)\\n$ '")),
    row("F19_ps0", FOUR, FOUR_WANTED).files(bashrc!("PS0='started\\n'")),
    row("F20_ps0_nested", NESTED, NESTED_WANTED).files(bashrc!("PS0='started\\n'")),
    row("F25_systemd", FOUR, FOUR_WANTED).files(SYSTEMD),
    row("F26_systemd_nested", NESTED, NESTED_WANTED).files(SYSTEMD),
    // Nothing but the next one's start ends a line of it, and what PS0 runs leaves a status, too.
    row(
        "F26_systemd_paste",
        &[Type("\x1b[200~echo a\n(exit 5)\necho c\x1b[201~", Text("echo c")), Line("")],
        &[want("echo a", "a", 0), want("(exit 5)", "", 5), want("echo c", "c", 0)],
    )
    .files(SYSTEMD),
    row(
        "F26_systemd_exports_all_nested",
        &[Line("set -a; PS1='other> '"), Line("bash --norc"), Line("(exit 3)"), Line("exit")],
        &[want("*", "", 0), want("bash --norc", "*", 3), want("(exit 3)", "", 3), lost("exit", "exit")],
    )
    .files(SYSTEMD)
    .check(|terminal| {
        let strange = terminal.lines().into_iter().find(|line| line.contains("not found"));
        ensure(strange.is_none(), &format!("its PS0 stays where its function is: {strange:?}"))
    }),
    row("F35_timer", FOUR, TRAPPED_WANTED).files(TIMER),
    row("F36_timer_nested", NESTED, NESTED_WANTED).files(TIMER),
    row("F37_title", FOUR, TRAPPED_WANTED).files(TITLE),
    row("F38_title_nested", NESTED, NESTED_WANTED).files(TITLE),
    row("F39_histappend", FOUR, FOUR_WANTED)
        .files(bashrc!("shopt -s histappend; PROMPT_COMMAND='history -a; history -c; history -r'")),
    row("G4_prompt_ends_in_a_backslash", FOUR, FOUR_WANTED).files(bashrc!(r"PS1='a\\'")).check(|terminal| {
        let shown = terminal.lines().iter().filter(|line| line.starts_with("a\\echo")).count();
        ensure(shown == 2, "the prompt shows its one backslash")
    }),
    row("G6_prompt_ends_in_a_lone_backslash", FOUR, FOUR_WANTED).files(bashrc!(r"PS1='a\'")).check(|terminal| {
        let shown = terminal.lines().iter().filter(|line| line.starts_with("a\\echo")).count();
        ensure(shown == 2, "the prompt shows its one backslash")
    }),
    row("G7_lone_backslash_nested", NESTED, NESTED_WANTED).files(bashrc!(r"PS1='a\'")),
    // bash-preexec's installer runs at the first prompt and takes itself out of PROMPT_COMMAND. It takes the lines
    // there for what it must not report, and is armed by the last of them.
    row("F27_preexec_functions", FOUR, TRAPPED_WANTED).files(PREEXEC).check(|terminal| {
        let seen = std::fs::read_to_string(terminal.home.path().join("pre"))?;
        ensure(
            seen == "installed\necho hi\nfalse\necho st=$? $_\n",
            &format!("each command once, none of ours: {seen:?}"),
        )
    }),
    row(
        "prompt_command_that_fails_under_nounset",
        &[Line("set -u"), Line("echo m"), Line("(exit 7)"), Line("set +u"), Line("echo $?")],
        &[want("*", "", 0), want("echo m", "m", 0), want("(exit 7)", "", 7), want("*", "", 0), want("echo $?", "0", 0)],
    )
    .files(bashrc!("PROMPT_COMMAND='x=$no_such_variable; y=1'")),
    row("prompt_command_ends_in_a_line_break", FOUR, FOUR_WANTED)
        .files(bashrc!("PROMPT_COMMAND=$'history -a\n'; PROMPT_COMMAND=\"${PROMPT_COMMAND}x=1;\"$'\n'")),
    row("prompt_command_ends_in_a_line_break_nested", NESTED, NESTED_WANTED)
        .files(bashrc!("PROMPT_COMMAND=${PROMPT_COMMAND-:}$'\nhistory -a;\n'")),
    row("prompt_with_a_command_over_lines", FOUR, FOUR_WANTED)
        .files(bashrc!("PS1='$(if true; then\necho one\nelse\necho two\nfi)\n$ '"))
        .check(|terminal| {
            let shown = terminal.lines().iter().filter(|line| *line == "one").count();
            ensure(shown == 5, &format!("each prompt shows its first line: {shown}"))
        }),
    row("F28_preexec_functions_nested", NESTED, NESTED_WANTED).files(PREEXEC),
    row(
        "prompt_command_replaced_in_a_session",
        &[
            Line("PROMPT_COMMAND='short=1'"),
            Line("(exit 5)"),
            Line(
                "PROMPT_COMMAND='long=1 # a prompt command that is longer than the hook, so that its length alone does \
                  not tell that the hook is gone; it would have to be read, and it is; here it ends at last, or nearly so'",
            ),
            Line("(exit 6)"),
            Line("unset PROMPT_COMMAND"),
            Line("(exit 7)"),
        ],
        &[
            want("*", "", 0),
            want("(exit 5)", "", 5),
            want("*", "", 0),
            want("(exit 6)", "", 6),
            want("*", "", 0),
            want("(exit 7)", "", 7),
        ],
    ),
    row(
        "prompt_command_added_to_in_a_session",
        &[
            Line("PROMPT_COMMAND=\"$PROMPT_COMMAND; echo after\""),
            Line("PROMPT_COMMAND+=('echo more')"),
            Line("PROMPT_COMMAND=\"echo before; $PROMPT_COMMAND\""),
            Line("(exit 5)"),
        ],
        &[want("*", "", 0), want("*", "", 0), want("*", "before", 0), want("(exit 5)", "", 5)],
    )
    .check(|terminal| {
        let lines = terminal.lines();
        let end = lines.len().saturating_sub(4);
        ensure(lines[end..] == ["before", "after", "more", "$"], &format!("each runs once, in order: {lines:?}"))
    }),
    row("framework_that_calls_what_it_found", FOUR, FOUR_WANTED)
        .files(bashrc!(
            r#"PROMPT_COMMAND='was=$((was+1))'
old=$PROMPT_COMMAND
framework() { local st=$?; eval "$old"; PS1="[$st $was]"'$ '; }
PROMPT_COMMAND=framework"#
        ))
        .check(|terminal| {
            ensure(terminal.lines().iter().any(|line| line.starts_with("[7 4]")), "the framework's prompt stands")
        }),
];
