#!/usr/bin/env bash
# get_codex DIR, get_opencode DIR, get_gemini DIR, get_qwen DIR: install the pinned CLI under DIR and print the path of
# its program. They need npm and a registry once (gemini and qwen also node) and touch nothing outside DIR. They fail
# with the reason on stderr if it is unavailable. Run directly, it installs the named ones, else all, into
# target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/npm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/node24.sh"

get_codex() { agent_get codex "$1" '@openai/codex-*/vendor/*/bin/codex'; }
get_opencode() { agent_get opencode "$1" 'opencode-*/bin/opencode'; }
get_gemini() { agent_get gemini "$1" '.bin/gemini'; }

# It needs a newer node than many machines have: the pinned one is installed too, and a script of ours starts
# both.
get_qwen() {
    local program node script=$1/qwen/bin/qwen
    node=$(get_node24 "$1") || return 1
    program=$(PATH=$(dirname "$node"):$PATH agent_get qwen "$1" '.bin/qwen') || return 1
    mkdir -p "$(dirname "$script")" || return 1
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$node" "$program" >"$script" && chmod +x "$script" || return 1
    (cd "$(dirname "$script")" && printf '%s/qwen\n' "$(pwd -P)")
}

# agent_get NAME DIR PROGRAM: PROGRAM is a pattern below node_modules; the first one that starts is used, because
# some packages contain one per processor type.
agent_get() {
    npm_get "$1" "$2" || return 1
    mkdir -p "$2/$1/home"
    local it
    for it in "$2/$1"/node_modules/$3; do
        [ -x "$it" ] && agent_starts "$it" "$2/$1" || continue
        npm_done "$1" "$2" || return 1
        (cd "$(dirname "$it")" && printf '%s/%s\n' "$(pwd -P)" "$(basename "$it")") && return
    done
    echo "$1 does not start here: $(tail -n 1 "$2/$1/log")" >&2
    return 1
}

# Once is enough: an installed program was started before.
agent_starts() {
    [ -e "$2/installed.json" ] && return
    env -i PATH="$PATH" HOME="$2/home" OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
        timeout 60 "$1" --version >>"$2/log" 2>&1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    [ $# -gt 0 ] || set -- codex opencode gemini qwen
    for agent; do "get_$agent" "$(dirname "$0")/../../target/tools"; done
fi
