# Sourced by contrib/try and contrib/test: finds what is missing and installs it, or says what to install.

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$*"
    exit 1
}

# need PROGRAM PACKAGE: notes the Debian package of a program that is not there.
missing=
need() {
    command -v "$1" >/dev/null 2>&1 && return 0
    case " $missing " in *" $2 "*) ;; *) missing="$missing $2" ;; esac
}

# install_missing: installs what was noted, with apt as root or through sudo; elsewhere it names it and stops.
install_missing() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        die "Missing, by the names of Debian's packages:$missing. Install them and run this again."
    fi
    if [ "$(id -u)" = 0 ]; then
        root=env
    elif command -v sudo >/dev/null 2>&1; then
        root=sudo
    else
        die "Missing:$missing. Run this as root, or: apt-get install$missing"
    fi
    say "Installing:$missing"
    # The lists of packages may be older than the packages, so they are fetched once where the first try fails.
    # shellcheck disable=SC2086
    if ! $root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >&2; then
        $root apt-get update >&2 || die "apt-get update failed"
        $root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >&2 ||
            die "apt-get could not install:$missing"
    fi
    missing=
}

# need_rust: a toolchain that is new enough, or how to get one.
need_rust() {
    # rustup puts itself there, and only new login shells know.
    command -v cargo >/dev/null 2>&1 || PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
    how="https://rustup.rs has the installer: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    command -v cargo >/dev/null 2>&1 || die "cargo is missing. $how"
    command -v rustc >/dev/null 2>&1 || die "rustc is missing. $how"
    wanted=$(sed -n 's/^rust-version = "\([0-9.]*\)"$/\1/p' Cargo.toml)
    version=$(rustc --version | cut -d' ' -f2)
    minor=${version#*.}
    if [ "${version%%.*}" = 1 ] && [ "${minor%%.*}" -lt "${wanted#*.}" ]; then
        die "rustc is $version, and $wanted or newer is needed: rustup update stable. $how"
    fi
}
