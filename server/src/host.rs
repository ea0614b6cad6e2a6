//! Who finds out, on this system, what runs at a terminal.

use std::path::PathBuf;
use std::sync::Arc;

use dtmcp_core::inspect::Inspector;
use dtmcp_linux_proc::LinuxProc;
use dtmcp_ptrace_fds::PtraceFds;

use crate::ancestor::Attended;

/// The inspector of this system: `/proc` on Linux, with the calls that threads sleep in where we or the ancestor that
/// listens on `ancestor` may read them, and elsewhere one that knows nothing.
#[must_use]
pub fn inspector(ancestor: PathBuf) -> Arc<dyn Inspector> {
    #[cfg(target_os = "linux")]
    return Arc::new(LinuxProc::new().with_probe(Arc::new(Attended::new(Arc::new(PtraceFds::new()), ancestor))));
    #[cfg(not(target_os = "linux"))]
    Arc::new(dtmcp_core::inspect::Blind)
}
