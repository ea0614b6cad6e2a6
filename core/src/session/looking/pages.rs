//! Programs that take keys and no lines, and leave the screen as it is: pagers and pickers.

use super::Looking;
use crate::waiting::Judgement;

/// Pagers, as the kernel calls them; `pager` is what Debian calls the one of its user's choice.
const PAGERS: &[&str] = &["less", "more", "most", "pg", "lv", "pager"];

/// Programs that let somebody pick a line and draw below the shell's, which takes no more than a few rows: their own line
/// looks like a prompt, and whatever is typed there narrows down what can be picked.
const PICKERS: &[&str] = &["fzf", "sk", "fzy", "peco", "percol", "gum", "pick", "smenu"];

impl Looking {
    /// Whether a pager or a picker waits for a key. git and systemd start `less` in a way (`-X`) that leaves it on the
    /// normal screen, where it looks like output with a question, and takes a line that is typed there for keys. One look
    /// is enough at a picker, which looks for keys many times a second.
    pub(in crate::session) fn pages(&self) -> bool {
        let is = |judgement: &Option<Judgement>, names: &[&str]| {
            let (Some(Judgement::Waits(waiter)) | Some(Judgement::Busy(waiter))) = judgement else { return false };
            names.contains(&waiter.name.as_str())
        };
        is(&self.holds, PAGERS) || is(&self.glance, PICKERS)
    }
}
