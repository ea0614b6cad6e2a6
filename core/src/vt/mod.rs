//! Bytes to operations, and the markers among them.

pub mod charset;
pub mod marker;
pub mod parse;
pub mod utf8;
