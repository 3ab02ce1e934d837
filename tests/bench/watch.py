#!/usr/bin/env python3
"""Processor time of `watch` on a terminal with many running loops, as a share of one core.

Each loop has its own work tree and an agent that prints a line per second, as agents at work do. The screen is that of
a pseudo-terminal whose output is read and counted.

usage: tests/bench/watch.py [--loops 20] [--seconds 30] [LOOPKEEPER]
"""
import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import limits
from loop import Bench

LIMIT_PERCENT = 1.0
AGENT = "#!/bin/sh\ncat >/dev/null\nwhile :; do echo running; sleep 1; done\n"


def start_loops(bench, count):
    """The first loop is that of the bench; the others have trees beside it with the same state folder."""
    trees = [bench.tree] + [f"{bench.folder}/tree{it}" for it in range(1, count)]
    for tree in trees:
        if tree != bench.tree:
            subprocess.run(["cp", "-r", bench.tree, tree], check=True)
    for tree in trees:
        run = subprocess.run(
            [bench.program, "run", "--trust", "--detach"], cwd=tree, env=bench.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )
        assert run.returncode == 0, run.stderr
    return trees


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_for(terminal, seconds):
    """Reads the terminal for a time; returns what was written."""
    text, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # the program has closed its side
                break
    return text


def measure(bench, seconds):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(bench.tree)
        os.execve(bench.program, [bench.program, "watch"], bench.env | {"TERM": "xterm", "LANG": "C.UTF-8"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    first = read_for(terminal, 5).decode(errors="replace")
    before = cpu_seconds(pid)
    written = len(read_for(terminal, seconds))
    used = cpu_seconds(pid) - before
    os.write(terminal, b"q")
    read_for(terminal, 1)
    os.waitpid(pid, 0)
    return first, used, written


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--loops", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=30)
    args = parser.parse_args()
    with Bench(args.program, AGENT) as bench:
        trees = start_loops(bench, args.loops)
        try:
            first, used, written = measure(bench, args.seconds)
        finally:
            for tree in trees:
                subprocess.run(
                    [bench.program, "stop", "--now"], cwd=tree, env=bench.env, stdin=subprocess.DEVNULL,
                    capture_output=True, check=False,
                )
    assert f"{args.loops} loops: {args.loops} working" in first, first
    percent = 100 * used / args.seconds
    print(
        f"watch with {args.loops} loops: {percent:.2f} % of a core, {limits.share('watch', percent, LIMIT_PERCENT, '%')}; "
        f"{written / args.seconds:.0f} bytes/s written to the terminal"
    )
    limits.exit_with_result()


main()
