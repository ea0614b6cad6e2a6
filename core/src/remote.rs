//! Carrying the integration to where it is not installed: the script that unpacks it there for one shell, the one that
//! installs it, and the quoting that gets a script through whatever shell reads it first.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::vt::marker::Nonce;

/// The variable that names others, which go along to the far side.
pub const CARRIED: &str = "DOCENT_TERMINAL_MCP_SSH_ENV";

/// The longest value that goes along, in bytes: script and values share one argument, of which Linux allows 128 KiB.
const VALUE_MAX: usize = 8 * 1024;

/// Values of all variables together, in bytes, with their quotes.
const VALUES_MAX: usize = 32 * 1024;

/// The script, with `@ENVIRONMENT@` and `@UNPACK@` for what it carries.
const SCRIPT: &str = include_str!("../../shell/bootstrap.sh");

/// What stays beside the shell, to take the directory away at the latest when that ends.
const STAY: &str = include_str!("../../shell/stay");

/// The script that installs, with `@UNPACK@`, `@NAMES@` and `@CALL@` for what it carries and does.
const INSTALL: &str = include_str!("../../shell/install.sh");

/// What every line that tells a result of it begins with.
const RESULT: &str = "dtmcp-install: ";

/// What bash reads at its start: it takes the directory away again, whatever aliases the person has, and
/// wherever their PATH leads.
const RC: &str = "__dtmcp_dir=${BASH_SOURCE[0]%/*} __dtmcp_rm=$(type -P rm)\n. \"$__dtmcp_dir/bashrc\"\n\
                  command -- \"$__dtmcp_rm\" -rf -- \"$__dtmcp_dir\"\nunset __dtmcp_dir __dtmcp_rm\n";

/// The script for a host's `sh` that puts `files` (by their paths, with their texts) where this version of the integration
/// is looked for. What it came to [`Installed::read`] reads in what it prints.
#[must_use]
pub fn install_script(version: u32, files: &[(&str, &str)]) -> String {
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let script = INSTALL.replacen("@UNPACK@\n", &unpack("$1", files), 1);
    script.replacen("@NAMES@", &names.join(" "), 1).replacen("@CALL@", &format!("{{ put {version}; }}"), 1)
}

/// The script that takes every version away again.
#[must_use]
pub fn remove_script() -> String {
    let script = INSTALL.replacen("@UNPACK@\n", "", 1);
    script.replacen("@NAMES@", "", 1).replacen("@CALL@", "{ take_away; }", 1)
}

/// What became of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They were put in their place.
    Put,
    /// They stood there as they should.
    Same,
    /// They were taken away.
    Removed,
    /// There were none to take away.
    None,
    /// It did not work; the script has said why.
    Failed,
}

/// What a host answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// What became of the files.
    pub fate: Fate,
    /// For whom, as `user@host` by the host's own names.
    pub who: String,
    /// Other versions that went.
    pub gone: Vec<String>,
    /// The directory there.
    pub directory: String,
}

impl Installed {
    /// Reads it in what the script printed, where a startup file may have printed too. None where it did not get to its
    /// end.
    #[must_use]
    pub fn read(printed: &str) -> Option<Self> {
        let line = printed.lines().rev().find_map(|line| line.strip_prefix(RESULT))?;
        let mut words = line.splitn(4, ' ');
        let fate = match words.next()? {
            "put" => Fate::Put,
            "same" => Fate::Same,
            "removed" => Fate::Removed,
            "none" => Fate::None,
            _ => Fate::Failed,
        };
        let (who, gone) = (words.next()?.to_owned(), words.next()?);
        let gone = gone.split(',').filter(|version| *version != "-").map(str::to_owned).collect();
        Some(Self { fate, who, gone, directory: words.next()?.trim_end().to_owned() })
    }
}

/// A text as one word of any POSIX shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// As [`quoted`], where that is needed: a word that means itself to every shell stays as it is.
#[must_use]
pub fn word(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    // zsh takes a word that begins with an equals sign for a command's path.
    if !text.is_empty() && !text.starts_with('=') && text.bytes().all(plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(quoted(text))
    }
}

/// The names that a list of variables holds: separated by blanks, commas or colons, without what is no name, and without
/// our own, which speak of this side.
#[must_use]
pub fn names(list: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with("__DTMCP_")
    };
    let mut found: Vec<&str> =
        list.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':')).filter(is_name).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The script for the far side's `sh`: `files` are the integration's, by their paths, and `variables` are set there.
///
/// Of the variables, what would not pass (the control characters that [`remote_command`] and [`escapable`] use) or is too
/// long stays.
#[must_use]
pub fn script(nonce: &Nonce, files: &[(&str, &str)], variables: &[(String, String)]) -> String {
    let mut environment = format!("__DTMCP_NONCE={}\nexport __DTMCP_NONCE\n", nonce.as_str());
    let mut left = VALUES_MAX;
    for (name, value) in variables {
        let passes = value.len() <= VALUE_MAX && !value.contains(|c: char| c <= '\u{7}');
        let quoted = quoted(value);
        if passes && quoted.len() <= left {
            left -= quoted.len();
            // Writing to a String cannot fail.
            let _ = write!(environment, "{name}={quoted}\nexport {name}\n");
        }
    }
    let bared: Vec<(&str, String)> =
        files.iter().chain(&[("rc", RC), ("stay", STAY)]).map(|(name, text)| (*name, bare(text))).collect();
    let unpack = unpack("$d", &bared);
    bare(SCRIPT).replacen("@ENVIRONMENT@\n", &environment, 1).replacen("@UNPACK@\n", &unpack, 1)
}

/// A shell function `unpack` that writes files, by their names with their texts, into the directory that the word `into`
/// stands for.
fn unpack(into: &str, files: &[(&str, impl AsRef<str>)]) -> String {
    let mut unpack = String::from("unpack() {\n");
    let mut directories: Vec<&str> =
        files.iter().filter_map(|(name, _)| name.rsplit_once('/')).map(|it| it.0).collect();
    directories.dedup();
    for directory in directories {
        let _ = writeln!(unpack, "mkdir -p \"{into}/{directory}\" &&");
    }
    for (name, text) in files {
        let text = text.as_ref();
        let length = text.len();
        // A disk may be full: what was written is counted.
        let _ = writeln!(
            unpack,
            "printf %s {} >\"{into}/{name}\" && [ \"$(wc -c <\"{into}/{name}\")\" -eq {length} ] &&",
            quoted(text)
        );
    }
    unpack.push_str(":\n}\n");
    unpack
}

/// A script without its comments and indentation.
fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        bare.push_str(line);
        bare.push('\n');
    }
    bare
}

/// A script as one command line that every login shell understands alike: sh and its kin, fish, csh. They disagree about
/// quotes, backslashes, line breaks and exclamation marks inside quotes, so none of these travel.
#[must_use]
pub fn remote_command(script: &str) -> String {
    format!("exec {}", remote_words(script))
}

/// The same behind a command that the login shell runs.
#[must_use]
pub fn remote_words(script: &str) -> String {
    let safe = replaced(script, &LOGIN_UNSAFE);
    format!(r#"sh -c 'eval "$(printf %s "$0" | tr "\001\002\003\004" "\047\134\012\041")"' '{safe}'"#)
}

/// A script as words for `sh -c` in which neither a line break nor a dollar sign stands.
#[must_use]
pub fn escapable(script: &str) -> String {
    let safe = replaced(script, &ESCAPE_UNSAFE);
    format!(r#"eval "`printf %s '{safe}' | tr '\001\002\003\004\005\006\007' '\047\134\012\041\044\042\140'`""#)
}

/// What does not travel, with what travels in its place.
const LOGIN_UNSAFE: [(char, char); 4] = [('\'', '\u{1}'), ('\\', '\u{2}'), ('\n', '\u{3}'), ('!', '\u{4}')];

/// The same, where the text stands in quotes in a command substitution in quotes as well.
const ESCAPE_UNSAFE: [(char, char); 7] =
    [('\'', '\u{1}'), ('\\', '\u{2}'), ('\n', '\u{3}'), ('!', '\u{4}'), ('$', '\u{5}'), ('"', '\u{6}'), ('`', '\u{7}')];

fn replaced(script: &str, unsafe_ones: &[(char, char)]) -> String {
    let safe = |c: char| unsafe_ones.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to);
    script.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_list_of_names_holds_names() {
        assert_eq!(names("B A,A:C_1  9x a-b $(x) __DTMCP_TTY"), ["A", "B", "C_1"]);
    }

    #[test]
    fn an_answer_is_read_among_other_lines() {
        let printed = "Welcome\ndtmcp-install: put me@box v1,v2 /home/m e/x\nbye\n";
        let Installed { fate, who, gone, directory } = Installed::read(printed).unwrap();
        assert_eq!((fate, who.as_str(), directory.as_str()), (Fate::Put, "me@box", "/home/m e/x"));
        assert_eq!(gone, ["v1", "v2"]);
        assert_eq!(Installed::read("dtmcp-install: none me@box - /h").unwrap().gone, Vec::<String>::new());
        assert_eq!(Installed::read("dtmcp-install: put me@box"), None);
        assert_eq!(Installed::read("Welcome\n"), None);
    }

    #[test]
    fn a_script_that_installs_has_nothing_left_to_fill_in() {
        for script in [install_script(7, &[("a/b", "it's\n"), ("c", "# kept\n")]), remove_script()] {
            let mut code = script.lines().filter(|line| !line.starts_with('#'));
            assert!(!code.any(|line| ["@UNPACK@", "@NAMES@", "@CALL@"].iter().any(|it| line.contains(it))));
            assert_eq!(script.contains("# kept"), script.ends_with("{ put 7; }\n"));
        }
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_read_more() {
        for (text, expected) in [
            ("t1", "t1"),
            ("/tmp/a_b-c.d:1", "/tmp/a_b-c.d:1"),
            ("", "''"),
            ("odd name", "'odd name'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
            ("=ls", "'=ls'"),
            ("~", "'~'"),
            ("é", "'é'"),
        ] {
            assert_eq!(word(text), expected);
        }
    }

    #[test]
    fn nothing_travels_that_shells_disagree_about() {
        let nonce = Nonce::new("0123456789abcdef").unwrap();
        let odd = "it's a; \\test!\n`x` $y".to_owned();
        let variables = [("ODD".to_owned(), odd), ("LONG".to_owned(), "x".repeat(VALUE_MAX + 1))];
        let script = script(&nonce, &[("bashrc", "  # gone\n  kept 'x'\n"), ("a/b", "c\n")], &variables);
        assert!(script.contains("ODD='it'\\''s a;") && !script.contains("LONG") && !script.contains("gone"));
        assert!(script.contains("kept '\\''x'\\''") && script.contains("mkdir -p \"$d/a\"") && !script.contains('@'));
        let line = remote_command(&script);
        let (_, word) = line.split_once("\"' '").unwrap();
        assert!(!word.trim_end_matches('\'').contains(['\'', '\\', '\n', '!']));
        let line = escapable(&script);
        let (_, quoted) = line.split_once('\'').unwrap();
        let (word, rest) = quoted.split_once('\'').unwrap();
        assert!(
            !word.contains(['\\', '\n', '!', '$', '"', '`']) && !line.contains(['\n', '$']) && rest.ends_with("`\"")
        );
    }
}
