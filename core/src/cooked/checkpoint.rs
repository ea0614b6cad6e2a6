//! The cooked view written down, so that a restart need only read the tail of the raw log.

use serde::{Deserialize, Serialize};

use super::Cooked;
use super::screen::Screen;
use crate::vt::parse::Parser;

/// The version of the format; one that is not known is not read, and the log is replayed from its start instead.
const VERSION: u32 = 1;

/// The state of a [`Cooked`] at some raw offset.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    offset: u64,
    screen: Screen,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointError {
    /// The version it was written with.
    pub version: u32,
}

impl std::fmt::Display for CheckpointError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the checkpoint has version {}, this program reads version {VERSION}", self.version)
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// Raw bytes that were taken when it was made.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Cooked {
    /// The state at this offset; none in the middle of a sequence or a character. Settled text that was not taken is
    /// part of it.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let between = self.parser.is_ground() && self.partial.is_empty();
        between.then(|| Checkpoint { version: VERSION, offset: self.offset, screen: self.screen.clone() })
    }

    /// Goes on from a checkpoint as if all bytes before it had been fed.
    ///
    /// # Errors
    ///
    /// Where it was written by a version of this program with another format.
    pub fn restore(checkpoint: Checkpoint) -> Result<Self, CheckpointError> {
        if checkpoint.version != VERSION {
            return Err(CheckpointError { version: checkpoint.version });
        }
        Ok(Self {
            parser: Parser::default(),
            screen: checkpoint.screen,
            offset: checkpoint.offset,
            escape_at: checkpoint.offset,
            string_at: checkpoint.offset,
            partial: Vec::with_capacity(4),
            bulk: super::bulk::Lines::default(),
        })
    }
}
