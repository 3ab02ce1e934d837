#!/usr/bin/env bash
# get_nvim 0.10|0.12 DIR: installs a real Neovim of that series under DIR, from Debian's packages and without touching
# the system, and prints the path of its program. Fails with the reason on stderr if it is unavailable. DIR must not
# move afterwards: the library paths are written into it. Run directly, it installs both series into target/tools.

get_nvim() {
    local series=$1 suite folder
    case "$series" in
        0.10) suite=trixie ;;
        0.12) suite=sid ;;
        *) echo "Neovim $series is in no Debian suite known here" >&2; return 1 ;;
    esac
    folder=$2/nvim-$series
    if ! nvim_is "$series" "$folder/nvim"; then
        rm -rf "$folder" && mkdir -p "$folder" || return 1
        folder=$(cd "$folder" && pwd -P)
        . "$(dirname "${BASH_SOURCE[0]}")/debian.sh"
        debian_unpack "$suite" "$folder" neovim patchelf || return 1
        debian_rpath "$folder" usr/bin/nvim || return 1
        printf '#!/bin/sh\nVIMRUNTIME=${VIMRUNTIME:-%s} exec %s "$@"\n' \
            "$folder/usr/share/nvim/runtime" "$folder/usr/bin/nvim" >"$folder/nvim"
        chmod +x "$folder/nvim"
        nvim_is "$series" "$folder/nvim" || {
            echo "Debian $suite has another Neovim than $series: $("$folder/nvim" --version 2>&1 | head -n 1)" >&2
            return 1
        }
    fi
    (cd "$folder" && printf '%s/nvim\n' "$(pwd -P)")
}

nvim_is() { [ -x "$2" ] && "$2" --version 2>/dev/null | head -n 1 | grep -q "^NVIM v${1//./\\.}\."; }

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    tools=$(dirname "$0")/../../target/tools
    get_nvim 0.10 "$tools"
    get_nvim 0.12 "$tools"
fi
