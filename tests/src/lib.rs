//! The harness of the suites.

pub mod binary;
pub mod needs;
pub mod stage;
