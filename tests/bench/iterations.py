#!/usr/bin/env python3
"""What a keeper costs per iteration beyond its agent and its checks, against a bash loop that does nothing else.

Both run the same stub agent and the same check, N times, in turn; the figures are of one run each and are
printed as ratios and medians. The keeper also keeps a journal on disk, takes two snapshots and holds every
process in a kill domain; the bash loop keeps no state.

The workspaces lie in TMPDIR. An ext4 without a journal looks at every file deleted in the last minutes before it
makes a new one: where many come and go, figures from there say more about the disk than about the keeper.

usage: tests/bench/iterations.py [--counts 20,500] [--rounds 3] [LOOPKEEPER]
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

AGENT = "#!/bin/sh\nread -r line\necho step >> work.txt\n"
CHECK = "test -f never"
BASH = "for i in $(seq {n}); do\n  printf 'go\\n' | ./agent.sh\n  if sh -c '{check}'; then break; fi\ndone\n"


def workspace():
    folder = tempfile.mkdtemp(prefix="loopkeeper-bench-")
    tree = os.path.join(folder, "tree")
    os.mkdir(tree)
    subprocess.run(["git", "init", "-q", tree], check=True)
    for i in range(20):
        with open(os.path.join(tree, f"file{i}.txt"), "w") as file:
            file.write(f"content {i}\n" * 20)
    agent = os.path.join(tree, "agent.sh")
    with open(agent, "w") as file:
        file.write(AGENT)
    os.chmod(agent, 0o755)
    with open(os.path.join(tree, "PROMPT.md"), "w") as file:
        file.write(f"# Bench\n\nGo.\n\n## Done when\n\n- never: `$ {CHECK}`\n")
    return folder, tree


def measure(argv, tree, folder, variables=None):
    env = {"PATH": os.environ["PATH"], "HOME": folder, "LOOPKEEPER_STATE_DIR": os.path.join(folder, "state")}
    env |= variables or {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(argv, cwd=tree, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.returncode, cpu, wall


def keeper(program, n, sandbox, log=None):
    folder, tree = workspace()
    with open(os.path.join(tree, "loopkeeper.toml"), "w") as file:
        file.write(
            f'agent = "mine"\n[agents.mine]\ncommand = ["./agent.sh"]\n[limits]\niterations = {n}\ncalls_per_hour = {n}\n'
            f'[sandbox]\nkind = "{sandbox}"\n[breaker]\nsame_error = 10000\n'
        )
    variables = {"LOOPKEEPER_LOG": log} if log else {}
    code, cpu, wall = measure([program, "run", "--trust", "--json"], tree, folder, variables)
    assert code == 4, f"the loop should end at its limit, not with {code}"
    shutil.rmtree(folder)
    return cpu / n * 1000, wall / n * 1000


def bash(n):
    folder, tree = workspace()
    _, cpu, wall = measure(["bash", "-c", BASH.format(n=n, check=CHECK)], tree, folder)
    shutil.rmtree(folder)
    return cpu / n * 1000, wall / n * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/loopkeeper")
    parser.add_argument("--counts", default="20,500")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    print("per iteration, median of", args.rounds, "rounds; beyond = more than the bash loop with the same agent and check")
    per_count = {}
    for n in (int(it) for it in args.counts.split(",")):
        rows = {"bash": [], "off": [], "auto": [], "log off": [], "log debug": []}
        for _ in range(args.rounds):
            rows["bash"].append(bash(n))
            rows["off"].append(keeper(program, n, "off"))
            rows["auto"].append(keeper(program, n, "auto"))
            rows["log off"].append(keeper(program, n, "off", "off"))
            rows["log debug"].append(keeper(program, n, "off", "debug"))
        mid = {key: [statistics.median(column) for column in zip(*row)] for key, row in rows.items()}
        per_count[n] = mid
        for kind, name in (("off", "keeper, subreaper"), ("auto", "keeper, sandbox auto")):
            cpu, wall = mid[kind]
            base_cpu, base_wall = mid["bash"]
            print(
                f"{n:4} iterations  {name:20}  CPU {cpu:6.2f} ms (bash {base_cpu:5.2f}, beyond {cpu - base_cpu:6.2f}, "
                f"ratio {cpu / base_cpu:4.1f})  wall {wall:6.1f} ms (beyond {wall - base_wall:6.1f})"
            )
        silent, logged = (mid[key][0] for key in ("log off", "log debug"))
        print(
            f"{n:4} iterations  CPU by default {mid['off'][0] / silent:4.2f} of that with LOOPKEEPER_LOG=off, "
            f"{logged / silent:4.2f} with LOOPKEEPER_LOG=debug"
        )
    counts = sorted(per_count)
    if len(counts) > 1:
        few, many = per_count[counts[0]]["off"][0], per_count[counts[-1]]["off"][0]
        print(f"flat: CPU per iteration at {counts[-1]} is {many / few:4.2f} of that at {counts[0]}")
        print_growth(counts, per_count)


def print_growth(counts, per_count):
    """A loop's start costs the same however long the loop gets: what each further iteration adds."""
    few, many = counts[0], counts[-1]
    totals = {(key, n): per_count[n][key][0] * n for key in ("bash", "off") for n in (few, many)}
    added = {key: (totals[key, many] - totals[key, few]) / (many - few) for key in ("bash", "off")}
    start = totals["off", few] - added["off"] * few
    beyond = added["off"] - added["bash"]
    print(f"a start costs {start:.0f} ms of CPU; a further iteration {added['off']:.2f} ms, {beyond:.2f} beyond bash")


main()
