//! What is on disk, with a version each: the only place where the core derives serde.
//!
//! A reader takes fields it does not know for granted and refuses a version it does not know; every field added
//! later has a default, so that an older server's files stay readable.

mod intent;
mod meta;
mod missing;
mod region;
mod state;

pub use intent::{Intent, IntentState};
pub use meta::{Meta, ServerIdentity};
pub use missing::{HOURS, MissingEntry, MissingRecord};
pub use region::RegionRecord;
pub use state::{AgentRecord, StateRecord, row_mark};
