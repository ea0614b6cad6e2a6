//! The server's own log: standard error, which a service manager keeps.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config;

/// Everything from this level on, and of rmcp errors only: it logs requests at the lower levels and answers as warnings,
/// and what is typed must not reach a log.
pub(super) fn to_stderr(level: Level) {
    let levels = Targets::new().with_default(level).with_target("rmcp", Level::ERROR);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let lines = if is_journal() { lines.event_format(ForJournal).boxed() } else { lines.boxed() };
    // Only a second call could fail.
    drop(tracing_subscriber::registry().with(lines.with_filter(levels)).try_init());
}

/// Whether standard error leads to systemd's journal, as systemd.exec(5) has it found out: a program that is started from a
/// service inherits the variable, and may write elsewhere.
fn is_journal() -> bool {
    let Some(named) = config::variable("JOURNAL_STREAM") else { return false };
    nix::sys::stat::fstat(std::io::stderr()).is_ok_and(|stat| named == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// Lines as the journal takes them: it has the time itself, and reads the level off their beginning (sd-daemon(3)).
struct ForJournal;

impl<S, N> FormatEvent<S, N> for ForJournal
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let priority = match *event.metadata().level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            Level::DEBUG | Level::TRACE => 7,
        };
        write!(writer, "<{priority}>")?;
        Format::default().without_time().with_level(false).with_ansi(false).format_event(context, writer, event)
    }
}
