//! Time as the core sees it: handed in, never read.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point on a monotonic clock, in microseconds since an epoch that the driver chose. Used for every wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Now(pub u64);

impl Add<Duration> for Now {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(rhs.as_micros()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Now {
    type Output = Duration;
    fn sub(self, rhs: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(rhs.0))
    }
}

/// A wall-clock time in milliseconds since the Unix epoch. Only for records and for people, never for waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Wall(pub u64);
