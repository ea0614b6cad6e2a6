//! `calls.log`: one JSON line a call, so that a slow or missing reply can be pinned on the server or on the client.
//!
//! It never holds what was typed or printed: names, numbers and times only.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use dtmcp_core::reply::Reply;
use serde_json::{Value, json};

use crate::store::files;

/// The format of a line.
const VERSION: u32 = 1;

/// The longest name that is written, in characters; longer ones are no session's and no agent's.
const NAME_MAX: usize = 64;

/// What is known of a call before its reply.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The agent.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// The session that the call names, if it does; the reply's goes before it.
    pub session: Option<String>,
    /// When the call began.
    pub started: Instant,
}

/// The log of all calls of a state directory.
#[derive(Debug)]
pub struct CallLog {
    path: PathBuf,
    /// Whether a failure has been told; once is enough.
    told: AtomicBool,
}

impl CallLog {
    /// The log at this path. Nothing is opened before the first call.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, told: AtomicBool::new(false) }
    }

    /// Writes the line of a call. A log that cannot be written stops no call; the server says so once.
    pub fn write(&self, entry: &Entry, reply: &Reply) {
        if let Err(error) = self.append(&line(entry, reply, SystemTime::now()))
            && !self.told.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(path = %self.path.display(), %error, "calls are not logged");
        }
    }

    /// Opened anew for each line: the file may have been moved away or deleted, and a call is rare.
    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = files::append(&self.path)?;
        // One write, so that lines of two processes never mix.
        file.write_all(line.as_bytes())
    }
}

fn line(entry: &Entry, reply: &Reply, now: SystemTime) -> String {
    let session = reply.meta.get("session").and_then(Value::as_str).or(entry.session.as_deref());
    let milliseconds = entry.started.elapsed().as_secs_f64() * 1000.0;
    let mut fields = serde_json::Map::new();
    fields.insert("v".to_owned(), json!(VERSION));
    fields.insert("time".to_owned(), json!(timestamp(now)));
    fields.insert("agent".to_owned(), json!(short(&entry.agent)));
    fields.insert("tool".to_owned(), json!(short(&entry.tool)));
    if let Some(session) = session {
        fields.insert("session".to_owned(), json!(short(session)));
    }
    fields.insert("duration_ms".to_owned(), json!((milliseconds * 100.0).round() / 100.0));
    fields.insert("result".to_owned(), json!(if reply.is_error { "error" } else { "ok" }));
    if let Some(region) = reply.meta.get("region").filter(|region| region.is_u64()) {
        fields.insert("region".to_owned(), region.clone());
    }
    format!("{}\n", Value::Object(fields))
}

/// A name cut to its limit, what is invisible in it spelled out.
fn short(name: &str) -> String {
    let cut: String = name.chars().take(NAME_MAX).collect();
    dtmcp_core::text::visible::spell_out(&cut).into_owned()
}

/// A time as `2026-11-30T01:59:00.123Z`.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (days, day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, date) = civil(days);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}.{millis:03}Z", day / 3600, day / 60 % 60, day % 60)
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar. Years begin in March here, so
/// that the leap day is a year's last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let index = (5 * of_year + 2) / 153;
    let date = of_year - (153 * index + 2) / 5 + 1;
    let month = if index < 10 { index + 3 } else { index - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    fn entry() -> Entry {
        Entry {
            agent: "claude-code".to_owned(),
            tool: "run".to_owned(),
            session: Some("t1".to_owned()),
            started: Instant::now(),
        }
    }

    fn reply(meta: &Value, is_error: bool) -> Reply {
        Reply { text: "sekrit output".to_owned(), meta: meta.as_object().unwrap().clone(), is_error }
    }

    #[test]
    fn a_line_has_names_and_numbers_and_no_text() {
        let now = UNIX_EPOCH + Duration::from_millis(1_796_003_940_123);
        let text = line(&entry(), &reply(&json!({"session": "t2", "region": 7}), false), now);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["v"], 1);
        assert_eq!(value["time"], "2026-11-30T01:59:00.123Z");
        assert_eq!(value["agent"], "claude-code");
        assert_eq!(value["tool"], "run");
        assert_eq!(value["session"], "t2");
        assert_eq!(value["result"], "ok");
        assert_eq!(value["region"], 7);
        assert!(value["duration_ms"].is_f64());
        assert!(!text.contains("sekrit"));
        assert!(text.ends_with('\n') && text.matches('\n').count() == 1);
    }

    #[test]
    fn an_error_and_a_long_name() {
        let mut entry = entry();
        entry.session = Some("x\u{1b}".repeat(200));
        let text = line(&entry, &reply(&json!({}), true), UNIX_EPOCH);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["result"], "error");
        assert_eq!(value["session"], "x\\x1b".repeat(32));
        assert!(value.get("region").is_none());
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_file_is_private_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("calls.log");
        let log = CallLog::new(path.clone());
        log.write(&entry(), &reply(&json!({}), false));
        log.write(&entry(), &reply(&json!({}), false));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("victim"), &link).unwrap();
        CallLog::new(link).write(&entry(), &reply(&json!({}), false));
        assert!(!dir.path().join("victim").exists());
    }
}
