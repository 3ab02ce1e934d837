#!/usr/bin/env python3
"""What mutants cost: the time of each on the project of the demo, the share of the demo's time, and the time of 30 on a
project of the same kind with more lines. Prints each as a ratio to its limit.

    mutants.py [PROGRAM]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import limits
from loop import Bench

LIMIT_30 = 10_000  # milliseconds
LIMIT_SHARE = 1.2  # of the time without mutants
FUNCTIONS = 12
REPEATS = 3


def function(number):
    return f"""f{number}() {{
    if [ "$1" -gt {number + 2} ]; then
        echo $(($1 + {number}))
        return 0
    fi
    echo "too small: $1"
    return 1
}}
"""


def calculator():
    functions = "".join(function(it) for it in range(FUNCTIONS))
    return f'#!/bin/sh\n{functions}\nname=$1\nshift\n"$name" "$@"\n'


def tests():
    checks = "".join(
        f"check f{it} {it + 3} {2 * it + 3}\ncheck f{it} {it + 2} 'too small: {it + 2}'\n" for it in range(FUNCTIONS)
    )
    return f"""#!/bin/sh
fail=0
check() {{
    found=$(sh calc.sh "$1" "$2")
    if [ "$found" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1"; fail=$((fail + 1)); fi
}}
{checks}[ "$fail" = 0 ]
"""


def mutants_of(records):
    """How many were tried, and the milliseconds they took with the round on the unchanged sources."""
    run = next(it for it in records if it["type"] == "mutants")
    if run.get("skipped"):
        sys.exit(f"no mutants were tried: {run['skipped']}")
    before = next(it for it in reversed(records) if it["seq"] < run["seq"])
    return run["tried"], run["noticed"], run["up"] - before["up"]


def larger(program):
    agent = f"#!/bin/sh\ncat > calc.sh <<'END'\n{calculator()}END\n"
    with Bench(program, agent, "works: `$ sh test.sh`") as bench:
        bench.write("test.sh", tests())
        bench.write("calc.sh", "#!/bin/sh\n")
        ran = bench.call("run", "--trust")
        records = bench.journal()
    if ran.returncode != 0:
        sys.exit(f"the loop did not complete:\n{ran.stdout}{ran.stderr}")
    return mutants_of(records)


class Demo:
    """The project of the demo, which can be run again."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="loopkeeper-bench-")
        self.tree = os.path.join(self.folder, "demo")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "LOOPKEEPER_STATE_DIR": os.path.join(self.folder, "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.call("demo", "--keep", self.tree, cwd=self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, *args, cwd=None):
        ran = subprocess.run(
            [self.program, *args], cwd=cwd or self.tree, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True,
        )
        if ran.returncode != 0:
            sys.exit(f"{args} failed:\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def run(self, policy):
        """The milliseconds of one loop with these mutants, and its records."""
        subprocess.run(["git", "checkout", "-q", "."], cwd=self.tree, env=self.env, check=True)
        with open(os.path.join(self.tree, "loopkeeper.toml"), "a") as file:
            file.write(f'[criteria]\nmutants = "{policy}"\n')
        began = time.monotonic()
        self.call("run", "--trust")
        took = (time.monotonic() - began) * 1000
        return took, [json.loads(it) for it in self.call("log", "--json").splitlines()]


def demo(program):
    plain, full, each = [], [], []
    with Demo(program) as project:
        # In turn, so that other load counts for both.
        for _ in range(REPEATS):
            plain.append(project.run("off")[0])
            took, records = project.run("tell")
            full.append(took)
            tried, noticed, run = mutants_of(records)
            each.append(run / tried)
    return tried, noticed, median(each), median(plain), median(full)


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/loopkeeper"
    tried, noticed, each, plain, full = demo(program)
    print(f"demo: {tried} mutants, {noticed} noticed, {each:4.0f} ms each, {limits.share('30 mutants of the demo', each * 30, LIMIT_30, 'ms')} for 30")
    print(f"demo: {plain / 1000:4.1f} s without, {full / 1000:4.1f} s with them, {limits.share('time with mutants', full / plain, LIMIT_SHARE, 'times the other')}")
    runs = [larger(program) for _ in range(REPEATS)]
    if any(tried != 30 for tried, _, _ in runs):
        sys.exit(f"30 mutants were to be tried: {runs}")
    took = median([took for _, _, took in runs])
    print(f"more lines: 30 mutants, {runs[0][1]} noticed, {took:5} ms, {limits.share('30 mutants of more lines', took, LIMIT_30, 'ms')}")
    limits.exit_with_result()


if __name__ == "__main__":
    main()
