#!/usr/bin/env bash
# get_stylua DIR: installs the pinned formatter of Lua under DIR and prints the path of its program. Needs npm and a
# registry once, touches nothing outside DIR. Fails with the reason on stderr if it is unavailable. Run directly, it uses
# target/tools.

get_stylua() {
    local lock folder
    lock=$(dirname "${BASH_SOURCE[0]}")/stylua/package-lock.json
    folder=$1/stylua
    if ! cmp -s "$lock" "$folder/installed.json" || ! stylua_program "$folder" >/dev/null; then
        command -v npm >/dev/null || { echo "stylua needs npm to be installed" >&2; return 1; }
        mkdir -p "$folder" && rm -f "$folder/installed.json" || return 1
        cp "$(dirname "$lock")"/package*.json "$folder/" || return 1
        (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$folder/log" 2>&1 || {
            echo "npm could not install stylua: $(tail -n 1 "$folder/log")" >&2
            return 1
        }
        stylua_program "$folder" >/dev/null || { echo "there is no stylua for this platform" >&2; return 1; }
        cp "$lock" "$folder/installed.json" || return 1
    fi
    stylua_program "$folder"
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
