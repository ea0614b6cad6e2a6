//! What is typed at the prompt of a plain shell to give it the integration: a question that tells which shell it is, and
//! one line that loads the file for it.

use crate::remote::quoted;
use crate::vt::marker::Nonce;

/// Asks whatever shell is there what it is, for whom and where. bash, zsh and their kin take the first part, whatever
/// their options: `eval` keeps what they cannot read from others, and `${X-}` an unset name from `set -u`. fish cannot
/// read that part, says so, and takes the second. The blank in front keeps it out of the history where the person has
/// set it so.
pub const QUESTION: &str = concat!(
    " eval 'echo \"dtmcp: $(id -un)@$(uname -n) bash=${BASH_VERSION-} zsh=${ZSH_VERSION-} $0\"' 2>/dev/null",
    " || eval 'echo dtmcp: (id -un)@(uname -n) fish=$version'"
);

/// What an answer begins with; in the question itself something else stands behind it.
const ANSWER: &str = "dtmcp: ";

/// A shell, as it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which.
    pub shell: Shell,
    /// `user@host`, as the programs there say.
    pub who: String,
}

/// Which shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// One that the integration is for, with its version.
    Known(Kind, String),
    /// Another, by the name it was started with.
    Other(String),
}

/// The shells that the integration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

impl Kind {
    /// What people call it, and how its file ends.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// The oldest version that the integration works in, as its files say at their heads.
    fn oldest(self) -> (u32, u32) {
        match self {
            Self::Bash => (4, 4),
            Self::Zsh => (5, 1),
            Self::Fish => (3, 2),
        }
    }

    /// What is asked for where a version is older; none where it is not.
    #[must_use]
    pub fn too_old(self, version: &str) -> Option<String> {
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
        let there = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let (major, minor) = self.oldest();
        (there < (major, minor)).then(|| format!("{major}.{minor}"))
    }

    /// The name of the file that is loaded.
    #[must_use]
    pub fn file(self) -> String {
        format!("integration.{}", self.name())
    }

    /// The line that loads it from a directory and gives the shell the session's nonce.
    #[must_use]
    pub fn line(self, dir: &str, nonce: &Nonce) -> String {
        let (dir, file, nonce) = (word(dir), self.file(), nonce.as_str());
        match self {
            Self::Bash | Self::Zsh => format!(" . {dir}/{file} && export __DTMCP_NONCE={nonce}"),
            Self::Fish => format!(" source {dir}/{file}; and set -gx __DTMCP_NONCE {nonce}"),
        }
    }
}

/// A path as a word of any of the shells; one that needs no quotes gets none, so that `~` is the home directory.
fn word(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ',');
    if path.strip_prefix('~').unwrap_or(path).chars().all(plain) { path.to_owned() } else { quoted(path) }
}

impl Answer {
    /// Reads one line of output. None where it is no answer, such as the echo of the question.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(ANSWER)?.split(' ').filter(|word| !word.is_empty());
        let who = words.next()?;
        let name = |part: &str| !part.is_empty() && !part.contains(['$', '(', ')', '"', '\'']);
        who.split_once('@').filter(|(user, host)| name(user) && name(host))?;
        let mut shell = None;
        for word in words {
            let known = [(Kind::Bash, "bash="), (Kind::Zsh, "zsh="), (Kind::Fish, "fish=")].into_iter();
            match known.filter_map(|(kind, key)| Some((kind, word.strip_prefix(key)?))).next() {
                Some((_, "")) => {}
                Some((kind, version)) => {
                    return Some(Self { shell: Shell::Known(kind, version.to_owned()), who: who.to_owned() });
                }
                None => shell = Some(word.rsplit('/').next().unwrap_or(word).trim_start_matches('-').to_owned()),
            }
        }
        Some(Self { shell: Shell::Other(shell.unwrap_or_default()), who: who.to_owned() })
    }
}

/// What of a prompt tells one place from another without anything being typed: `user@host` where it names them, else the
/// sign it ends in, which is another for root.
#[must_use]
pub fn signature(prompt: &str) -> String {
    let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    for (at, _) in prompt.match_indices('@') {
        let (before, behind) = (prompt.get(..at).unwrap_or_default(), prompt.get(at + 1..).unwrap_or_default());
        let mut user: Vec<char> = before.chars().rev().take_while(is_name).collect();
        user.reverse();
        let host: String = behind.chars().take_while(is_name).collect();
        if !user.is_empty() && !host.is_empty() {
            return format!("{}@{host}", user.into_iter().collect::<String>());
        }
    }
    prompt.trim_end().chars().last().map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn read(line: &str) -> Option<(Shell, String)> {
        Answer::read(line).map(|answer| (answer.shell, answer.who))
    }

    #[test]
    fn answers_are_told_from_everything_else() {
        let known = |kind, version: &str| Some((Shell::Known(kind, version.to_owned()), "me@box".to_owned()));
        assert_eq!(read("dtmcp: me@box bash=5.2.15(1)-release zsh= -bash"), known(Kind::Bash, "5.2.15(1)-release"));
        assert_eq!(read("dtmcp: me@box bash= zsh=5.9 zsh"), known(Kind::Zsh, "5.9"));
        assert_eq!(read("dtmcp: me@box fish=3.6.0"), known(Kind::Fish, "3.6.0"));
        assert_eq!(read("dtmcp: me@box bash= zsh= -sh"), Some((Shell::Other("sh".to_owned()), "me@box".to_owned())));
        assert_eq!(read("dtmcp: me@box bash= zsh= /bin/ksh").unwrap().0, Shell::Other("ksh".to_owned()));
        for other in ["", "dtmcp: ", "dtmcp: me", "dtmcp: @box x", QUESTION, QUESTION.trim_start()] {
            assert_eq!(read(other), None, "{other}");
        }
        let echoes = QUESTION.match_indices(ANSWER).map(|(at, _)| QUESTION.get(at..).unwrap());
        assert!(echoes.clone().count() == 2 && echoes.into_iter().all(|echo| read(echo).is_none()));
    }

    #[test]
    fn old_versions_are_too_old() {
        for (kind, version, old) in [
            (Kind::Bash, "4.3.48(1)-release", true),
            (Kind::Bash, "4.4.0(1)", false),
            (Kind::Bash, "3.2.57", true),
            (Kind::Bash, "10.0", false),
            (Kind::Zsh, "5.0.8", true),
            (Kind::Zsh, "5.9", false),
            (Kind::Fish, "3.1.2", true),
            (Kind::Fish, "4.0.2", false),
        ] {
            assert_eq!(kind.too_old(version).is_some(), old, "{kind:?} {version}");
        }
    }

    #[test]
    fn a_line_is_readable_where_the_path_is_plain() {
        let nonce = Nonce::new("0123456789abcdef").unwrap();
        let home = "~/.local/share/x/v1";
        let line = " . ~/.local/share/x/v1/integration.bash && export __DTMCP_NONCE=0123456789abcdef";
        assert_eq!(Kind::Bash.line(home, &nonce), line);
        assert!(Kind::Zsh.line(home, &nonce).contains("/integration.zsh &&"));
        let line = " source '/a b'\\''c'/integration.fish; and set -gx __DTMCP_NONCE 0123456789abcdef";
        assert_eq!(Kind::Fish.line("/a b'c", &nonce), line);
    }

    #[test]
    fn prompts_have_signatures() {
        for (prompt, signature_of) in [
            ("me@box:~/src$ ", "me@box"),
            ("[root@db.example ~]# ", "root@db.example"),
            ("(venv) me@box ~> ", "me@box"),
            ("$ ", "$"),
            ("/tmp # ", "#"),
            ("❯ ", "❯"),
            ("a@ $ ", "$"),
            ("", ""),
        ] {
            assert_eq!(signature(prompt), signature_of);
        }
    }
}
