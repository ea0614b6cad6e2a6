//! What a session and a region are called where clients list, read and watch them: `dtmcp://t1` and `dtmcp://t1/12`.

use std::fmt;

/// What every address begins with.
pub const SCHEME: &str = "dtmcp://";

/// The longest address, in bytes: names of sessions are far shorter, and a client's text is kept for as long as it
/// subscribes.
const LONGEST: usize = 256;

/// A session, or one region of it. Ordered as they are listed: a session before its regions, and of these the newest
/// first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The session's name.
    pub session: String,
    /// The region's number; none is the session as it stands.
    pub region: Option<u32>,
}

impl Address {
    /// A session's address.
    #[must_use]
    pub fn session(name: &str) -> Self {
        Self { session: name.to_owned(), region: None }
    }

    /// A region's address.
    #[must_use]
    pub fn region(name: &str, id: u32) -> Self {
        Self { session: name.to_owned(), region: Some(id) }
    }

    /// Reads an address; none where it is of another scheme or shape. Some clients end one with a slash.
    #[must_use]
    pub fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(SCHEME).filter(|_| uri.len() <= LONGEST)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (session, region) = match rest.split_once('/') {
            Some((session, region)) => (session, Some(number(region)?)),
            None => (rest, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        (!session.is_empty() && session.chars().all(plain)).then(|| Self { session: session.to_owned(), region })
    }

    /// Whether it comes behind another where both are listed.
    #[must_use]
    pub fn is_behind(&self, other: &Self) -> bool {
        let place = |address: &Self| address.region.map_or(0, |region| u64::from(u32::MAX - region) + 1);
        (&self.session, place(self)) > (&other.session, place(other))
    }
}

/// A number as it is printed, and in no other way: one region has one address.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.session)?;
        self.region.map_or(Ok(()), |region| write!(f, "/{region}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_printed() {
        for address in [Address::session("t1"), Address::region("build-1.2", 12), Address::session("a_b+c")] {
            assert_eq!(Address::parse(&address.to_string()), Some(address));
        }
        assert_eq!(Address::parse("dtmcp://t1/"), Some(Address::session("t1")));
        assert_eq!(Address::parse("dtmcp://t1/7/"), Some(Address::region("t1", 7)));
    }

    #[test]
    fn nothing_else_is_one() {
        for other in [
            "",
            "t1",
            "dtmcp:t1",
            "dtmcp://",
            "dtmcp:///",
            "file:///etc/passwd",
            "dtmcp://../../state",
            "dtmcp://t1/x",
            "dtmcp://t1/01",
            "dtmcp://t1/+1",
            "dtmcp://t1/-1",
            "dtmcp://t1/1/2",
            "dtmcp://t1/99999999999",
            "dtmcp://a b",
            "dtmcp://a%2fb",
            "DTMCP://t1",
        ] {
            assert_eq!(Address::parse(other), None, "{other}");
        }
        assert_eq!(Address::parse(&format!("dtmcp://{}", "a".repeat(300))), None);
    }

    #[test]
    fn a_session_is_listed_before_its_regions_and_the_newest_come_first() {
        let order = [
            Address::session("t1"),
            Address::region("t1", 12),
            Address::region("t1", 3),
            Address::session("t10"),
            Address::session("t2"),
        ];
        for (at, one) in order.iter().enumerate() {
            for (behind, other) in order.iter().enumerate() {
                assert_eq!(one.is_behind(other), at > behind, "{one} {other}");
            }
        }
    }
}
