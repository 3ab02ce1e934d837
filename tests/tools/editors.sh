#!/usr/bin/env bash
# get_helix DIR, get_emacs DIR: install these editors under DIR, from Debian's packages and without touching the system,
# and print the path of the program. Fail with the reason on stderr if they are unavailable. DIR must not move
# afterwards: the library paths are written into them. Run directly, it installs both into target/tools.

get_helix() { get_editor "$1" helix hx hx usr/lib/hx/hx; }

get_emacs() { get_editor "$1" emacs emacs emacs-nox usr/bin/emacs-nox; }

# get_editor DIR NAME PROGRAM PACKAGE BINARY
get_editor() {
    local folder=$1/$2 program=$3 package=$4 binary=$5
    if ! "$folder/$program" --version >/dev/null 2>&1; then
        rm -rf "$folder" && mkdir -p "$folder" || return 1
        folder=$(cd "$folder" && pwd -P)
        . "$(dirname "${BASH_SOURCE[0]}")/debian.sh"
        debian_unpack trixie "$folder" "$package" patchelf || return 1
        debian_rpath "$folder" "$binary" || return 1
        { echo '#!/bin/sh'; "start_$2" "$folder" "$binary"; } >"$folder/$program"
        chmod +x "$folder/$program"
        "$folder/$program" --version >/dev/null || { echo "$2 does not start" >&2; return 1; }
    fi
    (cd "$folder" && printf '%s/%s\n' "$(pwd -P)" "$program")
}

start_helix() { printf 'HELIX_RUNTIME=%s exec %s "$@"\n' "$1/usr/lib/hx/runtime" "$1/$2"; }

# Emacs has its folders compiled in; every one has to be overridden.
start_emacs() {
    local dump share
    dump=$(echo "$1"/usr/libexec/emacs/*/*/emacs-*.pdmp)
    share=$(echo "$1"/usr/share/emacs/[0-9]*)
    printf 'export EMACSLOADPATH=%s EMACSDATA=%s EMACSDOC=%s EMACSPATH=%s\n' \
        "$share/lisp" "$share/etc" "$share/etc" "$(dirname "$dump")"
    printf 'exec %s --dump-file=%s "$@"\n' "$1/$2" "$dump"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    tools=$(dirname "$0")/../../target/tools
    get_helix "$tools"
    get_emacs "$tools"
fi
