#!/usr/bin/env python3
"""What the search for strays adds to the round that ends a loop, against `git status` on the same tree in the same run.

Two kinds of loops complete in one iteration: one agent adds a source file to which nothing refers, the other changes an
existing one, so that nothing is searched. The times are read from the journals: from the snapshot after the agent to the
end of the iteration. Trees with more files than the search reads are left at once, so that they cost less.

usage: tests/bench/strays.py [--files 4000,20000] [--rounds 5] [LOOPKEEPER]
"""
import argparse
import os
import statistics
import subprocess
import time

from loop import Bench

ADDS = "#!/bin/sh\ncat >/dev/null\ntouch done.md\necho 'x = 1' > dir7/part$$.py\n"
CHANGES = "#!/bin/sh\ncat >/dev/null\ntouch done.md\necho 'x = 1' >> dir7/file7.py\n"


def round_time(program, agent, files):
    """Milliseconds of the round, the number of strays that were found, and milliseconds of `git status`."""
    with Bench(program, agent, "done: `exists done.md`", "[criteria]\nmutants = \"off\"\n") as bench:
        for i in range(files):
            bench.write(f"dir{i % 200}/file{i}.py", f"value = {i}\n" * 10)
        for command in (["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"]):
            subprocess.run(["git", *command], cwd=bench.tree, env=bench.env, check=True)
        done = bench.call("run", "--trust", "--json")
        records = bench.journal()
        ended = next((it for it in records if it["type"] == "iteration-ended"), None)
        assert ended is not None, (done.stdout, done.stderr)
        taken = [it["up"] for it in records if it["type"] == "snapshot-taken" and it["when"] == "after"][-1]
        strays = len(ended["changes"].get("strays", []))
        begin = time.monotonic()
        subprocess.run(["git", "status", "--porcelain"], cwd=bench.tree, env=bench.env, check=True, capture_output=True)
        return ended["up"] - taken, strays, (time.monotonic() - begin) * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--files", default="4000,20000")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    for files in map(int, args.files.split(",")):
        searched, plain, status, found = [], [], [], []
        for _ in range(args.rounds):
            took, strays, git = round_time(program, ADDS, files)
            searched.append(took)
            found.append(strays)
            # A search that was left finds none; the limit is that of the search.
            assert (strays > 0) == (files < 5_000), (files, strays)
            status.append(git)
            took, strays, git = round_time(program, CHANGES, files)
            assert strays == 0
            plain.append(took)
            status.append(git)
        added, peer = statistics.median(searched) - statistics.median(plain), statistics.median(status)
        print(
            f"{files} files: search {added:.0f} ms, git status {peer:.0f} ms, ratio {added / peer:.2f} "
            f"(medians of {args.rounds}); strays found in {sum(it > 0 for it in found)} of {args.rounds}"
        )


if __name__ == "__main__":
    main()
