#!/usr/bin/env python3
"""Loops of very many iterations: what one more iteration costs, what it takes to keep them, to read them, to ask a
server for their history, and to ask it again and again for all of fifty such loops. They are read while they are
paused, with the state that their keeper stored. Every figure is printed as a ratio to its limit: of a reader the best
of some runs.

usage: tests/bench/long_loops.py [--counts 100,200,1000,5000,10000] [--rounds 3] [--more 20] [LOOPKEEPER]
"""
import argparse
import os
import shutil
import subprocess
import time

import limits
import long_journal
from editor import Editor
from loop import Bench, proc

# The journals of so many loops of ten thousand iterations would take five gigabytes.
LOOPS, LISTINGS, MOST_OF_MANY = 50, 10, 1_000
LIMIT_READER_MS, LIMIT_READER_MB, LIMIT_KEEPER_MB, LIMIT_FLAT = 100, 30, 12, 1.1
READERS = (("status",), ("log",), ("log", "--json"), ("report", "--to", "/dev/null"), ("receipt", "latest"), ("insight",))
CLIENT = {"experimental": {"loopkeeper": {"version": 1}}}


def measured(bench, argv):
    """Milliseconds, megabytes at the peak, and the exit code of one command."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [bench.program, *argv], cwd=bench.tree, env=bench.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (time.monotonic() - begin) * 1000, usage.ru_maxrss / 1024, process.returncode


def say(count, what, value, unit, limit):
    ratio = limits.share(f"{count} iterations, {what}", value, limit, unit)
    print(f"{count:6} iterations  {what:25} {value:8.1f} {unit:4} {ratio}", flush=True)


def readers(bench, count, rounds):
    for argv in READERS:
        runs = [measured(bench, argv) for _ in range(rounds)]
        assert all(code == runs[0][2] for *_, code in runs), runs
        name = " ".join(argv[:2]) if argv[-1] == "--json" else argv[0]
        say(count, name, min(it[0] for it in runs), "ms", LIMIT_READER_MS)
        say(count, name, max(it[1] for it in runs), "MB", LIMIT_READER_MB)


def history(bench, count):
    """What an editor's history request takes, and the server's peak with it."""
    with Editor([bench.program, "--stdio"], bench.tree, bench.env) as editor:
        editor.initialize([bench.tree], CLIENT)
        [loop] = editor.request("loopkeeper/loops", {})[1]["result"]["loops"]
        before = proc(editor.pid, "VmHWM") / 1024
        begin = time.monotonic()
        at, answer = editor.request("loopkeeper/iterations", {"loopId": loop["id"], "last": 50})
        assert len(answer["result"]["iterations"]) == 50, answer
        say(count, "editor's history", (at - begin) * 1000, "ms", LIMIT_READER_MS)
        say(count, "server before it", before, "MB", LIMIT_READER_MB)
        say(count, "server with it", proc(editor.pid, "VmHWM") / 1024, "MB", LIMIT_READER_MB)


def multiply(bench, loop):
    """Copies the folder of an open loop into other workspaces, until there are fifty loops."""
    workspace = os.path.dirname(os.path.dirname(loop))
    files = [it.name for it in os.scandir(loop) if it.name.startswith("journal.") and it.name != "journal.reserve"]
    for number in range(LOOPS - 1):
        copy = f"{workspace[:-3]}{number:03}"
        folder = os.path.join(copy, "loops", os.path.basename(loop))
        os.makedirs(folder, 0o700)
        with open(os.path.join(copy, "root"), "w") as file:
            file.write(f"{bench.tree}-{number}")
        for name in files:
            shutil.copy(os.path.join(loop, name), folder)


def listing(bench, count):
    """A server's memory while its client asks for all loops of the user again and again."""
    with Editor([bench.program, "--stdio"], bench.tree, bench.env) as editor:
        editor.initialize([bench.tree], CLIENT)
        for _ in range(LISTINGS):
            answer = editor.request("loopkeeper/loops", {"all": True})[1]
            assert len(answer["result"]["loops"]) == LOOPS, answer
        say(count, f"server that lists {LOOPS} loops", proc(editor.pid, "VmHWM") / 1024, "MB", LIMIT_READER_MB)


def more(bench, count, iterations):
    """Resumes the loop and pauses it; milliseconds of CPU that each further iteration costs, and the keeper's memory."""
    loop = bench.status()["id"]
    assert bench.call("resume", loop).returncode == 0
    first = at(bench, count + 2)
    pid = first["keeper"]["pid"]
    begin, cpu_before = first["iteration"], cpu(pid)
    last = at(bench, begin + iterations)
    spent = (cpu(pid) - cpu_before) / (last["iteration"] - begin) * 1000
    bench.call("pause", loop)
    while bench.status()["phase"] != "paused":
        time.sleep(0.05)
    time.sleep(1)
    say(count, "keeper at rest", proc(pid, "VmRSS") / 1024, "MB", LIMIT_KEEPER_MB)
    say(count, "keeper at its peak", proc(pid, "VmHWM") / 1024, "MB", LIMIT_KEEPER_MB)
    return spent


def at(bench, iteration):
    while (status := bench.status())["iteration"] < iteration:
        assert status["state"] == "working", status
        time.sleep(0.02)
    return status


def cpu(pid):
    """Seconds of the keeper and of all that it waited for."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(int(it) for it in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--counts", default="100,200,1000,5000,10000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--more", type=int, default=20)
    args = parser.parse_args()
    costs = {}
    for count in (int(it) for it in args.counts.split(",")):
        with Bench(args.program, long_journal.AGENT) as bench:
            long_journal.prepare(bench)
            loop = long_journal.record(bench)
            size = long_journal.grow(loop, count)
            print(f"{count:6} iterations  {size / 1e6:.1f} MB of journal")
            costs[count] = more(bench, count, args.more)
            readers(bench, count, args.rounds)
            history(bench, count)
            if count <= MOST_OF_MANY:
                multiply(bench, loop)
                listing(bench, count)
            bench.call("stop", "--now")
    few, many = min(costs), max(costs)
    for count, spent in costs.items():
        print(f"{count:6} iterations  one more {spent:.2f} ms of CPU")
    say(many, f"CPU against that at {few}", costs[many] / costs[few], "", LIMIT_FLAT)
    limits.exit_with_result()


if __name__ == "__main__":
    main()
