#!/usr/bin/env bash
# get_code_server DIR: installs the pinned code-server (Visual Studio Code with its real extension host) under DIR and
# prints the path of its entry script, to be run by node 24. Needs npm, a C++ compiler, make and python3, and a registry
# once; touches nothing outside DIR. Fails with the reason on stderr if it is unavailable. Run directly, it uses
# target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/node24.sh"

get_code_server() {
    local folder=$1/code-server/node_modules/code-server node need
    node=$(get_node24 "$1") || return 1
    if ! npm_is_installed code-server "$1"; then
        for need in c++ make python3; do
            command -v "$need" >/dev/null || { echo "code-server needs $need to build its native parts" >&2; return 1; }
        done
        npm_get code-server "$1" || return 1
        code_server_finish "$folder" "$node" "$1/code-server/log" || return 1
        code_server_starts "$folder" "$node" || { echo "code-server does not start" >&2; return 1; }
        npm_done code-server "$1" || return 1
    fi
    (cd "$folder/out/node" && printf '%s/entry.js\n' "$(pwd -P)")
}

# Does what the package's own install script would do, without downloads from elsewhere: the editor's packages, as its
# own lock files pin them, and the three native parts it cannot start without.
code_server_finish() {
    local editor=$1/lib/vscode part
    for part in "$editor" "$editor/extensions"; do
        # Not `npm ci`: as published, the lock file of this release lacks one package of a package.
        (cd "$part" && npm install --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error) >>"$3" 2>&1 || {
            echo "npm could not install what code-server needs: $(npm_reason "$3")" >&2
            return 1
        }
    done
    for part in node-pty @vscode/spdlog @vscode/native-watchdog; do
        code_server_build "$editor/node_modules/$part" "$2" >>"$3" 2>&1 || {
            echo "code-server's $part could not be built: $(tail -n 1 "$3")" >&2
            return 1
        }
    done
    ln -sfn code-linux.sh "$editor/bin/remote-cli/code-server"
    ln -sfn browser-linux.sh "$editor/bin/helpers/browser.sh"
}

# Builds with the headers that come with the node which will load it, so nothing is downloaded for
# that.
code_server_build() {
    local headers npm gyp
    headers=$(dirname "$(dirname "$2")")
    npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
    # In Debian's package of npm, node-gyp is beside it.
    for gyp in "$npm/node_modules" "$npm/.."; do
        [ ! -e "$gyp/node-gyp/bin/node-gyp.js" ] || break
    done
    (cd "$1" && node "$gyp/node-gyp/bin/node-gyp.js" rebuild --nodedir="$headers" --loglevel=error)
}

code_server_starts() {
    HOME=$1 XDG_CONFIG_HOME=$1/.config "$2" "$1/out/node/entry.js" --version >/dev/null 2>&1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_code_server "$(dirname "$0")/../../target/tools"
fi
