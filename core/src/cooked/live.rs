//! The lines that are not settled, read off the screen.

use super::Cooked;
use super::row::Row;
use super::screen::Screen;

/// Columns that a right prompt leaves free at the margin at most: zsh one (`ZLE_RPROMPT_INDENT`), fish none, and a shell
/// without UTF-8 two more for every sign of the prompt.
const RIGHT_INDENT: usize = 9;

/// Blanks between what is typed and a right prompt: zsh and fish take it away before it comes nearer.
const RIGHT_GAP: usize = 2;

/// The lines that are not settled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// In the order in which they would follow the settled ones, without trailing blanks and without the blank tail.
    pub lines: Vec<String>,
    /// Whether the last settled line is unfinished: then the first of `lines` is its continuation, and where there is
    /// none, it ends as it stands.
    pub continues: bool,
}

/// The cursor's line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CursorLine {
    /// What stands before the cursor, trailing blanks included; without what has left the screen or was cut off.
    pub text: String,
    /// Whether anything but blanks stands at the cursor or behind it in the same line, a prompt at the right margin aside.
    pub more: bool,
}

impl Cooked {
    /// The lines that are not settled.
    #[must_use]
    pub fn live(&self) -> Live {
        self.screen.live()
    }

    /// The cursor's line up to the cursor.
    #[must_use]
    pub fn line_at_cursor(&self) -> CursorLine {
        self.screen.line_at_cursor()
    }

    /// What the screen shows, row by row, without trailing blanks.
    #[must_use]
    pub fn screen_rows(&self) -> Vec<String> {
        let text = |row: &Row| {
            let mut text = String::new();
            row.text(0, row.used(), &mut text);
            text.truncate(text.trim_end_matches(' ').len());
            text
        };
        self.screen.rows.iter().map(text).collect()
    }
}

impl Screen {
    fn live(&self) -> Live {
        let rows = self.hidden.as_ref().map_or(&self.rows, |hidden| &hidden.rows);
        let mut lines: Vec<String> = Vec::new();
        let mut joined = self.settled.open;
        if joined {
            lines.push(" ".repeat(self.settled.blanks()));
        }
        for row in rows.iter().filter(|row| !row.past) {
            if !row.is_live() || row.is_said_again() {
                joined = false;
                continue;
            }
            if !joined || row.fresh {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                row.text(usize::from(row.from), row.used(), line);
            }
            joined = row.wrapped;
        }
        for line in &mut lines {
            line.truncate(line.trim_end_matches(' ').len());
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        Live { lines, continues: self.settled.open }
    }

    fn line_at_cursor(&self) -> CursorLine {
        let mut line = CursorLine::default();
        for at in self.line_start()..=self.row {
            let Some(row) = self.rows.get(at) else { break };
            let from = if row.is_live() { usize::from(row.from) } else { 0 };
            if at < self.row {
                row.text(from, row.used(), &mut line.text);
            } else {
                let end = self.column.min(row.used());
                row.text(from, end, &mut line.text);
                let blanks = self.column.saturating_sub(end.max(from));
                line.text.extend(std::iter::repeat_n(' ', blanks));
                line.more = !row.is_blank_from(self.column) && !self.is_right_prompt(row);
            }
        }
        let mut at = self.row + 1;
        while !line.more && self.is_joined(at) {
            line.more = self.rows.get(at).is_some_and(|row| !row.is_blank_from(0));
            at += 1;
        }
        line
    }

    /// Whether what stands behind the cursor in its row is a right prompt: set apart from it, and ending at the margin.
    fn is_right_prompt(&self, row: &Row) -> bool {
        let used = row.used();
        used + RIGHT_INDENT >= self.columns && row.is_blank_within(self.column, self.column + RIGHT_GAP)
    }
}
