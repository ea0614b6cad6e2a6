# Puts the integration's files under the home directory of whoever runs this, or takes them away. POSIX sh, for whatever
# is called sh on a host: `dtmcp install` gives it to an ssh as standard input, the files in it.
#
# In place of the two lines of capitals stand a function `unpack`, which writes the files into the directory $1, and the
# call. The call is the last line and in braces: of a script that was cut off on its way nothing runs. What it came to is
# one line of standard output, `dtmcp-install: RESULT USER@HOST VERSIONS DIRECTORY`; why it failed goes to standard error.
#
# The files are whole or not there: they are written beside their place, counted, and moved there.

@UNPACK@

umask 077
top=${HOME-}/.local/share/docent-terminal-mcp
gone=

result() {
    echo "dtmcp-install: $1 $(id -un 2>/dev/null || echo "${USER:-unknown}")@$(uname -n) ${gone:--} $2"
}

fail() {
    echo "dtmcp: $1" >&2
    result failed "$top"
    exit 1
}

# Takes away the versions before $1, and what runs of this script that were killed have left.
take_older() {
    for it in "$top"/v[0-9]* "$top"/.new.* "$top"/.old.*; do
        [ -d "$it" ] || continue
        name=${it##*/}
        case $name in
            v*[!0-9]*) ;;
            v*)
                [ "${name#v}" -lt "$1" ] || continue
                rm -rf "$it" && gone=${gone:+$gone,}$name
                ;;
            *.*.*[!0-9]*) ;;
            *) kill -0 "${name##*.}" 2>/dev/null || rm -rf "$it" ;;
        esac
    done
}

# Whether the files in $1 are those in $2.
same() {
    for it in @NAMES@; do
        [ -f "$2/$it" ] && [ "$(cat "$1/$it")" = "$(cat "$2/$it")" ] || return 1
    done
}

put() {
    [ -n "${HOME-}" ] && [ -d "$HOME" ] || fail "there is no home directory (HOME is '${HOME-}'); nothing was changed"
    why=$(mkdir -p "$top" 2>&1) || fail "$top cannot be made: $why; nothing was changed"
    new=$top/.new.$$ old=$top/.old.$$ place=$top/v$1
    trap 'rm -rf "$new"' 0
    trap 'exit 129' 1
    trap 'exit 130' 2
    trap 'exit 143' 15
    why=$(mkdir "$new" 2>&1) || fail "$new cannot be made: $why; nothing was changed"
    why=$(unpack "$new" 2>&1) || fail "the files cannot be written to $top${why:+: $why} (is there room?); nothing was changed"
    done=put
    if same "$new" "$place"; then
        done=same
    else
        if [ -e "$place" ] || [ -h "$place" ]; then
            why=$(mv "$place" "$old" 2>&1) || fail "$place cannot be replaced: $why; it stands as it was"
        fi
        why=$(mv "$new" "$place" 2>&1) || {
            [ ! -d "$old" ] || mv "$old" "$place"
            fail "$place cannot be put in its place: $why; what stood there stands there still"
        }
        rm -rf "$old"
    fi
    rm -rf "$new"
    take_older "$1"
    result "$done" "$place"
}

take_away() {
    for it in "$top"/v[0-9]*; do
        [ -d "$it" ] || continue
        why=$(rm -rf "$it" 2>&1) || fail "$it cannot be taken away: $why"
        gone=${gone:+$gone,}${it##*/}
    done
    take_older 0
    rmdir "$top" 2>/dev/null
    if [ -n "$gone" ]; then result removed "$top"; else result none "$top"; fi
}

@CALL@
