# First startup file of a zsh that was started with ZDOTDIR naming this directory: by a session, or from an integrated
# shell.
#
# It gives ZDOTDIR back before it does anything else, so that zsh itself goes on with the person's own .zprofile,
# .zshrc and .zlogin, and the system's files see the ZDOTDIR they expect: HISTFILE, .zcompdump and whatever else is
# named after it are where they always are.

__dtmcp_dir=$ZDOTDIR
if (( ${+__DTMCP_USER_ZDOTDIR} )); then
    export ZDOTDIR=$__DTMCP_USER_ZDOTDIR
else
    unset ZDOTDIR
fi
unset __DTMCP_USER_ZDOTDIR

[[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && . "${ZDOTDIR:-$HOME}/.zshenv"

# A script, a pipe or another terminal than the session's needs nothing more.
if [[ -o interactive && -n ${__DTMCP_NONCE-} && -n ${__dtmcp_dir-} ]]; then
    __dtmcp_inherited=1
    . "${__dtmcp_dir:h}/integration.zsh"
fi
unset __dtmcp_dir __dtmcp_inherited
