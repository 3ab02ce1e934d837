#!/usr/bin/env python3
"""What the final verdict costs besides its checks: milliseconds between the end of the last iteration and the verdict,
less the time of the checks themselves, with no judge changed and with one. Prints each as a ratio to its limit.
Then the search for what was created outside the work tree, in a home folder with many files in caches, beside `find` on
the same levels.

    verdict.py [PROGRAM]
"""
import glob
import os
import re
import subprocess
import sys
import time

import limits
from loop import Bench

LIMITS = {2_000: 300, 50_000: 2_000}  # files: milliseconds
AGENT = "#!/bin/sh\ntouch done\n"
# Files of the home folder, and milliseconds of the search around it.
HOME_FILES, SEARCH_LIMIT = 50_000, 10
# As in `system/src/unrecorded/outside.rs`.
LEVELS, MACHINE = 3, {"/": 1, "/opt": 2, "/srv": 2, "/usr/local": 4, "/tmp": 3, "/var/tmp": 3, "/dev/shm": 3}
CHANGES_JUDGE = AGENT + "echo '# rewritten' >> tests/test_a.py\n"


def overhead(program, files, agent):
    with Bench(program, agent, "done: `$ test -f done`") as bench:
        for number in range(files):
            bench.write(f"src/d{number // 100}/f{number}.txt", f"{number}\n")
        bench.write("tests/test_a.py", "def test_a():\n    assert True\n")
        ran = bench.call("run", "--trust")
        records = bench.journal()
    if ran.returncode != 0:
        sys.exit(f"the loop did not complete:\n{ran.stdout}{ran.stderr}")
    verdict = next(it for it in records if it["type"] == "final-verdict")
    if verdict.get("unavailable"):
        sys.exit(f"there is no clean room here: {verdict['unavailable']}")
    before = next(it for it in reversed(records) if it["seq"] < verdict["seq"])
    rounds = [verdict[it] for it in ("asLeft", "pinned") if verdict.get(it)]
    checks = sum(result["durationMs"] for it in rounds for result in it["results"])
    return verdict["up"] - before["up"] - checks, len(rounds)


def fill_home(home):
    """Caches as tools have them: most files lie deep, some folders are wide."""
    per_folder = 50
    for number in range(HOME_FILES // per_folder):
        tool, shard = number % 20, number // 20
        folder = os.path.join(home, ".cache", f"tool{tool}", f"{shard:02x}", "entries")
        os.makedirs(folder)
        for entry in range(per_folder):
            open(os.path.join(folder, f"{entry:03}"), "w").close()
    for name in [".config", ".local/share", "projects", "Documents"]:
        for number in range(40):
            os.makedirs(os.path.join(home, name, f"part{number}", "more"))


def search_outside(program):
    """Milliseconds of the search in a loop, and of `find` on the same levels."""
    with Bench(program, AGENT, "done: `$ test -f done`") as bench:
        fill_home(bench.folder)
        bench.env["LOOPKEEPER_LOG"] = "debug"
        ran = bench.call("run", "--trust")
        logs = glob.glob(os.path.join(bench.state, "**", "keeper.log"), recursive=True)
        logged = ran.stderr + "".join(open(it).read() for it in logs)
        found = re.search(r"searched outside the work tree.*?us=(\d+)|us=(\d+).*?searched outside", logged)
        if ran.returncode != 0 or not found:
            sys.exit(f"no search was logged:\n{ran.stdout}{ran.stderr}")
        began = time.monotonic()
        for folder, levels in [(bench.folder, LEVELS), *MACHINE.items()]:
            subprocess.run(["find", folder, "-maxdepth", str(levels), "-newerBt", "@0"], capture_output=True)
        return int(found[1] or found[2]) / 1000, (time.monotonic() - began) * 1000


def print_search(program):
    runs = sorted(search_outside(program) for _ in range(3))
    took, find = runs[1]
    print(f"search outside the tree, {HOME_FILES} files in caches: {took:.1f} ms, {limits.share('search outside the tree', took, SEARCH_LIMIT, 'ms')}, {took / find:.2f} of `find`")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/loopkeeper"
    for files, limit in LIMITS.items():
        for name, agent, expected in [("no judge changed", AGENT, 1), ("one judge changed", CHANGES_JUDGE, 2)]:
            times = []
            for _ in range(3):
                took, rounds = overhead(program, files, agent)
                if rounds != expected:
                    sys.exit(f"{rounds} rounds instead of {expected}: this measures something else")
                times.append(took)
            took = sorted(times)[1]
            print(f"{files:>6} files, {name:<17}  {took:5} ms  {limits.share(f'{files} files, {name}', took, limit, 'ms')}")
    print_search(program)
    limits.exit_with_result()


if __name__ == "__main__":
    main()
