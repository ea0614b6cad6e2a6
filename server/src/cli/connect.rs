//! The bridge that a client starts in place of a server.

use std::process::ExitCode;

use tracing::Level;

use super::{logging, refused, streams};
use crate::bridge;
use crate::config::Config;

/// What `connect` takes.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The agent's name, in regions, notes and logs [default: the client's own name and a number]
    #[arg(long, value_name = "NAME", value_parser = name)]
    actor: Option<String>,
}

fn name(text: &str) -> Result<String, String> {
    if crate::mcp::agent::is_name(text) {
        return Ok(text.to_owned());
    }
    Err("a name is 1 to 64 letters, digits, `.`, `_`, `-`, `#` and `@`, and not `human`".to_owned())
}

/// Serves one client until it leaves, or no server is left to reach.
pub(super) fn main(arguments: &Arguments) -> ExitCode {
    logging::to_stderr(Level::WARN);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "cannot start");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        let (read, write) = streams::standard();
        let config = match Config::from_env() {
            Ok(config) => config,
            Err(error) => {
                tracing::error!("{error}");
                refused::answer(read, write, &error.to_string()).await;
                return ExitCode::FAILURE;
            }
        };
        match bridge::run(read, write, config.server_socket(), arguments.actor.clone()).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                tracing::error!("{why}");
                ExitCode::FAILURE
            }
        }
    });
    // Where standard input is no pipe, a thread hangs in reading it, and waiting for it would be for ever.
    runtime.shutdown_background();
    code
}
