"""What all packages of one platform have in common: version, programs, texts."""

import os
import platform
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ["loopkeeper", "loopkeeper-keeper", "loopkeeper-warden", "loopkeeper-request"]
SUMMARY = "Runs and supervises Ralph loops, and verifies their results"


class PackagingError(Exception):
    """A fact and a remedy for the person who builds."""


@dataclass(frozen=True)
class Platform:
    deb: str
    wheel: str
    node: str  # as in process.platform and process.arch


TARGETS = {
    "x86_64-unknown-linux-gnu": Platform("amd64", "x86_64", "linux-x64"),
    "aarch64-unknown-linux-gnu": Platform("arm64", "aarch64", "linux-arm64"),
}


@dataclass(frozen=True)
class Release:
    target: str
    version: str
    programs: dict[str, Path]
    texts: dict[str, Path]  # by their path below /usr/share
    fast: bool

    @classmethod
    def read(cls, target, folder, texts, fast):
        programs = {name: folder / name for name in PROGRAMS}
        for path in programs.values():
            if not os.access(path, os.X_OK):
                raise PackagingError(f"{path} is not an executable file. Hint: a package needs all of {', '.join(PROGRAMS)}.")
        return cls(target, read_version(), programs, texts, fast)

    @property
    def platform(self):
        return TARGETS[self.target]

    @property
    def compression(self):
        return 1 if self.fast else 9

    @property
    def time(self):
        return int(os.environ["SOURCE_DATE_EPOCH"])

    def glibc(self):
        """The lowest version of the C library that has every symbol the programs import."""
        found = {(2, 17)}
        for path in self.programs.values():
            found |= {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d)\.(\d+)", path.read_bytes())}
        return max(found)


def host_target():
    target = f"{platform.machine()}-unknown-linux-gnu"
    if platform.system() != "Linux" or target not in TARGETS:
        raise PackagingError(f"there are no packages for {platform.system()} on {platform.machine()}. Hint: use Linux.")
    return target


def read_version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
