//! What is kept on disk: where it stands, who may read it, and who may write it.

pub mod files;

/// The longest name a session may have.
pub const SESSION_NAME_MAX: usize = 64;

/// Whether a session may be called this: letters, digits, `-` and `_`. It is a directory's name, and a target for
/// tmux, and stands in every reply.
#[must_use]
pub fn is_session_name(name: &str) -> bool {
    (1..=SESSION_NAME_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
