#!/usr/bin/env bash
# get_runners DIR: installs the test runners of the corpus under DIR/runners, and prints its path: Jest, Vitest and Mocha,
# each with its own node_modules, by npm; tox, nox and pre-commit in a virtual environment, python, by pip; the others,
# where they are missing, by apt. Run directly, it uses target/tools.

source "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
have() { command -v "$1" >/dev/null 2>&1; }

get_runners() {
    local folder=$1/runners packages=("jest jest@29.7.0" "vitest vitest@3.2.4" "mocha mocha@11.7.4 chai@4.5.0")
    local of_python=(tox==4.67.15 nox==2026.10.20 pre-commit==4.7.0) each program
    for each in "go golang-go" "rspec ruby-rspec" "phpunit phpunit" "bats bats" "busted lua-busted" \
        "ctest cmake"; do
        program=${each%% *}
        apt_get "${each#* }" "$program" || { echo "$program is missing" >&2; return 1; }
    done
    for each in lua-unit shunit2 tcl rake maven-debian-helper libsurefire-java; do
        apt_get_library "$each" || { echo "$each is missing" >&2; return 1; }
    done
    if [ "$(cat "$folder/installed.txt" 2>/dev/null)" != "${packages[*]} ${of_python[*]}" ]; then
        rm -rf "$folder"
        for each in "${packages[@]}"; do
            mkdir -p "$folder/${each%% *}"
            # shellcheck disable=SC2086
            (cd "$folder/${each%% *}" && npm init -y && npm install ${each#* }) >"$folder/npm.log" 2>&1 || {
                echo "npm could not install ${each#* }: $(tail -n 1 "$folder/npm.log")" >&2
                return 1
            }
        done
        { python3 -m venv "$folder/python" && "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${of_python[@]}"; } \
            >"$folder/pip.log" 2>&1 || { echo "pip could not install tox: $(tail -n 1 "$folder/pip.log")" >&2; return 1; }
        echo "${packages[*]} ${of_python[*]}" >"$folder/installed.txt"
    fi
    (cd "$folder" && pwd -P)
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_runners "$(dirname "$0")/../../target/tools"
fi
