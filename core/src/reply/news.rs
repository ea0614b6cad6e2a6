//! News in a reply that is no advice.

use super::{seconds, status, took};
use crate::region::Region;

/// That a region ended since the agent was last told.
pub(crate) fn finished_since(region: &Region) -> String {
    format!(
        "finished since your last call: {} · {} · {} · {} (read region={})",
        region.named(80),
        status::region_state(region),
        seconds(took(region)),
        status::count(region.lines, ""),
        region.id
    )
}
