//! The sessions behind the front: opens the state directory and hands out the desk.

use std::fmt;
use std::sync::Arc;

use crate::config::Config;
use crate::mcp::desk::Desk;

/// Why no calls can be taken; the text is for the person who started the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError(String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

/// Takes the state directory for this process.
///
/// # Errors
/// Where it cannot be had.
pub fn open(config: &Config) -> Result<Arc<dyn Desk>, OpenError> {
    Err(OpenError(format!("sessions are not available yet in {}", config.home.display())))
}
