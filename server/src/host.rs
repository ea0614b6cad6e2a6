//! Who finds out, on this system, what runs at a terminal.

use std::sync::Arc;

use dtmcp_core::inspect::Inspector;

/// The inspector of this system: `/proc` on Linux, and elsewhere one that knows nothing.
#[must_use]
pub fn inspector() -> Arc<dyn Inspector> {
    #[cfg(target_os = "linux")]
    return Arc::new(dtmcp_linux_proc::LinuxProc::new());
    #[cfg(not(target_os = "linux"))]
    Arc::new(dtmcp_core::inspect::Blind)
}
