//! DEC's line-drawing characters, as tmux draws them.

/// What an ASCII character stands for while the line-drawing set is chosen.
///
/// The table is tmux's (`tty_acs_table`), the five arrows and the block in front of it included, because it is what a
/// person at the terminal sees.
#[must_use]
pub fn line_drawing(byte: u8) -> char {
    match byte {
        b'+' => '→',
        b',' => '←',
        b'-' => '↑',
        b'.' => '↓',
        b'0' => '▮',
        b'`' => '◆',
        b'a' => '▒',
        b'b' => '␉',
        b'c' => '␌',
        b'd' => '␍',
        b'e' => '␊',
        b'f' => '°',
        b'g' => '±',
        b'h' => '␤',
        b'i' => '␋',
        b'j' => '┘',
        b'k' => '┐',
        b'l' => '┌',
        b'm' => '└',
        b'n' => '┼',
        b'o' => '⎺',
        b'p' => '⎻',
        b'q' => '─',
        b'r' => '⎼',
        b's' => '⎽',
        b't' => '├',
        b'u' => '┤',
        b'v' => '┴',
        b'w' => '┬',
        b'x' => '│',
        b'y' => '≤',
        b'z' => '≥',
        b'{' => 'π',
        b'|' => '≠',
        b'}' => '£',
        b'~' => '·',
        _ => char::from(byte),
    }
}
