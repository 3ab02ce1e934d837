# Unpacks programs of another Debian suite than this machine's into a separate folder. Nothing is installed and apt's
# own state is neither read nor written; mirror and keyring are the ones that apt is configured with.

# debian_unpack SUITE DIR PACKAGE...: the packages with everything they depend on, the C library included.
debian_unpack() {
    local suite=$1 dir=$2 work status=0
    shift 2
    command -v apt-get >/dev/null || { echo "packages of Debian $suite need apt-get" >&2; return 1; }
    work=$(mktemp -d) || return 1
    debian_fetch "$suite" "$work" "$@" >"$work/log" 2>&1 || {
        echo "apt could not fetch $1 of Debian $suite: $(tail -n 1 "$work/log")" >&2
        status=1
    }
    local package
    for package in "$work"/cache/archives/*.deb; do
        [ $status = 0 ] || break
        dpkg-deb -x "$package" "$dir" || status=1
    done
    rm -rf "$work"
    return $status
}

debian_fetch() {
    local suite=$1 work=$2 arch source
    shift 2
    arch=$(dpkg --print-architecture) && source=$(debian_source) || return 1
    mkdir -p "$work"/preferences "$work"/state/lists/partial "$work"/cache/archives/partial
    : >"$work/status"
    echo "deb [arch=$arch signed-by=${source#* }] ${source% *} $suite main" >"$work/sources.list"
    # With no package marked as installed, apt lists the whole closure.
    local apt=(apt-get -q -y
        -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferences=/dev/null -o "Dir::Etc::preferencesparts=$work/preferences"
        -o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
        -o "APT::Architecture=$arch" -o APT::Install-Recommends=false -o Acquire::Languages=none
        -o APT::Update::Post-Invoke= -o DPkg::Post-Invoke= -o "APT::Sandbox::User=$(id -un)")
    "${apt[@]}" update && "${apt[@]}" --download-only install "$@"
}

# Mirror and keyring of the first Debian source in apt's configuration: "URI KEYRING".
debian_source() {
    local file uri key
    for file in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -s "$file" ] && grep -qi debian "$file" || continue
        if [ "${file##*.}" = sources ]; then
            uri=$(awk '$1 == "URIs:" { print $2; exit }' "$file")
            key=$(awk '$1 == "Signed-By:" { print $2; exit }' "$file")
        else
            uri=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' "$file")
            key=
        fi
        echo "$uri ${key:-/usr/share/keyrings/debian-archive-keyring.gpg}"
        return
    done
    echo "apt has no Debian source" >&2
    return 1
}

# debian_rpath DIR PROGRAM...: makes the programs, paths below DIR, run with DIR's own loader and libraries. Written
# into the programs, because a library path in the environment would affect every program they start, and starting them
# through the loader breaks those that start themselves again.
debian_rpath() {
    local dir=$1 loader libraries='' it
    shift
    for it in "$dir"/{usr/lib64,lib64,usr/lib/*,usr/lib,lib/*,lib}/ld-linux*.so.*; do
        [ -e "$it" ] && { loader=$it; break; }
    done
    [ -n "${loader-}" ] || { echo "no loader was unpacked into $dir" >&2; return 1; }
    for it in "$dir"/usr/lib/*-linux-gnu* "$dir"/lib/*-linux-gnu*; do
        [ -d "$it" ] && libraries=$libraries${libraries:+:}$it
    done
    for it in "$@"; do
        "$loader" --library-path "$libraries" "$dir/usr/bin/patchelf" \
            --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$dir/$it" || return 1
    done
}
