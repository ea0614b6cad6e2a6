# The last step of integration.bash where somebody has loaded that from its file: finds this shell's terminal, exports what
# a shell started from here needs, and puts the hook into PROMPT_COMMAND. Where the integration was inherited, all of this
# stands already.

# Somebody loaded this file on purpose, so this terminal is the one.
# After `exec </dev/tty` stdin has no other name, and stderr has. With set -T a DEBUG trap prints into this, too.
__DTMCP_TTY=$(__dtmcp_tty <&61)
[[ ${__DTMCP_TTY##*[[:space:]]} == /dev/pts/* ]] || __DTMCP_TTY=$(__dtmcp_tty)
if [[ ${__DTMCP_TTY##*[[:space:]]} == /dev/* ]]; then
    __DTMCP_TTY=${__DTMCP_TTY##*[[:space:]]}
    export __DTMCP_TTY
else
    unset __DTMCP_TTY
fi
# In one line, so that it does not bury what else `env` shows; @@ stands where a line ended.
__DTMCP_CODE=
while IFS= read -r __dtmcp_r; do
    __dtmcp_r=${__dtmcp_r#"${__dtmcp_r%%[![:space:]]*}"}
    [[ -z $__dtmcp_r || $__dtmcp_r == '#'* ]] || __DTMCP_CODE+=@"@"$__dtmcp_r
done <"${BASH_SOURCE[0]%/*}/integration.bash"
unset __dtmcp_r
__DTMCP_BASH='__dtmcp_inherited=1 __dtmcp_st1=$? __dtmcp_sp1=("${PIPESTATUS[@]}") __dtmcp_r=${__DTMCP_CODE//@"@"/$'"'\\n'"'}; eval "$__dtmcp_r"'
export __DTMCP_BASH __DTMCP_CODE __DTMCP_HOOK
# Where zsh and fish find what is theirs; both leave out a directory that they may not read.
__DTMCP_ZDIR=${BASH_SOURCE[0]%/*}
if [[ $__DTMCP_ZDIR == /* ]]; then
    if [[ :${XDG_DATA_DIRS-}: != *:"$__DTMCP_ZDIR":* ]]; then
        XDG_DATA_DIRS=$__DTMCP_ZDIR:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
        export XDG_DATA_DIRS
    fi
    __DTMCP_ZDIR+=/zsh
    export __DTMCP_ZDIR
else
    unset __DTMCP_ZDIR
fi
__dtmcp_adopt ''
# One command, so that all of it is read before aliases are the person's again.
{
    __dtmcp_alias
    # A PROMPT_COMMAND that cannot be changed: the prompts alone must do.
    if [[ ${PROMPT_COMMAND-} != *"$__DTMCP_HOOK"* ]]; then
        __dtmcp_prompt ''
    fi
}
