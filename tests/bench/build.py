#!/usr/bin/env python3
"""How long a first `cargo run --profile demo -- demo` builds on a fresh clone, and how much of that is our own code;
the same for a release build.

usage: tests/bench/build.py
"""
import glob
import os
import resource
import subprocess
import tempfile
import time

import limits

LIMIT_DEMO = 150  # seconds on 2 idle cores


def build(target, profile):
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    env = dict(os.environ, CARGO_TARGET_DIR=target)
    subprocess.run(["cargo", "build", "--profile", profile, "--quiet"], env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(profile):
    with tempfile.TemporaryDirectory(prefix="loopkeeper-bench-") as target:
        cold, cold_cpu = build(target, profile)
        for source in glob.glob("server/*/src/lib.rs"):
            os.utime(source)
        own, own_cpu = build(target, profile)
        size = os.path.getsize(os.path.join(target, profile, "loopkeeper"))
    print(
        f"cold build, profile {profile}: {cold:.0f} s ({cold_cpu:.0f} s of CPU) on {os.cpu_count()} cores; "
        f"our own code {own:.0f} s ({own_cpu:.0f} s of CPU), {own_cpu / cold_cpu:.2f} of it; {size / 1e6:.1f} MB",
        flush=True,
    )
    return cold


def main():
    demo, release = measure("demo"), measure("release")
    print(f"demo / release: {demo / release:.2f}; {limits.share('cold build of the demo', demo, LIMIT_DEMO, 's on 2 idle cores')}")
    limits.exit_with_result()


main()
