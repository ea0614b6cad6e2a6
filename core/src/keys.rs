//! Names of keys, in both notations, and the bytes they send.

/// One key press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {}
