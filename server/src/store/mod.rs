//! What is kept on disk: where it stands, who may read it, and who may write it.

pub mod files;
