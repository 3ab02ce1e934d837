"""Tar archives whose bytes depend only on their content."""

import gzip
import io
import tarfile


def write(path, entries, time, compression):
    """`entries`: (name, bytes, mode)."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", compression, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, content, mode in sorted(entries):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = len(content), mode, time
                tar.addfile(info, io.BytesIO(content))
