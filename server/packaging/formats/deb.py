"""The package for Debian and Ubuntu."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from .release import ROOT, SUMMARY, PackagingError


def build(release, out):
    if shutil.which("dpkg-deb") is None:
        raise PackagingError("dpkg-deb is not installed. Hint: install dpkg, or leave deb out of --only.")
    path = out / f"loopkeeper_{release.version}_{release.platform.deb}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        fill(root, release)
        level = ["-Zgzip", "-z1"] if release.fast else ["-Zxz"]
        command = ["dpkg-deb", "--root-owner-group", *level, "--build", str(root), str(path)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return [path]


def fill(root, release):
    for name, source in release.programs.items():
        install(root / "usr/lib/loopkeeper" / name, source.read_bytes(), 0o755)
    # The program finds the others beside the file that the link refers to.
    (root / "usr/bin").mkdir()
    (root / "usr/bin").chmod(0o755)
    (root / "usr/bin/loopkeeper").symlink_to("../lib/loopkeeper/loopkeeper")
    for name, source in release.texts.items():
        install(root / "usr/share" / name, source.read_bytes(), 0o644)
    install(root / "usr/share/doc/loopkeeper/copyright", (ROOT / "LICENSE").read_bytes(), 0o644)
    install(root / "DEBIAN/control", control(release).encode(), 0o644)


def install(path, content, mode):
    for folder in reversed([it for it in path.parents if not it.exists()]):
        folder.mkdir()
        folder.chmod(0o755)
    path.write_bytes(content)
    path.chmod(mode)


def control(release):
    size = sum(path.stat().st_size for path in release.programs.values()) // 1024
    major, minor = release.glibc()
    return f"""Package: loopkeeper
Version: {release.version}
Architecture: {release.platform.deb}
Maintainer: The authors of loopkeeper <loopkeeper@localhost>
Section: devel
Priority: optional
Installed-Size: {size}
Depends: libc6 (>= {major}.{minor})
Recommends: bubblewrap, git
Description: {SUMMARY}
 Gives a task to an AI coding agent again and again, each time with a fresh
 context, until checks that loopkeeper itself runs pass on the final tree.
"""
