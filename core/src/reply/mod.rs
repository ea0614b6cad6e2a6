//! What a model reads: a status line, notes, and output, in that order, so that no output can pass for the
//! server's words.

/// A finished reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text content, as the contract lays it out.
    pub text: String,
    /// The fields of `_meta["dtmcp/reply"]`.
    pub meta: serde_json::Map<String, serde_json::Value>,
    /// Whether the result says `isError`.
    pub is_error: bool,
}
