# Starts a shell with the integration where none is installed: behind ssh, in a container, in a sandbox. POSIX sh, for
# whatever is called sh there.
#
# `dtmcp ssh` and `dtmcp into` put what they carry in place of the two lines of capitals: variables to set, and a
# function `unpack` that writes the integration's files into $d. Comments and indentation do not travel.
#
# Nothing is left behind: the last of the files takes the directory away when the shell ends, or earlier.

umask 077
@ENVIRONMENT@
@UNPACK@

# The login shell, where the far side tells one that is there, or the one that was asked for, by its name alone.
s=$(command -v "${SHELL-}" 2>/dev/null)
if [ -z "$s" ]; then
    u=$(id -u 2>/dev/null)
    s=$({ getent passwd "$u" || grep "^[^:]*:[^:]*:$u:" /etc/passwd; } 2>/dev/null | sed -n '1s/.*://p')
    command -v "$s" >/dev/null 2>&1 || s=
fi
case ${s##*/} in
    bash | zsh | fish) ;;
    *)
        b=$(command -v bash 2>/dev/null) && [ -n "$b" ] && s=$b
        [ -n "$s" ] || s=$(command -v sh)
        ;;
esac
SHELL=$s
export SHELL

plain() {
    [ -z "$1" ] || echo "dtmcp: $1; this is a plain shell" >&2
    unset __DTMCP_NONCE
    exec "$s" -l
}

k=${s##*/}
case $k in
    bash)
        "$s" --norc -c '[ "${BASH_VERSINFO[0]}" -gt 4 ] || [ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -ge 44 ]' 2>/dev/null ||
            plain "this bash is older than 4.4, which the integration needs"
        ;;
    zsh | fish) ;;
    *) plain "the integration is for bash, zsh and fish" ;;
esac

# A place for the files. What cannot be written whole (a full disk) is no place.
d=
trap '[ -z "$d" ] || rm -rf "$d"; exit 129' 1 2 15
for t in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm "${XDG_RUNTIME_DIR:-/tmp}" "${HOME:-/tmp}"; do
    [ -d "$t" ] && [ -w "$t" ] || continue
    d=$(mktemp -d "$t/dtmcp.XXXXXX" 2>/dev/null) || {
        # mkdir takes nothing that is there already, so the name need not be secret.
        d=$t/dtmcp.$$
        mkdir "$d" 2>/dev/null || d=
    }
    [ -n "$d" ] || continue
    unpack 2>/dev/null && break
    rm -rf "$d"
    d=
done
[ -n "$d" ] || plain "there is no directory to unpack the integration in"

# This text is an argument of a process, which lists of processes show in full. The file has a short name.
exec sh "$d/stay" "$k" "$s"
