//! How many cells a character takes.
