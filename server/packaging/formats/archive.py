"""The archive that `cargo binstall` downloads and people unpack."""

from . import tar
from .release import ROOT


def build(release, out):
    folder = f"loopkeeper-{release.version}-{release.target}"
    entries = [(f"{folder}/{name}", path.read_bytes(), 0o755) for name, path in release.programs.items()]
    entries += [(f"{folder}/share/{name}", path.read_bytes(), 0o644) for name, path in release.texts.items()]
    for name in ["LICENSE", "README.md"]:
        entries.append((f"{folder}/{name}", (ROOT / name).read_bytes(), 0o644))
    path = out / f"{folder}.tar.gz"
    tar.write(path, entries, release.time, release.compression)
    return [path]
