//! The server of docent-terminal-mcp: MCP in front, tmux behind, a session task between.

#![forbid(unsafe_code)]
