//! Who finds out, on this system, what runs at a terminal.

use std::sync::Arc;

use dtmcp_core::inspect::Inspector;

/// The inspector of this system: `/proc` on Linux, with the calls that threads sleep in where they may be read, and
/// elsewhere one that knows nothing.
#[must_use]
pub fn inspector() -> Arc<dyn Inspector> {
    #[cfg(target_os = "linux")]
    return Arc::new(dtmcp_linux_proc::LinuxProc::new().with_probe(Arc::new(dtmcp_ptrace_fds::PtraceFds::new())));
    #[cfg(not(target_os = "linux"))]
    Arc::new(dtmcp_core::inspect::Blind)
}
