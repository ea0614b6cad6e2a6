//! Bytes to operations, and the markers among them.

pub mod marker;
