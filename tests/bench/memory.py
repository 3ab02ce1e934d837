#!/usr/bin/env python3
"""Memory of a keeper while its agent prints a lot, and of one that rests; wake-ups of the one that rests.

usage: tests/bench/memory.py [--megabytes 1000] [--rest 20] [LOOPKEEPER]
"""
import argparse
import os
import time

import limits
from loop import Bench, proc

LIMIT_LOUD, LIMIT_IDLE = 64, 12
LOUD = "#!/bin/sh\ncat >/dev/null\nhead -c {mb}000000 /dev/zero | tr '\\0' x\necho\necho done >> work.txt\n"
QUIET = "#!/bin/sh\ncat >/dev/null\necho step >> work.txt\n"


def loud(args):
    settings = "[limits]\niterations = 1\n"
    with Bench(args.program, LOUD.format(mb=args.megabytes), settings=settings) as bench:
        begin = time.monotonic()
        assert bench.call("run", "--trust", "--detach").returncode == 0
        pid, peak = None, 0
        while True:
            status = bench.status()
            pid = status["keeper"].get("pid", pid)
            try:
                peak = max(peak, proc(pid, "VmHWM"))
            except (OSError, KeyError):
                pass
            if status["state"] == "done":
                break
            time.sleep(0.1)
        seconds = time.monotonic() - begin
        disk = 0
        for folder, _, names in os.walk(bench.state):
            disk += sum(os.path.getsize(os.path.join(folder, it)) for it in names if it.endswith((".out", ".tail")))
    print(
        f"agent prints {args.megabytes} MB without a line end: keeper peak {peak / 1024:.1f} MB, "
        f"{limits.share('keeper of a loud agent', peak / 1024, LIMIT_LOUD, 'MB')}; "
        f"{args.megabytes / seconds:.0f} MB/s, {disk / 1e6:.1f} MB kept on disk"
    )


def idle(args):
    with Bench(args.program, QUIET) as bench:
        assert bench.call("run", "--trust", "--detach").returncode == 0
        bench.call("pause")
        while bench.status()["state"] != "paused" or bench.status()["phase"] != "paused":
            time.sleep(0.1)
        pid = bench.status()["keeper"]["pid"]
        time.sleep(12)  # threads that had work go to sleep for good
        tasks = f"/proc/{pid}/task"

        def switches():
            return sum(proc(f"{pid}/task/{it}", "voluntary_ctxt_switches") for it in os.listdir(tasks))

        before = switches()
        time.sleep(args.rest)
        woken = switches() - before
        # Unmodified pages of the program are in memory once for all keepers, and the system can drop them.
        dirty = next(int(line.split()[1]) for line in open(f"/proc/{pid}/smaps_rollup") if line.startswith("Private_Dirty:"))
        resident = proc(pid, "VmRSS")
        bench.call("stop", "--now")
    print(
        f"resting: {resident / 1024:.1f} MB resident ({dirty / 1024:.1f} MB of it data, the rest code), "
        f"{limits.share('resting keeper', resident / 1024, LIMIT_IDLE, 'MB')}; "
        f"{woken} wake-ups in {args.rest} s"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rest", type=int, default=20)
    args = parser.parse_args()
    loud(args)
    idle(args)
    limits.exit_with_result()


main()
