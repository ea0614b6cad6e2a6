//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Ends when someone asks the process to stop, from the moment of the call: who is told that a server is ready may ask it
/// to stop at once. To be called inside the runtime.
pub(super) fn asked() -> impl Future<Output = ()> + Send + 'static {
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = signals else { return std::future::pending().await };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}
