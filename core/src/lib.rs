//! The deterministic core of docent-terminal-mcp.
//!
//! Nothing here reads a clock, a file, the environment or a process, and nothing blocks or fails because the
//! world does. A session is a value that is told things ([`session::Event`]) and asked what it wants
//! ([`session::Effect`]); time is an argument ([`time::Now`]). Modules in reading order.

#![forbid(unsafe_code)]

pub mod pattern;
pub mod text;
pub mod time;

pub mod vt;

pub mod cooked;
pub mod lines;

pub mod log;
pub mod prompt;
pub mod region;

pub mod inspect;
pub mod place;
mod prefix;
pub mod waiting;

pub mod integration;
pub mod remote;

pub mod keys;

pub mod call;
pub mod session;

pub mod read;
pub mod search;
pub mod show;
pub mod summary;

mod advice;
pub mod reply;

pub mod record;
pub mod resource;

pub mod guide;
