//! The `timing` file beside `raw.log`: when each batch of bytes came, and how large the pane was.
//!
//! Text, one record a line, `OFFSET MS [WHAT]`: the offset in `raw.log` at which it holds, the wall-clock time in
//! milliseconds since the Unix epoch, and where it is more than "a batch begins here": `COLSxROWS`, `end`,
//! `lost N` or `lost unknown`. The first line names the format. A size stands before the bytes that were printed at
//! it, so that a reader who has bytes also has their size. A line that does not parse is a torn one: skip it.

use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;

/// The first line of the file.
pub const HEADER: &str = "dtmcp-timing 1";

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Bytes came.
    Batch,
    /// From here on the pane is this large.
    Size(Size),
    /// The pipe was closed: the pane is gone, or someone else took its pipe.
    End,
    /// This many bytes (where known) were printed here and could not be written.
    Lost(Option<u64>),
}

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Offset in `raw.log`, in bytes.
    pub offset: u64,
    /// When.
    pub wall: Wall,
    /// What.
    pub what: What,
}

impl Entry {
    /// Reads one line, without its line break. `None` for the header and for what is torn or from a newer version.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let offset = words.next()?.parse().ok()?;
        let wall = Wall(words.next()?.parse().ok()?);
        let what = match (words.next(), words.next()) {
            (None, _) => What::Batch,
            (Some("end"), None) => What::End,
            (Some("lost"), Some("unknown")) => What::Lost(None),
            (Some("lost"), Some(bytes)) => What::Lost(Some(bytes.parse().ok()?)),
            (Some(size), None) => {
                let (cols, rows) = size.split_once('x')?;
                What::Size(Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? })
            }
            _ => return None,
        };
        words.next().is_none().then_some(Self { offset, wall, what })
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.offset, self.wall.0)?;
        match self.what {
            What::Batch => Ok(()),
            What::Size(size) => write!(f, " {}x{}", size.cols, size.rows),
            What::End => f.write_str(" end"),
            What::Lost(None) => f.write_str(" lost unknown"),
            What::Lost(Some(bytes)) => write!(f, " lost {bytes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn every_kind_of_line_comes_back() {
        for what in
            [What::Batch, What::Size(Size { cols: 120, rows: 40 }), What::End, What::Lost(None), What::Lost(Some(7))]
        {
            let entry = Entry { offset: 12, wall: Wall(1_700_000_000_123), what };
            assert_eq!(Entry::parse(&entry.to_string()), Some(entry));
        }
    }

    #[test]
    fn what_is_torn_or_unknown_is_no_entry() {
        for line in ["", HEADER, "12", "12 x", "12 34 80x", "12 34 80x24 more", "12 34 lost", "12 34 end end", "12 34 "]
        {
            assert_eq!(Entry::parse(line), None, "{line:?}");
        }
    }
}
