//! `dtmcp install`: the integration's files on another host, for shells that are reached there in some other way.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::thread;

use dtmcp_core::remote::{Fate, Installed, install_script, quoted, remove_script};
use dtmcp_core::waiting::ssh;

use super::far::{NOT_FOUND, say, words, wrong, wrong_option};
use crate::config::Config;
use crate::store::missing::Missing;
use crate::store::shell::{self, INTEGRATION_VERSION};

const HELP: &str = "\
usage: dtmcp install [--print] [--remove] [SSH OPTION...] [USER@]HOST

Puts the shell integration into ~/.local/share/docent-terminal-mcp on HOST, once for each host and user. The tool
shell_integrate then works in shells there that `dtmcp ssh` cannot reach: a plain ssh that is open already, sudo -i
(install for root@HOST), a second hop. Older versions go. --print shows the ssh command with the script and the files in
it, and runs nothing. --remove takes the files away again.";

/// What a host runs: a script comes on its standard input, and nothing of it is left to how a login shell quotes.
const REMOTE: &str = "exec sh";

/// What stands where the script ends in what `--print` shows: no line of it is this.
const END: &str = "END_OF_SCRIPT";

/// How much of what a host prints is looked at, its end: the answer is its last line.
const PRINTED_MAX: usize = 64 * 1024;

/// `dtmcp install`.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let (mut print, mut remove) = (false, false);
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        match first.to_str() {
            Some("--help" | "-h") => {
                say(&mut io::stdout(), HELP);
                return ExitCode::SUCCESS;
            }
            Some("--print") => print = true,
            Some("--remove") => remove = true,
            _ => break,
        }
        rest = after;
    }
    let Some(words) = words(rest) else { return wrong("an argument is not UTF-8", HELP) };
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(option) = ssh::long_option(&borrowed) {
        return wrong_option(option, "install", &["--print", "--remove"], HELP);
    }
    if !ssh::names_host(&borrowed) {
        return wrong("there is no host to install on", HELP);
    }
    if !ssh::takes_command(&borrowed) {
        return wrong(
            "with these arguments ssh would not run the script that installs: leave out a remote command, -t, -N, -n, -f, -W and their like",
            HELP,
        );
    }
    let script = if remove { remove_script() } else { install_script(INTEGRATION_VERSION, shell::FILES) };
    let command: Vec<String> =
        ["ssh".to_owned(), "-T".to_owned()].into_iter().chain(words).chain([REMOTE.to_owned()]).collect();
    if print {
        let line: Vec<String> = command.iter().map(|word| shown(word)).collect();
        say(&mut io::stdout(), &format!("{} <<'{END}'\n{script}{END}", line.join(" ")));
        return ExitCode::SUCCESS;
    }
    match run(&command, &script) {
        Ok((installed, status)) => tell(installed.as_ref(), status, remove),
        Err(error) => {
            say(&mut io::stderr(), &format!("dtmcp: ssh cannot be run: {error}; nothing was changed"));
            ExitCode::from(NOT_FOUND)
        }
    }
}

/// A word as a person would write it.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | ':' | '=' | ',' | '+');
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { quoted(word) }
}

/// Gives the script to ssh. What the host prints is read by us; errors and questions are the person's.
fn run(command: &[String], script: &str) -> io::Result<(Option<Installed>, Option<i32>)> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut ssh = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let printed = converse(&mut ssh, script);
    let status = ssh.wait()?;
    Ok((Installed::read(&printed), status.code()))
}

/// Both at once: a host that prints a long banner first reads nothing meanwhile.
fn converse(ssh: &mut Child, script: &str) -> String {
    let (input, output) = (ssh.stdin.take(), ssh.stdout.take());
    thread::scope(|scope| {
        scope.spawn(|| {
            // A host that reads no further has its own reason, which its answer or its absence tells.
            drop(input.map(|mut input| input.write_all(script.as_bytes())));
        });
        output.map_or_else(String::new, last_of)
    })
}

/// The end of what is printed, read to its end so that ssh can come to its own.
fn last_of(mut output: ChildStdout) -> String {
    let (mut printed, mut buffer) = (Vec::new(), [0; 4096]);
    // What came before an error is what there is.
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        printed.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if printed.len() > 2 * PRINTED_MAX {
            printed.drain(..printed.len() - PRINTED_MAX);
        }
    }
    String::from_utf8_lossy(&printed).into_owned()
}

fn tell(installed: Option<&Installed>, status: Option<i32>, remove: bool) -> ExitCode {
    let Some(Installed { fate, who, gone, directory }) = installed else {
        let why = match status {
            Some(255) => {
                "ssh did not run the script: a wrong option, no login, or a connection that was lost, as it says itself"
                    .to_owned()
            }
            Some(status) => format!("the host did not run the script to its end (status {status})"),
            None => "ssh was killed".to_owned(),
        };
        let what = if remove { "taken away" } else { "installed" };
        say(
            &mut io::stderr(),
            &format!("dtmcp: {why}; nothing is known to be {what}, and it does no harm to try again"),
        );
        return ExitCode::FAILURE;
    };
    let gone = gone.join(", ");
    let mut lines = Vec::new();
    match fate {
        Fate::Put => lines.push(format!(
            "installed: version {INTEGRATION_VERSION} of the shell integration, {} files, in {directory} for {who}",
            shell::FILES.len()
        )),
        Fate::Same => lines.push(format!(
            "already there: version {INTEGRATION_VERSION} of the shell integration, in {directory} for {who}"
        )),
        Fate::Removed => lines.push(format!("removed: {gone} from {directory} for {who}")),
        Fate::None => lines.push(format!("nothing to remove: {directory} for {who} holds no version")),
        Fate::Failed => return ExitCode::FAILURE,
    }
    if matches!(fate, Fate::Put | Fate::Same) {
        if !gone.is_empty() {
            lines.push(format!("removed: {gone}, which {} older", if gone.contains(',') { "were" } else { "was" }));
        }
        forget(who);
        lines.push(
            "next: at a shell's prompt there, the tool shell_integrate integrates it (each new shell anew)".to_owned(),
        );
    }
    for line in lines {
        say(&mut io::stdout(), &line);
    }
    ExitCode::SUCCESS
}

/// That the files are missing there holds no more, should a server of this state directory remember it.
fn forget(who: &str) {
    let homes = Config::from_env().ok().map(|config| config.home).into_iter().chain(home_of_this_copy());
    for home in homes {
        if let Err(error) = Missing::of(&home).forget(|entry| entry.who == *who) {
            say(
                &mut io::stderr(),
                &format!("dtmcp: {error}; a server may go on for some hours to call the files missing"),
            );
        }
    }
}

/// The state directory that this program lies in, where it is the copy that sessions have on their PATH: their
/// environment names no state directory.
fn home_of_this_copy() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let home = program.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
    home.join("lock").is_file().then(|| home.to_owned())
}
