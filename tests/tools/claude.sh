#!/bin/sh
# Puts the pinned Claude Code CLI under target/tools and prints the path of its program. Needs npm and a
# registry once; nothing outside target/ is touched. Exit 1 with the reason on stderr where it cannot be had.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${LOOPKEEPER_TOOLS:-$here/../../target/tools}/claude
stamp=$folder/installed.json

# The package of the platform holds the program itself; the launcher beside it would need its install script.
program() {
    for it in "$folder"/node_modules/@anthropic-ai/claude-code-*/claude; do
        [ -x "$it" ] && printf '%s\n' "$it" && return
    done
    return 1
}

if ! cmp -s "$here/claude/package-lock.json" "$stamp" || ! program >/dev/null; then
    command -v npm >/dev/null || { echo "the Claude Code CLI needs npm to be installed" >&2; exit 1; }
    mkdir -p "$folder/home"
    rm -f "$stamp"
    cp "$here/claude/package.json" "$here/claude/package-lock.json" "$folder/"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$folder/npm.log" 2>&1 || {
        echo "npm could not install the Claude Code CLI: $(tail -n 1 "$folder/npm.log")" >&2
        exit 1
    }
    program=$(program) || { echo "there is no Claude Code CLI for this platform" >&2; exit 1; }
    env -i PATH="$PATH" HOME="$folder/home" DISABLE_AUTOUPDATER=1 "$program" --version >"$folder/npm.log" 2>&1 || {
        echo "the Claude Code CLI does not start: $(tail -n 1 "$folder/npm.log")" >&2
        exit 1
    }
    cp "$here/claude/package-lock.json" "$stamp"
fi
cd "$(dirname "$(program)")" && printf '%s/claude\n' "$(pwd -P)"
