"""Journals of very long loops: a real loop of a few iterations, whose last iteration is repeated with other numbers,
times and texts until there are as many as wanted. What it leaves is a loop that was interrupted, which `resume`
continues: its trees, its lock and its documents are those of the real one.
"""
import datetime
import glob
import hashlib
import json
import os
import time

# Prints what an agent prints: a message, calls of tools, a report that ends in a status block.
AGENT = r"""#!/bin/sh
cat >/dev/null
say() { printf '%s\n' "$1"; }
say '{"type":"system","subtype":"init","session_id":"bench","model":"script"}'
for tool in 1 2 3 4 5 6; do
  say '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t'$tool'","name":"Bash","input":{"command":"cargo test --package parser --test rounding -- --exact case_'$tool'"}}]},"parent_tool_use_id":null}'
  say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t'$tool'","is_error":true,"content":"thread main panicked at src/rounding.rs:4'$tool':9: assertion failed: left == right, case '$tool' of the table"}]},"parent_tool_use_id":null}'
done
echo step >> work.txt
date +%N > src/rounding.txt
text='I moved the rounding of sums into one function and ran the tests again. Three of the tests of the parser still fail, since the table that they read has two columns and the parser expects three.\n\nDecision: amounts are integers of a hundredth.\n\nNext: read the table with its header.\n\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\nEXIT_SIGNAL: false'
say '{"type":"assistant","message":{"content":[{"type":"text","text":"'"$text"'"}]},"parent_tool_use_id":null}'
say '{"type":"result","subtype":"success","is_error":false,"duration_ms":100,"num_turns":7,"result":"'"$text"'","session_id":"bench","total_cost_usd":0.0001,"usage":{"input_tokens":1200,"output_tokens":300}}'
"""
# Fails as a test runner does, with another number of failed tests after each iteration: the same failure a hundred times
# in a row would open the breaker.
CHECK = r"""#!/bin/sh
failed=$((8 + $(wc -l < work.txt) % 7))
for test in 1 2 3 4 5 6 7 8; do
  echo "test rounding::case_$test ... FAILED"
  echo "thread 'rounding::case_$test' panicked at src/rounding.rs:4$test:9: assertion failed: left == right"
done
echo "test result: FAILED. 3 passed; $failed failed; 0 ignored; 0 measured; 0 filtered out"
exit 101
"""
TASK = """# Bench

Go.

## Done when

- the parser rounds: `$ ./check.sh`
- there is work: `exists work.txt`
- it is documented: `has "rounding" README.md`
- it never ends: `$ test -f never`
"""
SETTINGS = """agent = "mine"
[agents.mine]
command = ["./agent.sh"]
output = "claude"
[limits]
iterations = 100000
calls_per_hour = 1000000
duration = "999h"
cost_usd = 100000
[breaker]
same_error = 100
no_progress = 100
output_decline = 100
"""
# The last record of an iteration.
LAST = "iteration-ended"


def prepare(bench):
    """Makes the work tree of `bench` (see loop.py) that of a long loop."""
    bench.write("agent.sh", AGENT)
    bench.write("check.sh", CHECK)
    os.chmod(os.path.join(bench.tree, "check.sh"), 0o755)
    bench.write("src/rounding.txt", "0\n")
    bench.write("PROMPT.md", TASK)
    bench.write("fix_plan.md", "# Plan\n\n" + "".join(f"- [ ] step {it} of the parser\n" for it in range(10)))
    bench.write("loopkeeper.toml", SETTINGS)


def record(bench, iterations=4):
    """Runs a real loop for some iterations and ends its keeper as a crash would; returns its folder."""
    done = bench.call("run", "--trust", "--detach")
    assert done.returncode == 0, done.stderr
    while (status := bench.status())["iteration"] <= iterations:
        assert status["state"] == "working", status
        time.sleep(0.05)
    os.kill(status["keeper"]["pid"], 9)
    while bench.status()["keeper"]["alive"]:
        time.sleep(0.05)
    [journal] = glob.glob(os.path.join(bench.state, "workspaces/*/loops/*/journal.jsonl"))
    return os.path.dirname(journal)


def grow(folder, iterations):
    """Rewrites the journal of the loop in `folder` to one of so many iterations; returns its bytes."""
    path = os.path.join(folder, "journal.jsonl")
    with open(path, "rb") as file:
        records = [json.loads(line) for line in file.read().split(b"\n")[:-1]]
    ends = [at for at, it in enumerate(records) if it["type"] == LAST]
    head, turns = records[: ends[0] + 1], [records[ends[at] + 1 : ends[at + 1] + 1] for at in range(len(ends) - 1)]
    with open(path, "wb") as file:
        for line in lines(head, turns, iterations):
            file.write(line)
    return os.path.getsize(path)


def lines(head, turns, iterations):
    """The lines of a journal that begins with `head`, one iteration, and repeats `turns` in turn."""
    now = {"up": head[-1]["up"], "wall": millis(head[-1]["at"])}
    # Nothing may lie in the future, and no clock before its machine's start.
    step = max(1, min(40, (now["up"] - 1) // (iterations + 1)))
    now = {name: value - step * iterations for name, value in now.items()}
    # The last iteration is real: its trees are in the store, and the work tree is as it left it.
    real = {it["when"]: it["tree"] for it in turns[-1] if it["type"] == "snapshot-taken"}
    left = {iterations: real["after"], iterations - 1: real["before"]}
    chain, seq = 0, 0
    for number in range(1, iterations + 1):
        trees = [left.get(it, tree(it)) for it in (number - 1, number)]
        for it in head if number == 1 else turns[(number - iterations - 1) % len(turns)]:
            seq += 1
            moved = {**it, "v": 1, "seq": seq, "epoch": 1, "at": text(now["wall"]), "up": now["up"]}
            if moved.get("iteration"):
                moved = varied({**moved, "iteration": number}, number, trees)
            line, chain = chained(moved, chain)
            yield line
        now = {name: value + step for name, value in now.items()}


def varied(it, number, trees):
    """What differs from iteration to iteration in a loop that gets on: session, files, errors and failures."""
    before, after = trees
    if it["type"] == "iteration-intended":
        session = f"{number:08x}-0000-4000-8000-000000000000"
        return {**it, "session": session, "tree": before, "callsThisHour": min(number, 900)}
    if it["type"] == "snapshot-taken":
        return {**it, "tree": after if it["when"] == "after" else before}
    if it["type"] == "agent-ended":
        run = it["run"]
        errors = [{**error, "fingerprint": tree(f"{number} {error['text']}")[:12]} for error in run.get("errors", [])]
        return {**it, "run": {**run, "finalText": f"Iteration {number}: {run['finalText']}", "errors": errors}}
    if it["type"] == "checks-done":
        results = [failing(result, number) for result in it["round"]["results"]]
        return {**it, "round": {"treeBefore": after, "treeAfter": after, "results": results}}
    return it


def failing(result, number):
    """Another number of failed tests than after the iteration before."""
    if "tests" not in result:
        return result
    failed = 8 + number % 7
    tests = {**result["tests"], "failed": failed, "passed": 30 - failed}
    return {**result, "fact": f"{failed} of 30 fail", "tests": tests}


def tree(number):
    """The id of a tree that no other iteration left."""
    return hashlib.sha1(str(number).encode()).hexdigest()


def chained(it, chain):
    it = {key: value for key, value in it.items() if key != "sum"}
    body = json.dumps(it, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    chain = crc32c(body, chain)
    return b'%s,"sum":"%08x"}\n' % (body, chain), chain


def millis(at):
    return round(datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() * 1000)


def text(wall):
    at = datetime.datetime.fromtimestamp(wall // 1000, datetime.timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + f".{wall % 1000:03}Z"


def table():
    for it in range(256):
        for _ in range(8):
            it = it >> 1 ^ (0x82F63B78 if it & 1 else 0)
        yield it


TABLE = tuple(table())


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    known = TABLE
    for byte in data:
        crc = known[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
