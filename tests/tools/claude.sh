#!/usr/bin/env bash
# get_claude DIR: installs the pinned Claude Code CLI under DIR and prints the path of its program. Needs npm
# and a registry once, touches nothing outside DIR. Fails with the reason on stderr if it is unavailable. Run
# directly, it uses target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/npm.sh"

get_claude() {
    local folder=$1/claude program
    npm_get claude "$1" || return 1
    program=$(claude_program "$folder") || { echo "there is no Claude Code CLI for this platform" >&2; return 1; }
    if ! npm_is_installed claude "$1"; then
        mkdir -p "$folder/home" || return 1
        env -i PATH="$PATH" HOME="$folder/home" DISABLE_AUTOUPDATER=1 "$program" --version >"$folder/log" 2>&1 || {
            echo "the Claude Code CLI does not start: $(tail -n 1 "$folder/log")" >&2
            return 1
        }
        npm_done claude "$1" || return 1
    fi
    echo "$program"
}

# The package of the platform contains the program itself; the launcher next to it would need its install
# script.
claude_program() {
    local it
    for it in "$1"/node_modules/@anthropic-ai/claude-code-*/claude; do
        [ -x "$it" ] && (cd "$(dirname "$it")" && printf '%s/claude\n' "$(pwd -P)") && return
    done
    return 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_claude "$(dirname "$0")/../../target/tools"
fi
