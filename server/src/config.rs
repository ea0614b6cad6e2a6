//! The environment, read in one place.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The state directory, if not the default under the home directory.
pub const HOME: &str = "DOCENT_TERMINAL_MCP_HOME";
/// The name of the tmux socket.
pub const SOCKET: &str = "DOCENT_TERMINAL_MCP_SOCKET";
/// The shared server's Unix socket.
pub const SOCKET_PATH: &str = "DOCENT_TERMINAL_MCP_SOCKET_PATH";
/// Words put before the attach command.
pub const ATTACH_PREFIX: &str = "DOCENT_TERMINAL_MCP_ATTACH_PREFIX";
/// `0` leaves the summary lines out of clipped replies.
pub const SUMMARY: &str = "DOCENT_TERMINAL_MCP_SUMMARY";

/// The name of the tmux socket where none is given.
const DEFAULT_SOCKET: &str = "docent-terminal-mcp";

/// The state directory where none is given, under the home directory.
const DEFAULT_HOME: &str = ".local/state/docent-terminal-mcp";

/// What the environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The state directory, absolute. It need not exist yet.
    pub home: PathBuf,
    /// The person's home directory, absolute; none where the environment has none.
    pub user_home: Option<PathBuf>,
    /// The name of the tmux socket, for `tmux -L`.
    pub socket: String,
    /// Words put before the attach command in replies.
    pub attach_prefix: Vec<String>,
    /// Whether a clipped reply shows the summary lines of what it leaves out.
    pub summaries: bool,
    /// `XDG_RUNTIME_DIR`, where it is set and absolute. Absent in containers and from cron.
    pub runtime_dir: Option<PathBuf>,
    /// The shared server's socket, where the environment names one; absolute.
    pub socket_path: Option<PathBuf>,
    /// `NOTIFY_SOCKET`: how the service manager is told that the server is ready.
    pub notify_socket: Option<OsString>,
    /// `TMUX_TMPDIR`, where tmux keeps its sockets if not in `/tmp`.
    pub tmux_tmpdir: Option<PathBuf>,
    /// `PATH`, where programs are looked for.
    pub path: Option<OsString>,
}

/// Why the environment cannot be worked with; the text names the variable and what to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads this process's environment.
    ///
    /// # Errors
    /// Where there is no place for the state, or a value cannot be used.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_lookup(|name| std::env::var_os(name), std::env::current_dir().ok().as_deref())
    }

    /// Reads an environment that is looked up by name; empty values count as unset. `here` is what relative paths are
    /// relative to.
    ///
    /// # Errors
    /// As [`Self::from_env`].
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>, here: Option<&Path>) -> Result<Self, ConfigError> {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let path = |name: &str| get(name).map(PathBuf::from);
        let user_home = path("HOME").filter(|home| home.is_absolute());
        let home = match (path(HOME), &user_home) {
            (Some(given), _) => absolute(&given, here)?,
            (None, Some(user)) => user.join(DEFAULT_HOME),
            (None, None) => {
                return Err(ConfigError(format!(
                    "there is no place for the state: HOME is not set; set it, or {HOME} to a directory"
                )));
            }
        };
        let socket = text(SOCKET, get(SOCKET))?.unwrap_or_else(|| DEFAULT_SOCKET.to_owned());
        check_socket(&socket)?;
        let prefix = text(ATTACH_PREFIX, get(ATTACH_PREFIX))?.unwrap_or_default();
        Ok(Self {
            home,
            user_home,
            socket,
            attach_prefix: words(&prefix).ok_or_else(|| ConfigError(format!("{ATTACH_PREFIX} has an open quote")))?,
            summaries: get(SUMMARY).is_none_or(|value| value != "0"),
            runtime_dir: path("XDG_RUNTIME_DIR").filter(|dir| dir.is_absolute()),
            socket_path: path(SOCKET_PATH).map(|given| absolute(&given, here)).transpose()?,
            notify_socket: get("NOTIFY_SOCKET"),
            tmux_tmpdir: path("TMUX_TMPDIR"),
            path: get("PATH"),
        })
    }
}

impl Config {
    /// The shared server's socket: the one that was given, else one in the runtime directory. The state directory, which
    /// may be on a network file system, has it only where there is no runtime directory.
    #[must_use]
    pub fn server_socket(&self) -> PathBuf {
        let in_runtime = || self.runtime_dir.as_ref().map(|dir| dir.join("docent-terminal-mcp/server.sock"));
        self.socket_path.clone().or_else(in_runtime).unwrap_or_else(|| self.home.join("server.sock"))
    }
}

/// Where programs are looked for, as a pane's program passes it on.
#[must_use]
pub fn path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// A variable of this process's environment that is set and UTF-8, for the commands that run inside a session.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn absolute(given: &Path, here: Option<&Path>) -> Result<PathBuf, ConfigError> {
    if given.is_absolute() {
        return Ok(given.to_owned());
    }
    match here {
        Some(here) => Ok(here.join(given)),
        None => Err(ConfigError(format!("{} is a relative path, and the working directory is gone", given.display()))),
    }
}

fn text(name: &str, value: Option<OsString>) -> Result<Option<String>, ConfigError> {
    let text = value.map(OsString::into_string).transpose().map_err(|_| ConfigError(format!("{name} is not UTF-8")))?;
    if text.as_deref().is_some_and(|text| text.chars().any(char::is_control)) {
        return Err(ConfigError(format!("{name} has a control character in it")));
    }
    Ok(text)
}

/// tmux takes the name as a file's in its own directory.
fn check_socket(socket: &str) -> Result<(), ConfigError> {
    let mut parts = Path::new(socket).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == socket);
    if plain && socket.len() <= 64 {
        return Ok(());
    }
    Err(ConfigError(format!("{SOCKET} takes a plain name of at most 64 bytes, without `/`, not {socket:?}")))
}

/// Splits words as a shell does: at blanks, with quotes and backslashes. None where a quote stays open.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"'), '\\') if rest.peek().is_some_and(|next| matches!(next, '"' | '\\' | '$' | '`')) => {
                word.get_or_insert_default().extend(rest.next());
            }
            (None, '\\') => word.get_or_insert_default().push(rest.next()?),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let lookup =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        Config::from_lookup(lookup, Some(Path::new("/here")))
    }

    #[test]
    fn defaults_stand_under_the_home_directory() {
        let config = read(&[("HOME", "/home/me"), (HOME, ""), (SOCKET, "")]).unwrap();
        assert_eq!(config.home, Path::new("/home/me/.local/state/docent-terminal-mcp"));
        assert_eq!(config.socket, "docent-terminal-mcp");
        assert!(config.attach_prefix.is_empty() && config.runtime_dir.is_none());
    }

    #[test]
    fn the_state_directory_can_be_anywhere() {
        assert_eq!(read(&[(HOME, "/srv/dtmcp")]).unwrap().home, Path::new("/srv/dtmcp"));
        assert_eq!(read(&[(HOME, "state")]).unwrap().home, Path::new("/here/state"));
        let error = Config::from_lookup(|name| (name == HOME).then(|| "state".into()), None).unwrap_err();
        assert!(error.to_string().contains("working directory is gone"));
    }

    #[test]
    fn without_a_home_the_error_says_what_to_set() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "relative")]] {
            let error = read(variables).unwrap_err().to_string();
            assert!(error.contains("HOME is not set") && error.contains(HOME), "{error}");
        }
    }

    #[test]
    fn the_servers_socket_stands_in_the_runtime_directory() {
        let of = |variables: &[(&str, &str)]| read(variables).unwrap().server_socket();
        let base = ("HOME", "/h");
        let runtime = ("XDG_RUNTIME_DIR", "/run/user/7");
        assert_eq!(of(&[base, runtime]), Path::new("/run/user/7/docent-terminal-mcp/server.sock"));
        assert_eq!(of(&[base, runtime, (SOCKET_PATH, "s")]), Path::new("/here/s"));
        assert_eq!(of(&[base]), Path::new("/h/.local/state/docent-terminal-mcp/server.sock"));
    }

    #[test]
    fn a_socket_is_a_plain_name() {
        let base = ("HOME", "/h");
        assert_eq!(read(&[base, (SOCKET, "mine")]).unwrap().socket, "mine");
        for name in ["a/b", "..", ".", "/tmp/x", "a\nb", &"x".repeat(65)] {
            assert!(read(&[base, (SOCKET, name)]).is_err(), "{name:?}");
        }
    }

    #[test]
    fn summaries_are_turned_off_by_a_nought_alone() {
        let on = |value: &str| read(&[("HOME", "/h"), (SUMMARY, value)]).map(|config| config.summaries);
        assert!(!on("0").unwrap());
        assert!(on("1").unwrap() && on("").unwrap() && read(&[("HOME", "/h")]).unwrap().summaries);
    }

    #[test]
    fn the_attach_prefix_is_split_into_words() {
        let prefix = |text: &str| read(&[("HOME", "/h"), (ATTACH_PREFIX, text)]).map(|config| config.attach_prefix);
        assert_eq!(prefix("podman exec -it box").unwrap(), ["podman", "exec", "-it", "box"]);
        assert_eq!(
            prefix(" ssh  -t 'my host' \"a \\\" b\" c\\ d '' ").unwrap(),
            ["ssh", "-t", "my host", "a \" b", "c d", ""]
        );
        assert!(prefix("ssh 'open").is_err());
        assert!(prefix("trailing\\").is_err());
    }
}
