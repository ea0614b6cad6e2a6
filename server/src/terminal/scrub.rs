//! What must not reach the shells of a session: variables that clients set for themselves.
//!
//! An MCP client starts this server with variables that speak of that one client: that it is running (a client started
//! inside would then refuse to), its session, its sockets and tokens. A tmux server started from here would hand them
//! to every shell for as long as it lives. The person's own variables stay.

use std::ffi::{OsStr, OsString};

/// Names that are taken out; a `*` at the end stands for anything.
pub const SCRUBBED: &[&str] = &[
    // Claude Code and Claude Desktop.
    "CLAUDECODE",
    "CLAUDE_*",
    // What several agents set to say that one of them is at work.
    "AI_AGENT",
    "AGENT",
    // Codex, Gemini, Cursor, opencode, Hermes.
    "CODEX_*",
    "GEMINI_CLI*",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "OPENCODE",
    "OPENCODE_*",
    "HERMES_*",
    // MCP's own launchers and inspectors.
    "MCP_*",
    // A tmux that the client itself runs in.
    "TMUX",
    "TMUX_PANE",
    // What systemd tells a service about itself.
    "NOTIFY_SOCKET",
    "LISTEN_*",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID",
    // Ours: they are for this server, not for one that is started inside.
    "DOCENT_TERMINAL_MCP_*",
    "__DTMCP_*",
];

/// Exceptions: where these are set, the person set them, and a client inside needs them.
pub const KEPT: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    // Named by the client for the far side of an ssh, in a session's own environment.
    "DOCENT_TERMINAL_MCP_SSH_ENV",
];

/// Whether a variable of this name is taken out.
pub(super) fn is_scrubbed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    !KEPT.contains(&name)
        && SCRUBBED.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
}

/// An environment without what clients put there for themselves.
#[must_use]
pub fn scrub(env: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    env.into_iter().filter(|(name, _)| !is_scrubbed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_variables_go_and_the_persons_stay() {
        for gone in ["CLAUDECODE", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "AI_AGENT", "CODEX_SANDBOX", "TMUX"] {
            assert!(is_scrubbed(OsStr::new(gone)), "{gone}");
        }
        for kept in ["PATH", "HOME", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "TMUX_TMPDIR", "CODEXX", "AGENTS"] {
            assert!(!is_scrubbed(OsStr::new(kept)), "{kept}");
        }
    }
}
