//! The server over standard input and output: one client, which started us and whose end is our end.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_server_with_ct;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::refused;
use crate::calls::CallLog;
use crate::config::Config;
use crate::mcp::desk::Desk;
use crate::mcp::handler::Front;
use crate::mcp::lines::LineTransport;

/// How long calls in flight may take to come to a sound end once the client is gone.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// Two threads: one may be busy with a long output while the other answers.
const THREADS: usize = 2;

/// Serves one client and returns when it is gone.
pub(super) fn main() -> ExitCode {
    log_to_stderr();
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

/// Warnings and errors only: rmcp logs requests at the levels below, and what is typed must not reach a log.
fn log_to_stderr() {
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(tracing::Level::WARN)
        .finish();
    // Only a second call could fail.
    drop(tracing::subscriber::set_global_default(subscriber));
}

async fn serve() -> ExitCode {
    let (read, write) = stdio_pipes();
    match open() {
        Ok((desk, log)) => serve_client(read, write, desk, log, stopped()).await,
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

/// Serves the client at the other end of two streams until it closes them or `stop` ends.
async fn serve_client<R, W>(
    read: R,
    write: W,
    desk: Arc<dyn Desk>,
    log: CallLog,
    stop: impl Future<Output = ()> + Send + 'static,
) -> ExitCode
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let gone = CancellationToken::new();
    let front = Front::new(Arc::clone(&desk), Arc::new(log), gone.clone());
    let service = CancellationToken::new();
    let watch = tokio::spawn({
        let (gone, service) = (gone.clone(), service.clone());
        async move {
            tokio::select! {
                () = gone.cancelled() => {}
                () = stop => { gone.cancel(); service.cancel(); }
            }
            // The next server may start this moment.
            desk.release();
        }
    });
    match serve_server_with_ct(front.clone(), LineTransport::new(read, write, gone.clone()), service).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the service broke off");
            }
        }
        // A client that leaves before it says anything has done nothing wrong.
        Err(error) if gone.is_cancelled() => tracing::debug!(%error, "the client left"),
        Err(error) => tracing::error!(%error, "the client could not be served"),
    }
    gone.cancel();
    front.finish(LAST_CALLS).await;
    drop(watch.await);
    ExitCode::SUCCESS
}

/// Ends when someone asks the server to stop.
async fn stopped() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
