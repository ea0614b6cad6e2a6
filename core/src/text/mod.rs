//! Text as a terminal and a model see it: cells of a string, clipping, control characters spelled out.

pub mod width;
