#!/usr/bin/env bash
# get_chromium DIR: prints the path of a Chromium, installed with apt if that is allowed, and installs the pinned
# playwright-core that drives it under DIR. Fails with the reason on stderr if either is unavailable. Run
# directly, it uses target/tools.

. "$(dirname "${BASH_SOURCE[0]}")/npm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

declare -F have >/dev/null || have() { command -v "$1" >/dev/null 2>&1; }

get_chromium() {
    # Text needs a font to be visible in a screenshot; the package contains no program to look for.
    [ -d /usr/share/fonts/truetype/dejavu ] || apt_get fonts-dejavu-core no-program || true
    apt_get chromium chromium || { echo "Chromium is not installed and cannot be with apt" >&2; return 1; }
    npm_get playwright "$1" && npm_done playwright "$1" || return 1
    command -v chromium
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    get_chromium "$(dirname "$0")/../../target/tools"
fi
