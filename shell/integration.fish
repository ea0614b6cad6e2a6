# Loads the shell integration of docent-terminal-mcp into a fish that is running already, by typing
#     source DIR/integration.fish; and set -gx __DTMCP_NONCE ...
# A fish that starts finds it by itself; fish/vendor_conf.d beside this file says how, and has all of it.

# The environment from which a bash or zsh started in here takes its integration, where $argv[1] holds it;
# integration.bash says how.
function __dtmcp_carry
    set -gx __DTMCP_ZDIR $argv[1]/zsh
    if not builtin contains -- $argv[1] (string split : -- "$XDG_DATA_DIRS")
        test -n "$XDG_DATA_DIRS"; or set -gx XDG_DATA_DIRS /usr/local/share:/usr/share
        set -gx XDG_DATA_DIRS "$argv[1]:$XDG_DATA_DIRS"
    end
    test -r $argv[1]/integration.bash; or return
    read -lz text <$argv[1]/integration.bash
    set -gx __DTMCP_CODE @@(string trim -l -- (string split \n -- $text) | string match -rv '^(#|$)' | string join @@)
    set -gx __DTMCP_HOOK (string replace -r '(?s)^.*\n__DTMCP_HOOK=\'([^\']*)\'.*$' '$1' -- $text | string collect)
    set -gx PROMPT_COMMAND $__DTMCP_HOOK
    set -gx PS0 (string replace -r '(?s)^.*\n__dtmcp_arm=\'([^\']*)\'.*$' '$1' -- $text | string collect)
    set -gx __DTMCP_BASH '__dtmcp_inherited=1 __dtmcp_st1=$? __dtmcp_sp1=("${PIPESTATUS[@]}") __dtmcp_r=${__DTMCP_CODE//@"@"/$\'\\n\'}; eval "$__dtmcp_r"'
end

# Somebody loads this on purpose, so this terminal is the one.
set -e __DTMCP_TTY
set -e __dtmcp_id
builtin functions -e __dtmcp_event
set -g __dtmcp_asked 1
builtin source (status dirname)/fish/vendor_conf.d/docent-terminal-mcp.fish
__dtmcp_carry (builtin realpath (status dirname))
builtin functions -e __dtmcp_carry
set -e __dtmcp_asked
