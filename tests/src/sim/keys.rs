//! What the scripted line editor takes keys for.

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Text, as a rule.
    Text,
    /// The same, until Escape.
    Vi,
    /// Commands of vi's, until one that begins to insert.
    Commands,
    /// Nothing.
    Lost,
}

impl Keys {
    /// Whether a key that was read is no text, and is done with.
    pub(crate) fn command(&mut self, key: u8) -> bool {
        let was = *self;
        match (was, key) {
            (Self::Vi, 0x1b) => *self = Self::Commands,
            (Self::Commands, b'i' | b'a' | b'o' | b'\r' | 0x03) => *self = Self::Vi,
            _ => {}
        }
        match was {
            Self::Text | Self::Vi => *self == Self::Commands,
            Self::Commands => !matches!(key, b'\r' | 0x03 | 0x15),
            Self::Lost => true,
        }
    }
}
