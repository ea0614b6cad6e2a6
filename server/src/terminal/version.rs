//! tmux's version, as far as it makes a difference.

use std::fmt;

/// A version as tmux gives it: `3.3a`, `next-3.6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot.
    pub major: u16,
    /// The one behind it.
    pub minor: u16,
}

impl Version {
    /// The oldest that has what is used: `-e` and `-f` of new-session, and `-N`.
    pub const OLDEST: Self = Self { major: 3, minor: 2 };

    /// From here on `paste-buffer` spells control characters out unless told not to (`-S`).
    pub const PASTE_IS_ENCODED: Self = Self { major: 3, minor: 7 };

    /// Reads `tmux 3.3a`, `3.3a` or `tmux next-3.6`. `None` where there is no number (`tmux master`): such a build is
    /// newer than any release.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches("tmux ").trim_start_matches("next-").trim_start_matches("openbsd-");
        let (major, rest) = text.split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let version = |major, minor| Some(Version { major, minor });
        assert_eq!(Version::parse("tmux 3.3a\n"), version(3, 3));
        assert_eq!(Version::parse("tmux next-3.6"), version(3, 6));
        assert_eq!(Version::parse("3.10"), version(3, 10));
        assert_eq!(Version::parse("tmux 1.8"), version(1, 8));
        assert_eq!(Version::parse("tmux master"), None);
        assert!(version(1, 8) < Some(Version::OLDEST) && version(3, 10) > version(3, 7));
    }
}
