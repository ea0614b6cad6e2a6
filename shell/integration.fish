# Loads the shell integration of docent-terminal-mcp into a fish that is running already, by typing
#     source DIR/integration.fish; and set -gx __DTMCP_NONCE ...
# A fish that starts finds it by itself; fish/vendor_conf.d beside this file says how, and has all of it.

# Somebody loads this on purpose, so this terminal is the one.
set -e __DTMCP_TTY
set -e __dtmcp_id
functions -e __dtmcp_event
set -g __dtmcp_asked 1
source (status dirname)/fish/vendor_conf.d/docent-terminal-mcp.fish
set -e __dtmcp_asked
