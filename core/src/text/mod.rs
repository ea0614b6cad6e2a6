//! Text as a terminal and a model see it: cells of a string, clipping, control characters spelled out.

pub mod clip;
pub mod mask;
pub mod near;
pub mod visible;
pub mod width;
