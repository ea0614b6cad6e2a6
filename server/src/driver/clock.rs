//! The monotonic clock that machines are driven by, and the wall clock that files are dated with.

use std::time::{Duration, Instant, SystemTime};

use dtmcp_core::time::{Now, Wall};

/// The clocks, read in one place.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { epoch: Instant::now() }
    }

    /// The monotonic time.
    #[must_use]
    pub fn now(self) -> Now {
        Now(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// When a monotonic time comes.
    #[must_use]
    pub fn instant(self, at: Now) -> tokio::time::Instant {
        // A microsecond later than asked, so that the deadline has passed when the timer fires.
        tokio::time::Instant::from_std(self.epoch + Duration::from_micros(at.0.saturating_add(1)))
    }

    /// The wall clock.
    #[must_use]
    pub fn wall() -> Wall {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Wall(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
