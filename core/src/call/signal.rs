//! The signals that `send` gives to the foreground job.

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Interrupt, as ctrl+c sends.
    Int,
    /// Terminate.
    Term,
    /// Kill; no program can refuse it.
    Kill,
    /// Hang up.
    Hup,
    /// Quit, as ctrl+\ sends.
    Quit,
    /// Stop, as ctrl+z sends.
    Tstp,
    /// Continue what was stopped.
    Cont,
    /// The first that programs give a meaning of their own.
    Usr1,
    /// The second.
    Usr2,
}

impl Signal {
    /// The words that `send` takes, in the order of the contract.
    pub const WORDS: &[&str] = &["INT", "TERM", "KILL", "HUP", "QUIT", "TSTP", "CONT", "USR1", "USR2"];

    const ALL: [Self; 9] =
        [Self::Int, Self::Term, Self::Kill, Self::Hup, Self::Quit, Self::Tstp, Self::Cont, Self::Usr1, Self::Usr2];

    /// The signal of a word, in capitals or not, with `SIG` before it or not.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_uppercase();
        let word = word.strip_prefix("SIG").unwrap_or(&word);
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Self::ALL.get(at).copied()
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        let at = Self::ALL.iter().position(|signal| *signal == self);
        at.and_then(|at| Self::WORDS.get(at)).copied().unwrap_or_default()
    }

    /// Whether a program that does nothing about it ends by it.
    #[must_use]
    pub(crate) fn ends(self) -> bool {
        !matches!(self, Self::Tstp | Self::Cont)
    }
}

#[cfg(test)]
mod tests {
    use super::Signal;

    #[test]
    fn every_word_names_its_signal() {
        for word in Signal::WORDS {
            assert_eq!(Signal::named(word).map(Signal::word), Some(*word));
        }
        assert_eq!(Signal::named("sigterm"), Some(Signal::Term));
        assert_eq!(Signal::named("STOP"), None);
    }
}
