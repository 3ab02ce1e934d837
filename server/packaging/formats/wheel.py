"""The wheel for `pip install`: the programs are its scripts, so pip puts them beside each other."""

import base64
import hashlib
import time
import zipfile

from .release import ROOT, SUMMARY


def build(release, out):
    major, minor = release.glibc()
    tag = f"py3-none-manylinux_{major}_{minor}_{release.platform.wheel}"
    path = out / f"loopkeeper-{release.version}-{tag}.whl"
    info = f"loopkeeper-{release.version}.dist-info"
    scripts = f"loopkeeper-{release.version}.data/scripts"
    entries = [(f"{scripts}/{name}", source.read_bytes(), 0o755) for name, source in release.programs.items()]
    data = f"loopkeeper-{release.version}.data/data/share"
    entries += [(f"{data}/{name}", source.read_bytes(), 0o644) for name, source in release.texts.items()]
    entries += [
        (f"{info}/METADATA", metadata(release).encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: loopkeeper\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]
    entries.append((f"{info}/RECORD", record(entries, info).encode(), 0o644))
    stamp = time.gmtime(release.time)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=release.compression) as packed:
        for name, content, mode in entries:
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            packed.writestr(entry, content)
    return [path]


def metadata(release):
    return f"""Metadata-Version: 2.4
Name: loopkeeper
Version: {release.version}
Summary: {SUMMARY}
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{(ROOT / "server/packaging/README.package.md").read_text()}"""


def record(entries, info):
    lines = []
    for name, content, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
