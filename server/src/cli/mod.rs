//! The command line. Each mode is a file of its own; without arguments it is the server over stdio.

mod asking;
mod connect;
pub(crate) mod far;
pub(crate) mod install;
mod logging;
mod person;
mod refused;
mod serve;
mod serve_stdio;
mod stop;
mod streams;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Interactive terminal sessions for AI models, which people can watch and type into.
///
/// Without arguments: an MCP server over standard input and output, to be started by an MCP client. State is kept
/// under $DOCENT_TERMINAL_MCP_HOME (default ~/.local/state/docent-terminal-mcp); the sessions are on the tmux socket
/// $DOCENT_TERMINAL_MCP_SOCKET (default docent-terminal-mcp).
///
/// In a session: `dtmcp ssh [options] [user@]host` and `dtmcp into COMMAND...` open a shell with the integration somewhere
/// else. `dtmcp install [options] [user@]host` puts the integration there for the shells these cannot reach. Each has --help.
#[derive(Debug, Parser)]
#[command(name = "docent-terminal-mcp", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Mode>,
}

#[derive(Debug, Subcommand)]
enum Mode {
    /// Serves any number of clients, over a Unix socket and, if asked, a TCP port
    Serve(serve::Arguments),
    /// Connects an MCP client that starts its servers as commands to the shared server
    Connect(connect::Arguments),
    /// Prints the token that the TCP port asks for
    Token,
    /// Shows every session of the shared server: what runs, where, since when, who
    Status(person::Status),
    /// Closes a session of the shared server
    Close(person::Close),
}

/// Runs the command with these arguments, the program's name not among them.
#[must_use]
pub fn main(args: &[OsString]) -> ExitCode {
    // A client's way of starting costs no parser.
    if args.is_empty() {
        return serve_stdio::main();
    }
    let name = OsString::from("docent-terminal-mcp");
    match Arguments::try_parse_from(std::iter::once(&name).chain(args)) {
        Ok(Arguments { command: None }) => serve_stdio::main(),
        Ok(Arguments { command: Some(mode) }) => match mode {
            Mode::Serve(arguments) => serve::main(&arguments),
            Mode::Connect(arguments) => connect::main(&arguments),
            Mode::Token => person::token(),
            Mode::Status(arguments) => person::status(&arguments),
            Mode::Close(arguments) => person::close(&arguments),
        },
        Err(error) => {
            // Help and version are an "error" of clap's, for standard output; a reader that has gone is no fault.
            drop(error.print());
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
