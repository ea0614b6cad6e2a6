//! The server over standard input and output: one client, which started us and whose end is our end.

use std::process::ExitCode;
use std::sync::Arc;

use tracing::Level;

use super::{logging, refused, stop, streams};
use crate::calls::CallLog;
use crate::config::Config;
use crate::descriptors;
use crate::mcp::desk::Desk;
use crate::mcp::serve::serve_client;

/// Two threads: one may be busy with a long output while the other answers.
const THREADS: usize = 2;

/// Serves one client and returns when it is gone.
pub(super) fn main() -> ExitCode {
    logging::to_stderr(Level::WARN);
    descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "cannot start");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(serve());
    // Where standard input is no pipe, a thread hangs in reading it, and waiting for it would be for ever.
    runtime.shutdown_background();
    code
}

async fn serve() -> ExitCode {
    let (read, write) = streams::standard();
    match open() {
        Ok((desk, log)) => {
            serve_client(read, write, desk, log, stop::asked()).await;
            ExitCode::SUCCESS
        }
        Err(why) => {
            tracing::error!("{why}");
            refused::answer(read, write, &why).await;
            ExitCode::FAILURE
        }
    }
}

/// The one place where the desk is made.
fn open() -> Result<(Arc<dyn Desk>, CallLog), String> {
    let config = Config::from_env().map_err(|error| error.to_string())?;
    let log = CallLog::new(config.home.join("calls.log"));
    let desk = crate::hub::open(&config).map_err(|error| error.to_string())?;
    Ok((desk, log))
}
