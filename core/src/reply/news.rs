//! News in a reply that is no advice.

use super::{seconds, status, took};
use crate::region::Region;

/// That a region ended since the agent was last told.
pub(crate) fn finished_since(region: &Region) -> String {
    let label: String = region.label.lines().next().unwrap_or_default().chars().take(80).collect();
    format!(
        "finished since your last call: #{} {label:?} · {} · {} · {} (read region={})",
        region.id,
        status::region_state(region),
        seconds(took(region)),
        status::count(region.lines, ""),
        region.id
    )
}
