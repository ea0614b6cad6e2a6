//! The cooked view: the raw stream interpreted into unbounded lines.
