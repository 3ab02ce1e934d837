#!/usr/bin/env bash
# get_stylua DIR: installs the pinned formatter of Lua under DIR and prints the path of its program. Needs npm and a
# registry once, touches nothing outside DIR. Fails with the reason on stderr if it is unavailable. Run directly, it uses
# target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/npm.sh"

get_stylua() {
    local program
    npm_get stylua "$1" || return 1
    program=$(stylua_program "$1/stylua") || { echo "there is no stylua for this platform" >&2; return 1; }
    npm_done stylua "$1" || return 1
    echo "$program"
}

# The package of the platform contains the program itself.
stylua_program() {
    local it
    for it in "$1"/node_modules/@johnnymorganz/stylua-bin-*/stylua; do
        [ -x "$it" ] && (cd "$(dirname "$it")" && printf '%s/stylua\n' "$(pwd -P)") && return
    done
    return 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_stylua "$(dirname "$0")/../../target/tools"
fi
