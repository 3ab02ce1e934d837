#!/usr/bin/env python3
"""A snapshot of a big repository with one changed file, against `git status` on the same tree in the same run.

The snapshot's time is read from the journal of a real loop: from the agent's end to the durable snapshot.

usage: tests/bench/snapshots.py [--files 50000] [--iterations 5] [LOOPKEEPER]
"""
import argparse
import os
import statistics
import subprocess
import time

from loop import Bench

AGENT = "#!/bin/sh\ncat >/dev/null\ndate +%N >> dir7/file7.txt\n"


def git_status(bench, runs):
    def once():
        with open(os.path.join(bench.tree, "dir7", "file7.txt"), "a") as file:
            file.write("x\n")
        begin = time.monotonic()
        subprocess.run(["git", "status", "--porcelain"], cwd=bench.tree, env=bench.env, check=True, capture_output=True)
        return (time.monotonic() - begin) * 1000

    once()
    return [once() for _ in range(runs)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--iterations", type=int, default=5)
    args = parser.parse_args()
    limits = f"[limits]\niterations = {args.iterations}\n"
    with Bench(args.program, AGENT, settings=limits) as bench:
        for i in range(args.files):
            bench.write(f"dir{i % 500}/file{i}.txt", f"content of file {i}\n" * 10)
        for command in (["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"]):
            subprocess.run(["git", *command], cwd=bench.tree, env=bench.env, check=True)
        done = bench.call("run", "--trust", "--json")
        assert done.returncode == 4, done.stderr
        records = bench.journal()
        starts = {"loop-started": None}
        first, later = None, []
        for record in records:
            if record["type"] == "snapshot-taken" and starts.get("from") is not None:
                took = record["up"] - starts["from"]
                if record["when"] == "after" and record["iteration"] == 0:
                    first = took
                elif record["when"] == "after":
                    later.append(took)
            starts["from"] = record["up"] if record["type"] in ("loop-started", "agent-ended") else None
        status = git_status(bench, args.iterations)
    ours, theirs = statistics.median(later), statistics.median(status)
    print(f"{args.files} files: first snapshot {first} ms")
    print(f"one change: snapshot {ours:.0f} ms, git status {theirs:.0f} ms, ratio {ours / theirs:.2f} (medians of {len(later)})")


main()
