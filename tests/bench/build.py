#!/usr/bin/env python3
"""How long a first `cargo run --release -- demo` builds on a fresh clone, and how much of that is our own code.

usage: tests/bench/build.py
"""
import glob
import os
import resource
import subprocess
import tempfile
import time


def build(target):
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    env = dict(os.environ, CARGO_TARGET_DIR=target)
    subprocess.run(["cargo", "build", "--release", "--quiet"], env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    with tempfile.TemporaryDirectory(prefix="loopkeeper-bench-") as target:
        cold, cold_cpu = build(target)
        for source in glob.glob("server/*/src/lib.rs"):
            os.utime(source)
        own, own_cpu = build(target)
        size = os.path.getsize(os.path.join(target, "release", "loopkeeper"))
    print(
        f"cold build of the demo: {cold:.0f} s ({cold_cpu:.0f} s of CPU) on {os.cpu_count()} cores; "
        f"our own code {own:.0f} s ({own_cpu:.0f} s of CPU), {own_cpu / cold_cpu:.2f} of it; {size / 1e6:.1f} MB"
    )


main()
