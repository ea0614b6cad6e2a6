//! That a prompt starts no process.

use dtmcp_tests::needs;
use libtest_mimic::{Failed, Trial};

use crate::row::ensure;
use crate::terminal::{Shell, Step, Terminal, Wait};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("no_process_per_prompt_or_command", || run(Shell::Bash)),
        needs::test("no_process_per_prompt_or_command_in_zsh", &["zsh"], || run(Shell::Zsh)),
        needs::test("no_process_per_prompt_or_command_in_fish", &["fish"], in_fish),
    ]
}

fn run(shell: Shell) -> Result<(), Failed> {
    let files = [
        (".bash_profile", "PS1='$ '\nPROMPT_COMMAND='n=$((n+1))'\n"),
        (".zshrc", "PS1='$ '\nsetopt interactive_comments\n"),
    ];
    let mut terminal = Terminal::start(shell, &files, Wait::Prompt)?;
    terminal.step(Step::Line("true"))?;
    let before = reaped(&terminal)?;
    for line in ["", "true", "cd /tmp", "echo a;false", "# nothing", "echo )", "PS1='% '", ""] {
        terminal.step(Step::Line(line))?;
    }
    ensure(reaped(&terminal)? == before, "the shell reaped a child")?;
    terminal.step(Step::Line("(true)"))?;
    ensure(reaped(&terminal)? != before, "a child would have been seen")
}

fn in_fish() -> Result<(), Failed> {
    let config = "set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n";
    let mut terminal = Terminal::start(Shell::Fish, &[(".config/fish/config.fish", config)], Wait::Prompt)?;
    terminal.step(Step::Line("true"))?;
    let before = reaped(&terminal)?;
    for line in ["", "true", "cd /tmp", "echo 'a;b'; false", "# nothing", "false|true"] {
        terminal.step(Step::Line(line))?;
    }
    terminal.step(Step::Type("begin\r", Wait::Continuation))?;
    terminal.step(Step::Line("end"))?;
    ensure(reaped(&terminal)? == before, "the shell reaped a child")?;
    terminal.step(Step::Line("sh -c true"))?;
    ensure(reaped(&terminal)? != before, "a child would have been seen")
}

/// Page faults of the shell's children that it has waited for (`cminflt` of proc(5)): no child ends without any.
fn reaped(terminal: &Terminal) -> Result<u64, Failed> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", terminal.child.id()))?;
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    Ok(fields.split_whitespace().nth(8).unwrap_or_default().parse()?)
}
