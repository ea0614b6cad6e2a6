//! `session.txt`: the cooked log on disk, written as lines settle and read back by number.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use dtmcp_core::cooked::Live;
use dtmcp_core::lines::{LineTable, Lines};

use super::files;

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;

/// A line longer than this, in bytes, is handed to readers without its middle: a gigabyte without a line break must
/// not enter memory.
const LINE_MAX: usize = 1024 * 1024;

/// The writer's side of `session.txt`.
#[derive(Debug)]
pub struct SessionText {
    file: Arc<File>,
    table: Arc<RwLock<LineTable>>,
    settled: u64,
    /// Bytes of unsettled lines that stand behind the settled ones in the file.
    tail: u64,
}

impl SessionText {
    /// Begins the file anew; what it held is derived from the raw log again.
    ///
    /// # Errors
    /// Where it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = files::open_or_create(path)?;
        file.set_len(0)?;
        Ok(Self { file: Arc::new(file), table: Arc::default(), settled: 0, tail: 0 })
    }

    /// Appends text that never changes again.
    ///
    /// # Errors
    /// Where it cannot be written; the text is then missing from the file, and its numbers hold nothing.
    pub fn settle(&mut self, text: &[u8]) -> io::Result<()> {
        self.table.write().unwrap_or_else(PoisonError::into_inner).extend(text);
        let at = self.settled;
        self.settled += text.len() as u64;
        self.file.write_all_at(text, at)?;
        let length = at + self.tail;
        self.tail = 0;
        if length > self.settled { self.file.set_len(self.settled) } else { Ok(()) }
    }

    /// Writes the lines that may still change behind the settled ones, so that the file holds every line that a
    /// reply names.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_tail(&mut self, live: &Live) -> io::Result<()> {
        let mut text = live.lines.join("\n").into_bytes();
        if !live.lines.is_empty() {
            text.push(b'\n');
        }
        self.file.write_all_at(&text, self.settled)?;
        let shrinks = (text.len() as u64) < self.tail;
        self.tail = text.len() as u64;
        if shrinks { self.file.set_len(self.settled + self.tail) } else { Ok(()) }
    }

    /// The lines as they stand.
    #[must_use]
    pub fn snapshot(&self, live: Live) -> LogLines {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        LogLines {
            file: Arc::clone(&self.file),
            table: Arc::clone(&self.table),
            settled_lines: table.lines(),
            settled_bytes: self.settled,
            live: live.lines,
            continues: live.continues,
        }
    }
}

/// A snapshot of a session's lines: the settled ones in the file, which never change, and a copy of the others.
#[derive(Debug, Clone)]
pub struct LogLines {
    file: Arc<File>,
    table: Arc<RwLock<LineTable>>,
    settled_lines: u64,
    settled_bytes: u64,
    live: Vec<String>,
    /// The first of `live` goes on with an unfinished settled piece.
    continues: bool,
}

impl LogLines {
    /// Opens the `session.txt` of a closed session; every line of it is settled.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let mut table = LineTable::default();
        let mut buffer = vec![0; PIECE];
        loop {
            let read = file.read_at(&mut buffer, table.bytes())?;
            if read == 0 {
                break;
            }
            table.extend(buffer.get(..read).unwrap_or_default());
        }
        let (settled_lines, settled_bytes) = (table.lines(), table.bytes());
        Ok(Self {
            file: Arc::new(file),
            table: Arc::new(RwLock::new(table)),
            settled_lines,
            settled_bytes,
            live: Vec::new(),
            continues: false,
        })
    }

    fn locate(&self, line: u64) -> (u64, u64) {
        self.table.read().unwrap_or_else(PoisonError::into_inner).locate(line)
    }

    /// Hands over the settled lines of a range, and returns the unfinished piece behind them if the range reaches it.
    fn visit_settled(
        &self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Line>, String> {
        let (mut offset, skip) = self.locate(from);
        let mut number = from - skip;
        let mut buffer = vec![0; PIECE];
        let mut line = Line::default();
        while offset < self.settled_bytes && number <= to {
            let wanted = usize::try_from(self.settled_bytes - offset).unwrap_or(PIECE).min(PIECE);
            let read = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), offset);
            let read = read.map_err(|error| format!("session.txt: {error}"))?;
            if read == 0 {
                return Err("session.txt is shorter than what was written to it".to_owned());
            }
            offset += read as u64;
            let mut rest = buffer.get(..read).unwrap_or_default();
            while let Some(at) = memchr::memchr(b'\n', rest) {
                let (head, tail) = rest.split_at(at);
                rest = tail.get(1..).unwrap_or_default();
                if number >= from {
                    // Most lines stand whole in what was read, and need no copy.
                    let flow = if line.head.is_empty() {
                        visit(number, &String::from_utf8_lossy(head))
                    } else {
                        line.push(head);
                        visit(number, &line.text())
                    };
                    if flow.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                line = Line::default();
                number += 1;
                if number > to {
                    return Ok(ControlFlow::Continue(line));
                }
            }
            line.push(rest);
        }
        Ok(ControlFlow::Continue(line))
    }
}

impl Lines for LogLines {
    fn last(&self) -> u64 {
        self.settled_lines + self.live.len() as u64
    }

    fn offset(&self, line: u64) -> u64 {
        self.locate(line).0.min(self.settled_bytes)
    }

    fn visit(&self, from: u64, to: u64, visit: &mut dyn FnMut(u64, &str) -> ControlFlow<()>) -> Result<(), String> {
        let from = from.max(1);
        let to = to.min(self.last());
        let mut piece = Line::default();
        let needs_piece = self.continues && to > self.settled_lines && from <= self.settled_lines + 1;
        if from <= self.settled_lines.min(to) || needs_piece {
            match self.visit_settled(from, to, visit)? {
                ControlFlow::Break(()) => return Ok(()),
                ControlFlow::Continue(rest) => piece = rest,
            }
        }
        for (number, text) in (self.settled_lines + 1..).zip(&self.live) {
            if number < from {
                continue;
            }
            if number > to {
                break;
            }
            let flow = if self.continues && number == self.settled_lines + 1 {
                piece.push(text.as_bytes());
                visit(number, &piece.text())
            } else {
                visit(number, text)
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A line being put together, its middle left out where it is too long.
#[derive(Debug, Default)]
struct Line {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: u64,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        let room = LINE_MAX.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * PIECE {
            let drop = self.tail.len() - PIECE;
            self.tail.drain(..drop);
            self.left_out += drop as u64;
        }
    }

    fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            let note = format!(" [... {} bytes left out ...] ", self.left_out);
            text.push_str(&note);
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn live(lines: &[&str], continues: bool) -> Live {
        Live { lines: lines.iter().map(|line| (*line).to_owned()).collect(), continues }
    }

    #[test]
    fn settled_and_unsettled_lines_are_read_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = SessionText::create(&dir.path().join("session.txt")).unwrap();
        let settled: String = (1..=200).map(|n| format!("n{n}\n")).collect();
        text.settle(settled.as_bytes()).unwrap();
        text.write_tail(&live(&["a", "b"], false)).unwrap();
        let lines = text.snapshot(live(&["a", "b"], false));
        assert_eq!(lines.last(), 202);
        assert_eq!(lines.collect(199, 300).unwrap(), ["n199", "n200", "a", "b"]);
        assert_eq!(lines.collect(202, 202).unwrap(), ["b"]);
        // A snapshot stays what it was.
        text.settle(b"a\nc\n").unwrap();
        assert_eq!(lines.collect(200, 300).unwrap(), ["n200", "a", "b"]);
        text.write_tail(&live(&["d"], false)).unwrap();
        let on_disk = std::fs::read_to_string(dir.path().join("session.txt")).unwrap();
        assert!(on_disk.ends_with("n200\na\nc\nd\n"));
        text.write_tail(&live(&[], false)).unwrap();
        assert_eq!(LogLines::open(&dir.path().join("session.txt")).unwrap().last(), 202);
    }

    #[test]
    fn an_unfinished_piece_is_part_of_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = SessionText::create(&dir.path().join("session.txt")).unwrap();
        text.settle(b"one\nlong ").unwrap();
        let lines = text.snapshot(live(&["end", "next"], true));
        assert_eq!(lines.collect(1, 9).unwrap(), ["one", "long end", "next"]);
        assert_eq!(lines.collect(2, 2).unwrap(), ["long end"]);
        assert_eq!(lines.collect(3, 3).unwrap(), ["next"]);
    }

    #[test]
    fn a_huge_line_loses_its_middle_to_readers() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = SessionText::create(&dir.path().join("session.txt")).unwrap();
        text.settle(&vec![b'x'; 5_000_000]).unwrap();
        text.settle(b"END\nafter\n").unwrap();
        let lines = text.snapshot(live(&[], false)).collect(1, 2).unwrap();
        assert!(lines[0].len() < 2 * LINE_MAX && lines[0].ends_with("END") && lines[0].contains("bytes left out"));
        assert_eq!(lines[1], "after");
    }
}
