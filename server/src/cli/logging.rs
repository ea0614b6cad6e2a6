//! The server's own log: standard error, which a service manager keeps.

use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Everything from this level on, and of rmcp errors only: it logs requests at the lower levels and answers as warnings,
/// and what is typed must not reach a log.
pub(super) fn to_stderr(level: Level) {
    let levels = Targets::new().with_default(level).with_target("rmcp", Level::ERROR);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    // Only a second call could fail.
    drop(tracing_subscriber::registry().with(lines.with_filter(levels)).try_init());
}
