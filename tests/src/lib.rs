//! The harness of the suites.

pub mod binary;
pub mod client;
pub mod databases;
pub mod fake;
pub mod measure;
pub mod needs;
pub mod person;
pub mod pty;
pub mod serving;
pub mod sim;
pub mod soak;
pub mod sshd;
pub mod stage;
pub mod users;
