//! `dtmcp ssh` and `dtmcp into`: a shell with the integration somewhere else.
//!
//! Both end as the program they start, so that the terminal, the signals and the exit status are its own. Outside a
//! session there is nobody to read the markers, and nothing is brought along.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use dtmcp_core::place::{Takes, shell_asked, takes};
use dtmcp_core::remote::{CARRIED, escapable, names, quoted, remote_command, remote_words, script};
use dtmcp_core::vt::marker::Nonce;
use dtmcp_core::waiting::ssh;

use crate::config;
use crate::pane::NONCE_VARIABLE;
use crate::store::shell;

/// What a shell answers for a wrong call, and for a program that is not there or cannot be run.
pub(super) const WRONG_CALL: u8 = 2;
pub(super) const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;

/// The nonce that `--print` shows.
const SHOWN: &str = "ffffffffffffffff";

/// With which ssh opens a terminal for the command it is given. Where a configuration has a command for the host, ssh refuses
/// another one beside it.
const SSH_OPTIONS: [&str; 3] = ["-t", "-o", "RemoteCommand=none"];

const SSH_HELP: &str = "\
usage: dtmcp ssh [--print] [SSH OPTION...] [USER@]HOST

In a session, in place of ssh: logs in with the shell integration, so that each command there has its own output and exit
status. A small script goes along as ssh's remote command; nothing is installed and nothing stays behind. Options that open no
shell (a remote command, -N, -T, -W, ...) run ssh as it is; a RemoteCommand of ssh's configuration is left out. --print shows
the command without running it. The variables that $DOCENT_TERMINAL_MCP_SSH_ENV names are set on the far side too.";

const INTO_HELP: &str = "\
usage: dtmcp into [--print] COMMAND [ARGUMENT...]

In a session: runs COMMAND with a shell behind it that has the integration, for whatever opens a terminal somewhere else:
    dtmcp into podman exec -it box
    dtmcp into docker run --rm -it debian bash
    dtmcp into sudo -i
    dtmcp into ssh build7 podman exec -it box
    dtmcp into bwrap --bind / / --dev /dev --proc /proc --unshare-pid --
The variables that $DOCENT_TERMINAL_MCP_SSH_ENV names are set there too. --print shows the command without running it.";

/// `dtmcp ssh`.
pub(crate) fn ssh(args: &[OsString]) -> ExitCode {
    let Some((print, args)) = begin(args, SSH_HELP) else { return ExitCode::SUCCESS };
    let Some(words) = words(args) else { return wrong("an argument is not UTF-8", SSH_HELP) };
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(option) = ssh::long_option(&borrowed) {
        return wrong_option(option, "ssh", &["--print"], SSH_HELP);
    }
    let carried = match (print, what_is_carried(None)) {
        (true, _) => Some(shown(None)),
        (false, carried) => carried,
    };
    let mut command = vec!["ssh".to_owned()];
    match carried.filter(|_| ssh::is_login(&borrowed)) {
        Some(carried) => {
            command.extend(SSH_OPTIONS.map(str::to_owned));
            command.extend(words);
            command.push(remote_command(&carried));
        }
        // A remote command, -N, -W and the like open no shell, and are ssh's own business.
        None => command.extend(words),
    }
    become_it(&command, print)
}

/// `dtmcp into`.
pub(crate) fn into(args: &[OsString]) -> ExitCode {
    let Some((print, args)) = begin(args, INTO_HELP) else { return ExitCode::SUCCESS };
    let Some(words) = words(args).filter(|words| !words.is_empty()) else {
        return wrong("there is no command to run", INTO_HELP);
    };
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(option) = borrowed.first().filter(|word| word.starts_with('-')) {
        return wrong_option(option, "into", &["--print"], INTO_HELP);
    }
    // A shell at the end would be given the script's name for a file of commands.
    let (command, asked) = match shell_asked(&borrowed) {
        Some((at, shell)) => (borrowed.get(..at).unwrap_or_default(), Some(shell)),
        None => (borrowed.as_slice(), None),
    };
    let carried = if print { Some(shown(asked)) } else { what_is_carried(asked) };
    let Some(script) = carried else {
        return wrong("this is no session of dtmcp: there is nobody to integrate the shell for", INTO_HELP);
    };
    match given(command, &script) {
        Ok(command) => become_it(&command, print),
        Err(why) => wrong(&why, INTO_HELP),
    }
}

/// The command with the script for it, or why it takes none.
fn given(command: &[&str], script: &str) -> Result<Vec<String>, String> {
    let mut given: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    match takes(command) {
        Takes::Words => given.extend(["sh".to_owned(), "-c".to_owned(), script.to_owned()]),
        Takes::Escaped => given.extend(["sh".to_owned(), "-c".to_owned(), escapable(script)]),
        Takes::Line(option) => given.extend([option.to_owned(), remote_command(script)]),
        Takes::Joined(at) => {
            let options: &[&str] =
                if command.get(at).is_some_and(|ssh| ssh.ends_with("dbclient")) { &["-t"] } else { &SSH_OPTIONS };
            given.splice(at + 1..=at, options.iter().map(|option| (*option).to_owned()));
            given.push(remote_words(script));
        }
        Takes::NoTerminal(option) => {
            let command = command.join(" ");
            return Err(format!(
                "`{command}` opens no terminal without {option}, and a shell there would have none; give it {option}"
            ));
        }
        Takes::Occupied => {
            let command = command.join(" ");
            return Err(format!(
                "`{command}` takes no script along. Start it without `dtmcp into`; at the prompt of the shell that it leads to, the tool shell_integrate does the rest"
            ));
        }
        Takes::Screen => {
            return Err(
                "a terminal multiplexer has a screen of its own, on which no command's output can be told apart; start it without `dtmcp into`"
                    .to_owned(),
            );
        }
    }
    Ok(given)
}

/// Whether to print, and the rest; none where help was asked for and given.
fn begin<'a>(args: &'a [OsString], help: &str) -> Option<(bool, &'a [OsString])> {
    match args.split_first() {
        Some((first, _)) if first == "--help" || first == "-h" => {
            say(&mut io::stdout(), help);
            None
        }
        Some((first, rest)) if first == "--print" => Some((true, rest)),
        _ => Some((false, args)),
    }
}

/// Says what is wrong with an option, and where those stand that there are.
pub(super) fn wrong_option(option: &str, name: &str, own: &[&str], help: &str) -> ExitCode {
    let why = if own.contains(&option) || option == "--help" {
        format!("{option} stands before all other arguments: dtmcp {name} {option} ...")
    } else if name == "into" {
        format!("{option} is no option of dtmcp into: COMMAND comes first, with its options behind it")
    } else {
        let own = own.join(" and ");
        format!("{option} is no option of dtmcp {name}, which has {own}, and ssh's own begin with one dash")
    };
    wrong(&why, help)
}

pub(super) fn words(args: &[OsString]) -> Option<Vec<String>> {
    args.iter().map(|arg| arg.to_str().map(str::to_owned)).collect()
}

/// The script, with this session's nonce, for the shell that was asked for or the login shell; none outside a session.
fn what_is_carried(asked: Option<&str>) -> Option<String> {
    let nonce = config::variable(NONCE_VARIABLE).and_then(|text| Nonce::new(&text))?;
    let list = config::variable(CARRIED).unwrap_or_default();
    let mut variables: Vec<(String, String)> =
        names(&list).into_iter().filter_map(|name| Some((name.to_owned(), config::variable(name)?))).collect();
    if !variables.is_empty() {
        // For the next hop.
        variables.push((CARRIED.to_owned(), list));
    }
    variables.extend(as_login_shell(asked));
    Some(script(&nonce, shell::FILES, &variables))
}

/// The script as `--print` shows it: without a nonce and without the values of variables.
fn shown(asked: Option<&str>) -> String {
    let variables: Vec<(String, String)> = as_login_shell(asked).collect();
    Nonce::new(SHOWN).map_or_else(String::new, |nonce| script(&nonce, shell::FILES, &variables))
}

/// The script starts the login shell, which the environment names.
fn as_login_shell(asked: Option<&str>) -> impl Iterator<Item = (String, String)> {
    asked.map(|shell| ("SHELL".to_owned(), shell.to_owned())).into_iter()
}

fn become_it(command: &[String], print: bool) -> ExitCode {
    if print {
        let line: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        say(&mut io::stdout(), &line.join(" "));
        return ExitCode::SUCCESS;
    }
    let Some((program, arguments)) = command.split_first() else { return ExitCode::from(WRONG_CALL) };
    let error = Command::new(program).args(arguments).exec();
    say(&mut io::stderr(), &format!("dtmcp: cannot run {program}: {error}"));
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE })
}

pub(super) fn wrong(what: &str, help: &str) -> ExitCode {
    say(&mut io::stderr(), &format!("dtmcp: {what}\n{help}"));
    ExitCode::from(WRONG_CALL)
}

pub(super) fn say(to: &mut dyn io::Write, what: &str) {
    // A reader that has gone is no fault.
    drop(writeln!(to, "{what}"));
}
