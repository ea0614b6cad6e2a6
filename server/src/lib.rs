//! The server of docent-terminal-mcp: MCP in front, tmux behind, a session task between.

#![forbid(unsafe_code)]

pub mod ancestor;
pub mod bridge;
pub mod calls;
pub mod cli;
pub mod config;
pub mod descriptors;
pub mod driver;
pub mod feed;
pub mod host;
pub mod http;
pub mod hub;
pub mod mcp;
pub mod pane;
pub mod record;
pub mod store;
pub mod systemd;
pub mod terminal;
pub mod updates;

use std::ffi::OsString;
use std::process::ExitCode;

/// The command. The modes that every pane runs come first: they have to start in a millisecond.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.split_first() {
        Some((mode, rest)) if mode == "pane" => pane::main(rest),
        Some((mode, rest)) if mode == "record" => record::main(rest),
        Some((mode, rest)) if mode == "ancestor" => ancestor::main(rest),
        Some((mode, rest)) if mode == "ssh" => cli::far::ssh(rest),
        Some((mode, rest)) if mode == "into" => cli::far::into(rest),
        Some((mode, rest)) if mode == "install" => cli::install::main(rest),
        _ => cli::main(&args),
    }
}
