//! MCP: everything of rmcp is in here. Tools and their arguments in front, a [`desk::Desk`] behind.

pub mod agent;
pub mod args;
pub mod desk;
pub mod handler;
pub mod lines;
pub mod numbers;
mod resources;
pub mod schema;
pub mod serve;
pub mod tools;
pub mod turns;
pub mod web;
