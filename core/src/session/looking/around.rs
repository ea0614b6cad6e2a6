//! Shells that were started from a program: `\\!` in psql, `shell bash` in gdb, `os.system("bash")` in Python.
//!
//! Such a shell goes without a marker, and the program shows its prompt again. So it is remembered who waited for input
//! when the shell came up: once that same process is seen to wait again, and the shell is nowhere, the shell has gone.

use crate::inspect::{FileKind, Inspection, ProcessId};
use crate::waiting::{Judgement, Waiter};

/// Shells one inside the other; as many as the log keeps.
const NESTED_MAX: usize = 64;

/// Looks for a shell that has come up: the one under way, its own, and one more.
const LOOKS: u8 = 3;

/// Who waited before a shell came up.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Around {
    /// Who was seen to wait last, and who before that: on a busy machine a shell is seen at its prompt before the marker
    /// that tells of it has come here.
    waited: [Option<ProcessId>; 2],
    shells: Vec<Inside>,
}

#[derive(Debug, Clone)]
struct Inside {
    shell: u32,
    program: ProcessId,
    /// The shell was seen among the processes of the terminal: it is no far one, nor one with process ids of its own.
    seen: bool,
    /// How often it is looked for yet: a look that was under way when it came up shows what was before.
    looks: u8,
}

impl Around {
    /// Takes what a look came to.
    pub(in crate::session) fn look(&mut self, judgement: &Judgement, inspection: &Inspection) {
        if let Some(waiter) = waits(judgement, inspection) {
            self.waits(waiter.process);
        }
        for inside in self.shells.iter_mut().filter(|inside| !inside.seen) {
            inside.seen = is_there(inspection, inside.shell);
            inside.looks = inside.looks.saturating_sub(1);
        }
    }

    fn waits(&mut self, process: ProcessId) {
        if self.waited[0] != Some(process) {
            self.waited = [Some(process), self.waited[0]];
        }
    }

    /// Whether a shell that came up has to be looked for again.
    pub(in crate::session) fn wants_look(&self) -> bool {
        self.shells.iter().any(|inside| !inside.seen && inside.looks > 0)
    }

    /// A shell has shown itself.
    pub(in crate::session) fn started(&mut self, shell: u32) {
        self.shells.retain(|known| known.shell != shell);
        if self.shells.len() >= NESTED_MAX {
            self.shells.remove(0);
        }
        let program = self.waited.into_iter().flatten().find(|program| program.pid != shell);
        self.shells.extend(program.map(|program| Inside { shell, program, seen: false, looks: LOOKS }));
    }

    /// Whether a program is known that a shell was started from.
    pub(in crate::session) fn has(&self, shell: u32) -> bool {
        self.shells.iter().any(|known| known.shell == shell && known.seen)
    }

    /// The outermost of these shells that has gone, as a look shows.
    pub(in crate::session) fn left(
        &self,
        judgement: &Judgement,
        inspection: &Inspection,
        shells: &[u32],
    ) -> Option<u32> {
        let program = waits(judgement, inspection)?.process;
        let inside = |shell: u32| self.shells.iter().any(|it| it.shell == shell && it.program == program && it.seen);
        shells.iter().copied().find(|shell| inside(*shell) && !is_there(inspection, *shell))
    }
}

fn is_there(inspection: &Inspection, pid: u32) -> bool {
    inspection.processes().any(|process| process.id.pid == pid)
}

/// Who waits for input itself, whatever was printed a moment ago. Who has terminals of its own may show what a shell in
/// one of them prints.
fn waits<'a>(judgement: &'a Judgement, inspection: &Inspection) -> Option<&'a Waiter> {
    let (Judgement::Waits(waiter) | Judgement::Busy(waiter) | Judgement::WaitsHidden(Some(waiter))) = judgement else {
        return None;
    };
    let process = inspection.processes().find(|process| process.id == waiter.process)?;
    let files = process.files.known()?;
    let masters = files.iter().any(|file| matches!(file.kind, FileKind::Master(_)));
    (!waiter.outside && !masters).then_some(waiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_is_seen_before_it_shows_itself_has_the_program_around_it() {
        let id = |pid| ProcessId { pid, start: 1 };
        for seen_before in [false, true] {
            let mut around = Around::default();
            around.waits(id(7));
            if seen_before {
                around.waits(id(101));
                around.waits(id(101));
            }
            around.started(101);
            let programs: Vec<ProcessId> = around.shells.iter().map(|inside| inside.program).collect();
            assert_eq!(programs, [id(7)], "{seen_before}");
        }
        // Nobody but the shell itself was ever seen.
        let mut around = Around::default();
        around.waits(id(101));
        around.started(101);
        assert!(around.shells.is_empty());
    }
}
