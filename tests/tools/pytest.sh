#!/usr/bin/env bash
# get_pytest DIR: installs a virtual environment with the pinned pytest, its coverage plugin, Ruff and mypy under DIR, and
# prints the path of its folder of programs. Needs python3 with venv and a registry once, touches nothing outside DIR. Run directly, it uses target/tools.

get_pytest() {
    local folder=$1/pytest packages=(pytest==8.3.5 pytest-cov==6.1.1 ruff==0.17.5 mypy==1.15.0)
    if [ "$(cat "$folder/installed.txt" 2>/dev/null)" != "${packages[*]}" ]; then
        rm -rf "$folder"
        python3 -m venv "$folder" >"$1/pytest.log" 2>&1 || { echo "python3 cannot make a virtual environment" >&2; return 1; }
        "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >"$1/pytest.log" 2>&1 || {
            echo "pip could not install pytest: $(tail -n 1 "$1/pytest.log")" >&2
            return 1
        }
        echo "${packages[*]}" >"$folder/installed.txt"
    fi
    (cd "$folder/bin" && pwd -P)
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_pytest "$(dirname "$0")/../../target/tools"
fi
