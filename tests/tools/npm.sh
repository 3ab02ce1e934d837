# Installs programs from npm, pinned by a lock file next to this one.

# npm_get NAME DIR: installs the packages pinned by tests/tools/NAME/package-lock.json under DIR/NAME, unless
# they are already there. Never runs an install script; the caller builds what a package needs.
npm_get() {
    local here folder
    here=$(dirname "${BASH_SOURCE[0]}")/$1
    folder=$2/$1
    npm_is_installed "$1" "$2" && return 0
    command -v npm >/dev/null || { echo "$1 needs npm to be installed" >&2; return 1; }
    mkdir -p "$folder" && rm -f "$folder/installed.json" || return 1
    cp "$here"/package*.json "$folder/" && : >"$folder/log" || return 1
    npm_ci "$folder" "$folder/log" || { echo "npm could not install $1: $(npm_reason "$folder/log")" >&2; return 1; }
}

npm_is_installed() { cmp -s "$(dirname "${BASH_SOURCE[0]}")/$1/package-lock.json" "$2/$1/installed.json"; }

# npm_done NAME DIR: makes npm_get take it for installed.
npm_done() { cp "$(dirname "${BASH_SOURCE[0]}")/$1/package-lock.json" "$2/$1/installed.json"; }

npm_ci() {
    (cd "$1" && npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error) >>"$2" 2>&1
}

# npm's message ends with advice; its first lines contain the reason.
npm_reason() { grep -m 2 'npm error' "$1" | tr '\n' ' '; }
