#!/usr/bin/env python3
"""The language server against `ruff server` in the same run: the way to its first answer, a keystroke to its
diagnostics, a hundred thousand requests at once; what its log costs; and against its own limits: ten thousand items
of each document format, memory and wake-ups at rest, memory with a client that does not read while many loops run.

usage: tests/bench/lsp.py [--rounds 20] [--rest 10] [--loops 20] [--deaf 60] [--only PART] [--before PROGRAM] [LOOPKEEPER]
needs tests/tools/python.sh
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import limits
from editor import Editor, frame, switches
from loop import Bench, proc

REQUESTS, LOGGED = 100_000, 20_000
LINES, ITEMS = 2_000, 50
PROSE = LINES - ITEMS - 10
LIMIT_IDLE, LIMIT_DEAF = 12, 64
MANY, LIMIT_OPEN, LIMIT_KEY, LIMIT_MANY, LIMIT_FLOOD = 10_000, 150, 30, 60, 1.5
# An editor's capabilities; without `diagnostic`, so that both servers publish.
CLIENT = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}},
    "experimental": {"loopkeeper": {"version": 1}},
}


class Ours:
    name, file, language, code = "loopkeeper", "PROMPT.md", "markdown", "not-a-check"

    def __init__(self, program):
        self.argv = [os.path.abspath(program), "--stdio"]

    short = "# Bench\n\nGo.\n\n## Done when\n\n- it is there: `exists done`\n- tests: `$ cargo test`\n"

    def text(self, has_mistake):
        """A long task whose last criterion is or is not written as it should be."""
        prose = "".join(f"Line {it} of what is to be done, `with` some **markup**.\n" for it in range(PROSE))
        items = "".join(f"- criterion {it}: `$ test -f file{it}`\n" for it in range(ITEMS))
        last = "- the last: `cargo test`\n" if has_mistake else "- the last: `$ cargo test`\n"
        return f"# Bench\n\n{prose}\n## Done when\n\n{items}{last}"


class Ruff:
    name, file, language, code = "ruff", "bench.py", "python", "F821"

    def __init__(self, folder):
        self.argv = [os.path.abspath(os.path.join(folder, "ruff")), "server"]

    short = "import os\n\n\ndef function(a, b):\n    return a + b\n"

    def text(self, has_mistake):
        """As long as our task, in lines and in bytes, and with as many lines that there is something to say of."""
        imports = "".join(f"import module_{it}\n" for it in range(ITEMS))
        body = "def function_{0}(first_number, second_number, name):\n    return first_number + second_number * {0} + len(name)\n"
        functions = "".join(body.format(it) for it in range(PROSE // 2))
        return imports + functions + ("missing()\n" if has_mistake else "# none\n")


@contextlib.contextmanager
def workspace():
    folder = tempfile.mkdtemp(prefix="loopkeeper-bench-")
    tree = os.path.join(folder, "tree")
    os.mkdir(tree)
    subprocess.run(["git", "init", "-q", tree], check=True)
    env = {"PATH": os.environ["PATH"], "HOME": folder, "LOOPKEEPER_STATE_DIR": os.path.join(folder, "state")}
    try:
        yield tree, env
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(tree, server, has_mistake):
    path = os.path.join(tree, server.file)
    with open(path, "w") as file:
        file.write(server.text(has_mistake))
    return path


def to_first_answer(server):
    with workspace() as (tree, env):
        write(tree, server, False)
        with Editor(server.argv, tree, env) as editor:
            return (editor.initialize([tree], CLIENT) - editor.began) * 1000


def keystrokes(server, rounds):
    """Milliseconds from a change that makes or mends a mistake to the diagnostics that say so."""
    with workspace() as (tree, env):
        path = write(tree, server, False)
        texts = {it: server.text(it) for it in (False, True)}
        with Editor(server.argv, tree, env) as editor:
            editor.initialize([tree], CLIENT)
            editor.open(path, server.language, texts[False])
            times = []
            for version in range(2, 2 + 2 * rounds):
                has_mistake = version % 2 == 0
                since = len(editor.messages)
                begin = editor.change(path, version, texts[has_mistake])
                is_said = lambda them: any(it.get("code") == server.code for it in them) == has_mistake
                times.append((editor.published(path, is_said, since) - begin) * 1000)
            return times


def flood(server):
    """Microseconds for each of very many requests sent without waiting, and peak megabytes."""
    with workspace() as (tree, env):
        path = write(tree, server, False)
        with Editor(server.argv, tree, env) as editor:
            editor.initialize([tree], CLIENT)
            editor.open(path, server.language, server.text(False))
            params = {"textDocument": {"uri": f"file://{path}"}, "position": {"line": 0, "character": 0}}
            data = b"".join(frame("textDocument/hover", params, it) for it in range(1000, 1000 + REQUESTS))
            begin = time.monotonic()
            editor.write(data)
            end, answered = editor.all_answers(1000, REQUESTS)
            if answered < REQUESTS:
                # Observed with ruff 0.17: all its threads wait for each other.
                print(f"{server.name} answered {answered} of {REQUESTS} and then nothing more")
                assert answered > 0 and server.name != Ours.name
            return (end - begin) / answered * 1e6, proc(editor.pid, "VmHWM") / 1024


def cpu_of_requests(program, log, trace):
    """Microseconds of the server's CPU for each of many requests, with this LOOPKEEPER_LOG and trace setting."""
    with workspace() as (tree, env):
        server = Ours(program)
        path = write(tree, server, False)
        with Editor(server.argv, tree, {**env, **({"LOOPKEEPER_LOG": log} if log else {})}) as editor:
            editor.initialize([tree], CLIENT)
            editor.open(path, server.language, server.text(False))
            editor.notify("$/setTrace", {"value": trace})
            params = {"textDocument": {"uri": f"file://{path}"}, "position": {"line": 0, "character": 0}}
            data = b"".join(frame("textDocument/hover", params, it) for it in range(1000, 1000 + LOGGED))
            begin = cpu(editor.pid)
            editor.write(data)
            assert editor.all_answers(1000, LOGGED)[1] == LOGGED
            return (cpu(editor.pid) - begin) / LOGGED * 1e6


def cpu(pid):
    """Seconds of all its threads, ended ones too."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def logging(program, rounds, before=None):
    """What the log costs for each request: off, on, and against a build without it where one is given."""
    kinds = {"off": (None, "off"), "LOOPKEEPER_LOG=debug": ("debug", "off"), "trace for the client": (None, "messages")}
    programs = {name: (program, *kind) for name, kind in kinds.items()}
    if before:
        programs = {"without it": (before, None, "off"), **programs}
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, arguments in programs.items():
            times[name].append(cpu_of_requests(*arguments))
    medians = {name: statistics.median(them) for name, them in times.items()}
    base = next(iter(medians.values()))
    for name, median in medians.items():
        print(f"log, {name}: {median:.1f} µs of CPU a request, {median / base:.2f} of the first", flush=True)


def stories(depend=False, **form):
    """`prd.json`: stories with a criterion each, perhaps every one after the one before it."""
    def story(it):
        after = {"dependsOn": [f"US-{it - 1}"]} if depend and it else {}
        return {"id": f"US-{it}", "title": f"Story {it} 界", "passes": False, "acceptanceCriteria": [f"it: `$ test -f {it}`"], **after}
    return json.dumps({"userStories": [story(it) for it in range(MANY // 2)]}, ensure_ascii=False, **form)


def formats():
    """Name, file, text: each with ten thousand items."""
    lines = lambda line: "".join(line.format(it) + "\n" for it in range(MANY))
    yield "Markdown task", "PROMPT.md", "# T\n\n## Done when\n\n" + lines("- criterion {0} 界: `$ test -f {0}`")
    yield "Markdown, near misses", "PROMPT.md", "# T\n\n## Done when\n\n" + lines("- criterion {0}: `exist file{0}`")
    yield "fix plan", "fix_plan.md", "# Plan\n\n" + lines("- [ ] item {0} `$ test -f {0}`")
    yield "prd.json, one line", "prd.json", stories()
    yield "prd.json, one line of a chain", "prd.json", stories(depend=True)
    yield "prd.json, pretty", "prd.json", stories(indent=2)
    yield "front matter", "PROMPT.md", "---\n" + lines("key{0}: value") + "---\n# T\n\n## Done when\n\n- a: `$ a`\n"
    yield "loopkeeper.toml", "loopkeeper.toml", lines("[agents.a{0}]\ncommand = [\"a\"]")
    yield "loopkeeper.toml, mistakes", "loopkeeper.toml", lines("key{0} = 1")
    yield ".ralphrc", ".ralphrc", lines("MAX_CALLS_PER_HOUR=1{0}")


def many(program, file, text):
    """Milliseconds from open to diagnostics and from a keystroke to diagnostics, and peak megabytes."""
    with workspace() as (tree, env):
        path = os.path.join(tree, file)
        with open(path, "w") as out:
            out.write(text)
        # For a file that is not one of our documents, the task next to it is read.
        shown = path if file != ".ralphrc" else os.path.join(tree, "PROMPT.md")
        if file in (".ralphrc", "loopkeeper.toml"):
            with open(os.path.join(tree, "PROMPT.md"), "w") as out:
                out.write(Ours.short)
        said = text if shown == path else Ours.short
        wrong = {"json": said[:-1], "toml": said + "x\n"}.get(file.rpartition(".")[2], said + "- [ ] more: `$ `\n")
        with Editor([os.path.abspath(program), "--stdio"], tree, env) as editor:
            began = time.monotonic()
            editor.initialize([tree], CLIENT)
            editor.open(shown, "markdown", wrong)
            opened = editor.published(shown, lambda them: them) - began
            times = []
            for version in range(2, 12):
                since, broken = len(editor.messages), version % 2 == 1
                begin = editor.change(shown, version, wrong if broken else said)
                is_said = lambda message: message.get("method") == "textDocument/publishDiagnostics"
                times.append(editor.until(is_said, since)[0] - begin)
            return opened * 1000, statistics.median(times) * 1000, proc(editor.pid, "VmHWM") / 1024


def all_formats(program):
    for name, file, text in formats():
        opened, key, peak = many(program, file, text)
        parts = ((opened, "ms to diagnostics", LIMIT_OPEN), (key, "ms a keystroke", LIMIT_KEY), (peak, "MB", LIMIT_MANY))
        said = ", ".join(f"{value:.0f} {unit} ({limits.share(name, value, limit, unit)})" for value, unit, limit in parts)
        print(f"{MANY} items, {name}: {said}", flush=True)


def data(pid):
    """Megabytes that the process does not share with a file."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:")) / 1024


def rest(server, seconds):
    """Megabytes resident and of data, context switches and messages of a server with one small file, unchanged."""
    with workspace() as (tree, env):
        path = os.path.join(tree, server.file)
        with open(path, "w") as file:
            file.write(server.short)
        with Editor(server.argv, tree, env) as editor:
            editor.initialize([tree], CLIENT)
            editor.open(path, server.language, server.short)
            # Threads that were needed at the start end ten seconds after their last work.
            time.sleep(15)
            switched, said = switches(editor.pid), len(editor.messages)
            time.sleep(seconds)
            woken, heard = switches(editor.pid) - switched, len(editor.messages) - said
            return proc(editor.pid, "VmRSS") / 1024, data(editor.pid), woken, heard


def deaf(program, loops, seconds):
    """Megabytes at the beginning and the peak, with loops that print and a client that never reads."""
    agent = "#!/bin/sh\nwhile true; do head -c 2000 /dev/zero | tr '\\0' x; echo; echo x >> work; sleep 0.2; done\n"
    with contextlib.ExitStack() as stack:
        state = stack.enter_context(tempfile.TemporaryDirectory(prefix="loopkeeper-bench-"))
        benches = [stack.enter_context(Bench(program, agent)) for _ in range(loops)]
        ids = []
        for bench in benches:
            bench.env["LOOPKEEPER_STATE_DIR"] = state
            started = bench.call("run", "--trust", "--detach")
            assert started.returncode == 0, started.stderr
            stack.callback(bench.call, "stop", "--now")
            ids.append(bench.status()["id"])
        argv = [os.path.abspath(program), "--stdio"]
        editor = stack.enter_context(Editor(argv, benches[0].tree, benches[0].env, reads=False))
        uris = [{"uri": f"file://{it.tree}", "name": "tree"} for it in benches]
        greeting = {"processId": os.getpid(), "rootUri": None, "workspaceFolders": uris, "capabilities": CLIENT}
        editor.write(frame("initialize", greeting, 1) + frame("initialized", {}))
        for number, it in enumerate(ids):
            editor.write(frame("loopkeeper/subscribe", {"loopId": it, "on": True}, 10 + number))
        time.sleep(5)
        begin, peak, end = proc(editor.pid, "VmRSS"), 0, time.monotonic() + seconds
        while time.monotonic() < end:
            peak = max(peak, proc(editor.pid, "VmRSS"))
            time.sleep(0.2)
        return begin / 1024, peak / 1024


def versus(what, unit, ours, theirs):
    print(f"{what}: {ours:.1f} {unit}, ruff {theirs:.1f} {unit}: {ours / theirs:.2f} of it")


def flood_of_both(ours, ruff):
    (mine, peak), (theirs, their_peak) = flood(ours), flood(ruff)
    versus(f"{REQUESTS} requests in one go, each", "µs", mine, theirs)
    print(f"  {limits.share(f'{REQUESTS} requests in one go', mine / theirs, LIMIT_FLOOD, 'times ruff')}")
    versus("  peak memory", "MB", peak, their_peak)


def delays_of_both(ours, ruff, rounds):
    # Alternating, so that a slow phase of the machine affects both.
    first = [(to_first_answer(ours), to_first_answer(ruff)) for _ in range(rounds)]
    mine, theirs = (statistics.median(it) for it in zip(*first))
    versus(f"spawn to the answer to initialize, median of {rounds}", "ms", mine, theirs)
    mine, theirs = keystrokes(ours, rounds), keystrokes(ruff, rounds)
    versus(f"keystroke to diagnostics in {LINES} lines, median", "ms", statistics.median(mine), statistics.median(theirs))
    versus("  the slowest of them", "ms", max(mine), max(theirs))


def rest_of_both(ours, ruff, seconds):
    resident, own, woken, said = rest(ours, seconds)
    their_resident, their_own, their_woken, _ = rest(ruff, seconds)
    # The system maps as much of a program's file at once as its cache holds in one piece, and drops it when memory is
    # short: how much is resident depends on how the file was written, and says little about the server.
    versus("resident at rest, most of it the program's file", "MB", resident, their_resident)
    versus("data at rest", "MB", own, their_own)
    print(f"  {limits.share('data at rest', own, LIMIT_IDLE, 'MB')}")
    print(f"at rest for {seconds:.0f} s: {woken} context switches (ruff {their_woken}), {said} messages; the goal is 0 and 0")


def memory_unread(program, loops, seconds):
    begin, peak = deaf(program, loops, seconds)
    what = f"{loops} loops, a client that reads nothing for {seconds:.0f} s"
    print(f"{what}: {begin:.1f} MB at the beginning, peak {peak:.1f} MB, {limits.share(what, peak, LIMIT_DEAF, 'MB')}")


PARTS = {
    "log": lambda args, ours, ruff: logging(args.program, 5, args.before),
    "formats": lambda args, ours, ruff: all_formats(args.program),
    "delays": lambda args, ours, ruff: delays_of_both(ours, ruff, args.rounds),
    "flood": lambda args, ours, ruff: flood_of_both(ours, ruff),
    "rest": lambda args, ours, ruff: rest_of_both(ours, ruff, args.rest),
    "deaf": lambda args, ours, ruff: memory_unread(args.program, args.loops, args.deaf),
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--rest", type=float, default=10)
    arguments.add_argument("--loops", type=int, default=20)
    arguments.add_argument("--deaf", type=float, default=60)
    arguments.add_argument("--only", choices=PARTS)
    arguments.add_argument("--before", help="a build to compare the cost of the log with")
    arguments.add_argument("program", nargs="?", default="target/release/loopkeeper")
    args = arguments.parse_args()
    ours, ruff = Ours(args.program), Ruff("target/tools/python/bin")
    for name, measure in PARTS.items():
        if args.only in (None, name):
            measure(args, ours, ruff)
    limits.exit_with_result()


if __name__ == "__main__":
    main()
