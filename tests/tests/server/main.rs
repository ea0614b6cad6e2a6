//! The whole server but for tmux: a client on in-memory pipes, the front, the hub, the sessions and their files, over
//! a terminal that is scripted.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod client;
mod files;
mod restart;
mod sessions;
mod trouble;
