//! From an inspection to a judgement: does the program at the terminal wait for input?

use crate::inspect::{Inspection, Known};

/// What an inspection comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It waits for input, and what is typed is shown.
    Waits,
    /// It waits for input that is not shown: a password, most likely.
    WaitsHidden,
    /// It works.
    Works,
    /// It cannot be told.
    Unknown,
}

/// Judges an inspection. A terminal that takes lines and does not show them is a question for something secret: that
/// needs no look at any process.
#[must_use]
pub fn judge(inspection: &Inspection) -> Judgement {
    if let Known::Known(modes) = inspection.modes
        && modes.canonical
        && !modes.echo
    {
        return Judgement::WaitsHidden;
    }
    match inspection.awaits_input {
        Known::Known(true) => Judgement::Waits,
        Known::Known(false) => Judgement::Works,
        Known::Unknown(_) => Judgement::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{Blind, Inspector as _, PaneTerminal, TerminalModes, Why};

    #[test]
    fn who_sees_nothing_cannot_tell() {
        let terminal = PaneTerminal { tty: "/dev/pts/0".to_owned(), pid: 1 };
        assert_eq!(judge(&Blind.inspect(&terminal)), Judgement::Unknown);
    }

    #[test]
    fn a_hidden_line_is_a_secret_whoever_reads_it() {
        let modes = Known::Known(TerminalModes { canonical: true, echo: false });
        let inspection = Inspection { modes, awaits_input: Known::Unknown(Why::Refused) };
        assert_eq!(judge(&inspection), Judgement::WaitsHidden);
    }

    #[test]
    fn a_raw_terminal_without_echo_is_an_editor_of_lines() {
        let modes = Known::Known(TerminalModes { canonical: false, echo: false });
        for (awaits, judgement) in [(true, Judgement::Waits), (false, Judgement::Works)] {
            let inspection = Inspection { modes: modes.clone(), awaits_input: Known::Known(awaits) };
            assert_eq!(judge(&inspection), judgement);
        }
    }
}
