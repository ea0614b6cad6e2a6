//! Carrying the integration to where it is not installed: the script that unpacks it there, and the quoting that gets
//! the script through whatever shell reads it first.

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

/// What bash reads at its start: it takes the directory away again, whatever aliases the person has.
const RC: &str = "__dtmcp_dir=${BASH_SOURCE[0]%/*}\n. \"$__dtmcp_dir/bashrc\"\n\
                  command rm -rf -- \"$__dtmcp_dir\"\nunset __dtmcp_dir\n";

/// A text as one word of any POSIX shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
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
/// Of the variables, what would not pass (the control characters that [`remote_command`] uses) or is too long stays.
#[must_use]
pub fn script(nonce: &Nonce, files: &[(&str, &str)], variables: &[(String, String)]) -> String {
    let mut environment = format!("__DTMCP_NONCE={}\nexport __DTMCP_NONCE\n", nonce.as_str());
    let mut left = VALUES_MAX;
    for (name, value) in variables {
        let passes = value.len() <= VALUE_MAX && !value.contains(['\0', '\u{1}', '\u{2}', '\u{3}', '\u{4}']);
        let quoted = quoted(value);
        if passes && quoted.len() <= left {
            left -= quoted.len();
            // Writing to a String cannot fail.
            let _ = write!(environment, "{name}={quoted}\nexport {name}\n");
        }
    }
    let mut unpack = String::from("unpack() {\n");
    let mut directories: Vec<&str> =
        files.iter().filter_map(|(name, _)| name.rsplit_once('/')).map(|it| it.0).collect();
    directories.dedup();
    for directory in directories {
        let _ = writeln!(unpack, "mkdir -p \"$d/{directory}\" &&");
    }
    for (name, text) in files.iter().chain(&[("rc", RC), ("stay", STAY)]) {
        let text = bare(text);
        let length = text.len();
        // A disk may be full: what was written is counted.
        let _ = writeln!(
            unpack,
            "printf %s {} >\"$d/{name}\" && [ \"$(wc -c <\"$d/{name}\")\" -eq {length} ] &&",
            quoted(&text)
        );
    }
    unpack.push_str(":\n}\n");
    bare(SCRIPT).replacen("@ENVIRONMENT@\n", &environment, 1).replacen("@UNPACK@\n", &unpack, 1)
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
    let safe: String = script
        .chars()
        .map(|c| match c {
            '\'' => '\u{1}',
            '\\' => '\u{2}',
            '\n' => '\u{3}',
            '!' => '\u{4}',
            other => other,
        })
        .collect();
    format!(r#"exec sh -c 'eval "$(printf %s "$0" | tr "\001\002\003\004" "\047\134\012\041")"' '{safe}'"#)
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
    }
}
