"""npm packages: one per platform with the programs, and `loopkeeper`, which depends on them and starts the right one.

npm installs of the optional dependencies only the one whose `os`, `cpu` and `libc` fit, and needs no install script.
"""

import json

from . import tar
from .release import ROOT, SUMMARY, TARGETS

LAUNCHER = ROOT / "server/packaging/npm/launcher.js"


def build(release, out):
    system, processor = release.platform.node.split("-")
    manifest = common(release) | {
        "name": package_name(release.target),
        "os": [system],
        "cpu": [processor],
        "libc": ["glibc"],
        "preferUnplugged": True,
    }
    entries = [(f"bin/{name}", path.read_bytes(), 0o755) for name, path in release.programs.items()]
    return [pack(release, out, manifest, entries)]


def build_main(release, out, targets):
    manifest = common(release) | {
        "name": "loopkeeper",
        "bin": {"loopkeeper": "bin/loopkeeper.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {package_name(target): release.version for target in targets},
    }
    entries = [("bin/loopkeeper.js", LAUNCHER.read_bytes(), 0o755)]
    return pack(release, out, manifest, entries)


def common(release):
    return {"version": release.version, "description": SUMMARY, "license": "MIT"}


def package_name(target):
    return f"loopkeeper-{TARGETS[target].node}"


def pack(release, out, manifest, entries):
    entries = entries + [
        ("package.json", (json.dumps(manifest, indent=2) + "\n").encode(), 0o644),
        ("README.md", (ROOT / "server/packaging/README.package.md").read_bytes(), 0o644),
        ("LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]
    path = out / f"{manifest['name']}-{release.version}.tgz"
    tar.write(path, [(f"package/{name}", *rest) for name, *rest in entries], release.time, release.compression)
    return path
