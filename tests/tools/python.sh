#!/usr/bin/env bash
# get_python DIR: installs a Python with the pinned packages of `python/requirements.txt` under DIR (the protocol's
# types, the language server that figures are compared with, the parser of `bench/names.py`) and prints the path of its
# program. Needs python3 with venv and a registry once, touches nothing outside DIR. Fails with the reason on stderr if
# it is unavailable. Run directly, it uses target/tools.

get_python() {
    local list folder
    list=$(dirname "${BASH_SOURCE[0]}")/python/requirements.txt
    folder=$1/python
    if ! cmp -s "$list" "$folder/installed.txt" || ! "$folder/bin/python" -c 'import lsprotocol' 2>/dev/null; then
        command -v python3 >/dev/null || { echo "the protocol's types need python3" >&2; return 1; }
        rm -rf "$folder" && mkdir -p "$folder" || return 1
        python3 -m venv "$folder" >"$1/python.log" 2>&1 || {
            echo "python3 cannot make a virtual environment (on Debian: python3-venv)" >&2
            return 1
        }
        "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$list" >"$1/python.log" 2>&1 || {
            echo "pip could not install the protocol's types: $(tail -n 1 "$1/python.log")" >&2
            return 1
        }
        cp "$list" "$folder/installed.txt" || return 1
    fi
    (cd "$folder/bin" && printf '%s/python\n' "$(pwd -P)")
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_python "$(dirname "$0")/../../target/tools"
fi
