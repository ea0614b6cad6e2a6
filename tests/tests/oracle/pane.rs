//! Panes of a private tmux server that print given bytes.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::soup::Soup;

/// What a pane or the cooked view shows in the end.
pub(crate) struct Shown {
    /// The screen, row by row.
    pub(crate) rows: Vec<String>,
    /// History and screen, wrapped rows joined.
    pub(crate) joined: Vec<String>,
    /// Column and row.
    pub(crate) cursor: (u16, u16),
}

/// A tmux server of its own, killed when dropped.
pub(crate) struct Tmux {
    folder: tempfile::TempDir,
    /// Panes so far: names are never used twice, for a channel remembers who once waited on it.
    panes: Cell<usize>,
}

/// The version of the tmux at hand; none where there is none.
pub(crate) fn version() -> Option<(u16, u16)> {
    let output = Command::new("tmux").arg("-V").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

impl Tmux {
    pub(crate) fn start() -> Self {
        let tmux = Self { folder: tempfile::tempdir().unwrap(), panes: Cell::new(0) };
        let config =
            "set -g status off\nset -g history-limit 50000\nset -g default-shell /bin/sh\nset -g remain-on-exit on\n";
        std::fs::write(tmux.folder.path().join("conf"), config).unwrap();
        // A session of its own keeps the server alive between the panes.
        tmux.run(&["new-session", "-d", "-s", "keep", "exec sleep 1000"]);
        tmux
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.folder.path().join("socket"));
        command.arg("-f").arg(self.folder.path().join("conf")).args(arguments);
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stderr(Stdio::inherit());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "tmux {arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Prints each stream in a pane and says what it shows.
    pub(crate) fn show(&self, soups: &[Soup]) -> Vec<Shown> {
        let first = self.panes.get();
        self.panes.set(first + soups.len());
        for (number, soup) in (first..).zip(soups) {
            let (cols, rows) = (soup.size.cols.to_string(), soup.size.rows.to_string());
            let script = self.script(number, soup);
            let name = format!("s{number}");
            self.run(&["new-session", "-d", "-s", &name, "-x", &cols, "-y", &rows, &script]);
        }
        (first..).zip(soups).map(|(number, soup)| self.shown(number, soup)).collect()
    }

    /// The shell script of a pane. After each piece it asks the terminal for a report: its answer says that everything
    /// before it was taken in.
    fn script(&self, number: usize, soup: &Soup) -> String {
        let mut script = String::from("stty raw -echo; ");
        let mut start = 0;
        for (piece, (end, resize)) in soup.pieces().into_iter().enumerate() {
            let file: PathBuf = self.folder.path().join(format!("{number}.{piece}"));
            std::fs::write(&file, &soup.bytes[start..end]).unwrap();
            start = end;
            write!(script, "cat {}; printf '\\033[5n'; head -c 4 >/dev/null; ", file.display()).unwrap();
            write!(script, "tmux wait-for -S d{number}.{piece}; ").unwrap();
            if resize.is_some() {
                write!(script, "tmux wait-for g{number}.{piece}; ").unwrap();
            }
        }
        script.push_str("exec sleep 1000");
        script
    }

    fn shown(&self, number: usize, soup: &Soup) -> Shown {
        let target = format!("=s{number}:");
        for (piece, (_, resize)) in soup.pieces().into_iter().enumerate() {
            self.run(&["wait-for", &format!("d{number}.{piece}")]);
            if let Some(size) = resize {
                self.run(&["resize-window", "-t", &target, "-x", &size.cols.to_string(), "-y", &size.rows.to_string()]);
                self.run(&["wait-for", "-S", &format!("g{number}.{piece}")]);
            }
        }
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        let rows = lines(self.run(&["capture-pane", "-p", "-t", &target]));
        let joined = lines(self.run(&["capture-pane", "-p", "-J", "-S", "-", "-t", &target]));
        let cursor = self.run(&["display-message", "-p", "-t", &target, "#{cursor_x} #{cursor_y}"]);
        let mut cursor = cursor.split_whitespace().map(|number| number.parse().unwrap());
        let cursor = (cursor.next().unwrap(), cursor.next().unwrap());
        self.run(&["kill-session", "-t", &target]);
        Shown { rows, joined, cursor }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ignored = self.command(&["kill-server"]).output();
    }
}
