//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Ends when someone asks the process to stop.
pub(super) async fn asked() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
