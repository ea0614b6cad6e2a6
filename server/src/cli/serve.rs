//! The shared server: any number of clients on a Unix socket, and on a port if asked.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use super::{logging, stop};
use crate::calls::CallLog;
use crate::config::{Config, SOCKET_PATH};
use crate::descriptors;
use crate::http::Server;
use crate::http::guard::Guard;
use crate::http::socket::Socket;
use crate::http::token::Token;
use crate::mcp::desk::Desk as _;
use crate::mcp::handler::Shared;
use crate::systemd;

/// The port where none is named.
const PORT: u16 = 8766;

/// One may be busy with a long output, and others answer meanwhile.
const THREADS: usize = 4;

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The Unix socket [default: $XDG_RUNTIME_DIR/docent-terminal-mcp/server.sock]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listens on a TCP port too, 8766 where none is named; requests need the token
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "8766")]
    tcp: Option<u16>,
    /// The address of the TCP port, with --tcp or without; 0.0.0.0 lets other machines reach it [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    host: Option<IpAddr>,
}

fn address(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    text.parse().map_err(|_| "an address is wanted, such as 127.0.0.1, 0.0.0.0 or ::".to_owned())
}

/// Serves until it is asked to stop.
pub(super) fn main(arguments: &Arguments) -> ExitCode {
    logging::to_stderr(Level::INFO);
    descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let served = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        let served = runtime.block_on(serve(arguments));
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            tracing::error!("{why}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: &Arguments) -> Result<(), String> {
    let mut config = Config::from_env().map_err(|error| error.to_string())?;
    if let Some(given) = &arguments.socket {
        config.socket_path = Some(std::path::absolute(given).map_err(|error| error.to_string())?);
    }
    let asked_to_stop = stop::asked();
    // Before anything that could take long: whoever started this waits to hear that it is refused.
    let hub = crate::hub::open(&config).map_err(|error| error.to_string())?;
    hub.serve_people();
    let (socket, listener) = listen(&config)?;
    let port = port(arguments, &config).await?;
    // Only once nothing can be refused any more.
    tracing::info!("serving {}", listened(&config, socket.as_ref()));
    if let Some((listener, _)) = &port {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        tracing::info!("serving http://{address}/mcp; `dtmcp token` prints the token");
    }

    let stopping = CancellationToken::new();
    let log = Arc::new(CallLog::new(config.home.join("calls.log")));
    let server = Server::new(Arc::clone(&hub), Shared { desk: Arc::clone(&hub) as _, log, stopping: stopping.clone() });
    server.serve_socket(UnixListener::from_std(listener).map_err(|error| error.to_string())?);
    if let Some((listener, guard)) = port {
        server.serve_port(listener, guard);
    }
    tell(&config, "READY=1\nSTATUS=serving");
    asked_to_stop.await;
    tracing::info!("stopping");
    tell(&config, "STOPPING=1");
    stopping.cancel();
    server.finish().await;
    drop(socket);
    hub.release();
    Ok(())
}

/// The socket that systemd passed on, or one of our own; the latter goes when the server ends.
fn listen(config: &Config) -> Result<(Option<Socket>, std::os::unix::net::UnixListener), String> {
    if let Some(listener) = systemd::passed_socket().map_err(|error| format!("the socket that was passed: {error}"))? {
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        return Ok((None, listener));
    }
    let path = config.server_socket();
    if config.socket_path.is_none() && config.runtime_dir.is_none() {
        tracing::warn!(
            "XDG_RUNTIME_DIR is not set, so the socket stands in the state directory; {SOCKET_PATH} names another"
        );
    }
    let (socket, listener) = Socket::bind(&path)?;
    Ok((Some(socket), listener))
}

/// What is listened on, for the log.
fn listened(config: &Config, socket: Option<&Socket>) -> String {
    match socket {
        Some(_) => config.server_socket().display().to_string(),
        None => "the socket that the service manager opened".to_owned(),
    }
}

async fn port(arguments: &Arguments, config: &Config) -> Result<Option<(TcpListener, Guard)>, String> {
    let Some(port) = arguments.tcp.or(arguments.host.map(|_| PORT)) else { return Ok(None) };
    let host = arguments.host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let token = Token::load_or_create(&config.home.join("token"));
    let token = token.map_err(|error| format!("the port's token cannot be used, so nothing is served: {error}"))?;
    let listener = TcpListener::bind((host, port)).await.map_err(|error| {
        let next = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "Another program has that port (`ss -ltnp` shows which); --tcp PORT names another"
            }
            io::ErrorKind::AddrNotAvailable => "--host takes an address of this machine (`ip address` lists them)",
            io::ErrorKind::PermissionDenied => "Ports below 1024 are root's; --tcp PORT names another",
            _ => "--tcp PORT and --host ADDRESS name others",
        };
        format!("cannot listen on {host}, port {port}, so nothing is served: {error}. {next}")
    })?;
    Ok(Some((listener, Guard::new(token, host.is_loopback()))))
}

fn tell(config: &Config, state: &str) {
    if let Err(error) = systemd::notify(config.notify_socket.as_deref(), state) {
        tracing::warn!(%error, "the service manager was not told {state:?}");
    }
}
