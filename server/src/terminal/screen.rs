//! What a pane shows, out of `capture-pane -p -e`.
//!
//! With `-e` tmux says which cells are line drawing (between SO and SI); without, it prints the letters `lqk` that
//! stand for them. Its other control sequences are dropped: the colours are for a person.

use dtmcp_core::cooked::Size;
use unicode_width::UnicodeWidthChar as _;

/// Cells between two tab stops.
const TAB: usize = 8;

/// What a person who looks at the pane sees, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    /// Every row from the top, without blanks at its end.
    pub rows: Vec<String>,
    /// Columns and rows of the pane.
    pub cols: u16,
    /// The cursor's column and row, from 0. The column is `cols` where the last cell was just filled.
    pub cursor: (u16, u16),
    /// The alternate screen is up.
    pub alternate: bool,
}

impl Screen {
    /// The pane's size.
    #[must_use]
    pub fn size(&self) -> Size {
        Size { cols: self.cols, rows: u16::try_from(self.rows.len()).unwrap_or(u16::MAX) }
    }
}

/// The text of the rows that tmux printed.
pub(super) fn rows(lines: &[Vec<u8>]) -> Vec<String> {
    // A row may begin in the character set that the one before it ended in.
    let mut drawing = false;
    lines.iter().map(|line| row(&String::from_utf8_lossy(line), &mut drawing)).collect()
}

fn row(line: &str, drawing: &mut bool) -> String {
    let mut text = String::with_capacity(line.len());
    let mut column = 0;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{e}' => *drawing = true,
            '\u{f}' => *drawing = false,
            // From 3.6 on tmux keeps the tabs that a program printed.
            '\t' => {
                let blanks = TAB - column % TAB;
                text.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            c if c.is_control() => {}
            c => {
                let c = if *drawing { line_drawing(c) } else { c };
                column += c.width().unwrap_or(0);
                text.push(c);
            }
        }
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

/// Skips what follows an ESC: a CSI up to its final byte, an OSC (a hyperlink) up to its end, or one character.
fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => {
            rest.find(|c| ('@'..='~').contains(c));
        }
        Some(']') => {
            let mut before = '\0';
            rest.find(|c| {
                let end = *c == '\u{7}' || (before == '\u{1b}' && *c == '\\');
                before = *c;
                end
            });
        }
        _ => {}
    }
}

/// The DEC special graphics set, as the terminfo capability `acsc` names it.
fn line_drawing(c: char) -> char {
    match c {
        '+' => '→',
        ',' => '←',
        '-' => '↑',
        '.' => '↓',
        '0' => '█',
        '`' => '◆',
        'a' => '▒',
        'b' => '␉',
        'c' => '␌',
        'd' => '␍',
        'e' => '␊',
        'f' => '°',
        'g' => '±',
        'h' => '␤',
        'i' => '␋',
        'j' => '┘',
        'k' => '┐',
        'l' => '┌',
        'm' => '└',
        'n' => '┼',
        'o' => '⎺',
        'p' => '⎻',
        'q' => '─',
        'r' => '⎼',
        's' => '⎽',
        't' => '├',
        'u' => '┤',
        'v' => '┴',
        'w' => '┬',
        'x' => '│',
        'y' => '≤',
        'z' => '≥',
        '{' => 'π',
        '|' => '≠',
        '}' => '£',
        '~' => '·',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> Vec<String> {
        rows(&lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn colours_links_and_blanks_go() {
        assert_eq!(text(&["\u{1b}[1;31mred\u{1b}[0m  "]), ["red"]);
        assert_eq!(text(&["\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\ on"]), ["link on"]);
        assert_eq!(text(&["\u{1b}]8;;http://x\u{7}link"]), ["link"]);
    }

    #[test]
    fn line_drawing_is_drawn_also_across_rows() {
        assert_eq!(text(&["\u{e}lqk\u{f}lqk", "\u{e}x", "x\u{f}x"]), ["┌─┐lqk", "│", "│x"]);
    }

    #[test]
    fn tabs_reach_the_next_stop_past_wide_characters() {
        assert_eq!(text(&["a\tb", "日本\tb", "\t\tc"]), ["a       b", "日本    b", "                c"]);
    }
}
