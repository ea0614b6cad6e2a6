//! The cooked view: the raw stream interpreted into unbounded lines.

/// A pane's size in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// What is being printed, as the shell's markers say; cells remember it, so that the typed command can be read
/// off the screen after any editing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tag {
    /// A program's output.
    #[default]
    Output,
    /// A prompt, also a continuation prompt.
    Prompt,
    /// What is typed behind a prompt.
    Input,
}

/// An OSC 133 string found in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What stands behind `133;`.
    pub payload: Vec<u8>,
    /// Raw offset of its ESC.
    pub start: u64,
    /// Raw offset just past its terminator.
    pub end: u64,
}

/// How far one call of `feed` came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fed {
    /// Bytes taken from the slice.
    pub consumed: usize,
    /// The OSC 133 string that stopped it; none where the slice is used up.
    pub mark: Option<Mark>,
}
