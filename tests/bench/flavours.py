#!/usr/bin/env python3
"""Workspaces of other tools in an editor: the first lenses of a task after the server's start, for each kept workspace;
the time to find the tasks among 100,000 files; and the CPU time that remarks on its criteria add to a keystroke in a task of a thousand lines.

usage: tests/bench/flavours.py [--rounds 15] [LOOPKEEPER]
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import limits
from editor import Editor

LINES, LIMIT_LENSES_MS, LIMIT_CRITERIA_MS = 1_000, 1_000, 5
FOLDERS, FILES_EACH, LIMIT_DISCOVERY_MS = 1_000, 100, 300
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/workspaces")
CLIENT = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}


def environment(home):
    names = {it: os.path.join(home, it.lower()) for it in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    return {**os.environ, **names, "HOME": home}


def first_task(program, folder, env):
    shown = subprocess.run([program, "status", "--json"], cwd=folder, env=env, capture_output=True, text=True)
    tasks = json.loads(shown.stdout).get("tasks", [])
    return tasks[0]["id"] if tasks else None


def open_document(editor, path, text):
    document = {"uri": f"file://{path}", "version": 1, "languageId": "markdown", "text": text}
    editor.notify("initialized", {})
    editor.notify("textDocument/didOpen", {"textDocument": document})


def first_lenses(program, folder, task, env):
    """Seconds from the start of the server to the first lenses; `None` if the task has none."""
    path = os.path.join(folder, task)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with Editor([program, "--stdio"], folder, env) as editor:
        editor.initialize([folder], CLIENT)
        open_document(editor, path, text)
        at, answer = editor.request("textDocument/codeLens", {"textDocument": {"uri": f"file://{path}"}})
        return at - editor.began if answer.get("result") else None


def lens_rows(program, rounds):
    slowest = (0, "")
    for name in sorted(os.listdir(FIXTURES)):
        with tempfile.TemporaryDirectory() as home:
            folder = os.path.realpath(shutil.copytree(os.path.join(FIXTURES, name), os.path.join(home, "w")))
            env = environment(home)
            task = first_task(program, folder, env)
            if task is None:
                print(f"  {name}: no task is listed")
                continue
            times = [first_lenses(program, folder, task, env) for _ in range(max(3, rounds // 5))]
            if None in times:
                limits.failures.append(f"{name}: the task has no lens")
                continue
            slowest = max(slowest, (statistics.median(times), name))
    took = slowest[0] * 1000
    print(f"first lenses: at most {took:.0f} ms ({slowest[1]}), {limits.share('first lenses', took, LIMIT_LENSES_MS, 'ms')}")


def discovery_row(program, rounds):
    """`status` in a tree whose only task is deep in it, with the tree in the kernel's cache."""
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.realpath(os.path.join(home, "w"))
        for number in range(FOLDERS):
            path = os.path.join(folder, f"a{number % 25}/m{number}")
            os.makedirs(path)
            for file in range(FILES_EACH):
                open(os.path.join(path, f"f{file}.rs"), "w").close()
        open(os.path.join(folder, "loopkeeper.toml"), "w").close()
        with open(os.path.join(path, "PROMPT.md"), "w", encoding="utf-8") as file:
            file.write("# Bench\n\nGo.\n\n## Done when\n\n- a: `exists x`\n")
        times = []
        for _ in range(max(3, rounds // 3)):
            began = time.monotonic()
            assert first_task(program, folder, environment(home)), "the task is not found"
            times.append((time.monotonic() - began) * 1000)
    took = statistics.median(times[1:])
    share = limits.share("discovery", took, LIMIT_DISCOVERY_MS, "ms")
    print(f"tasks among {FOLDERS * FILES_EACH} files: {took:.0f} ms, {share}")


def cpu_ms(pid):
    """CPU time of all threads, which other programs on the machine do not change."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e6


def keystroke(program, text, rounds):
    """Milliseconds of CPU time for a change and the hover with the grade of that version."""
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.realpath(os.path.join(home, "w"))
        os.mkdir(folder)
        open(os.path.join(folder, "loopkeeper.toml"), "w").close()
        path = os.path.join(folder, "PROMPT.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with Editor([program, "--stdio"], folder, environment(home)) as editor:
            editor.initialize([folder], CLIENT)
            open_document(editor, path, text)
            took = []
            for version in range(2, rounds + 3):
                began = cpu_ms(editor.pid)
                uri = {"uri": f"file://{path}", "version": version}
                place = {"line": 2, "character": 0}
                change = {"range": {"start": place, "end": place}, "text": "x"}
                editor.notify("textDocument/didChange", {"textDocument": uri, "contentChanges": [change]})
                hover = {"textDocument": {"uri": f"file://{path}"}, "position": {"line": 0, "character": 2}}
                editor.request("textDocument/hover", hover)
                # The diagnostics of the version follow.
                time.sleep(0.4)
                took.append(cpu_ms(editor.pid) - began)
        return statistics.median(took[1:])


def criteria_row(program, rounds, count):
    """Sentences with words that remarks look for, against the same sentences with checks, which have none."""
    prose = "".join(f"Line {it} of what is to be done.\n" for it in range(LINES - count))
    lines = [f"- Page {it} works properly and looks good in list {it}" for it in range(count)]
    task = f"# Bench\n\nGo.\n\n{prose}\n## Done when\n\n"
    without = keystroke(program, task + "".join(f"{it}: `exists {at}`\n" for at, it in enumerate(lines)), rounds)
    added = keystroke(program, task + "\n".join(lines) + "\n", rounds) - without
    what = f"remarks on {count} of {LINES} lines"
    print(f"{what}: {added:.1f} ms more than {without:.1f} ms, {limits.share(what, added, LIMIT_CRITERIA_MS, 'ms')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("loopkeeper", nargs="?", default="target/release/loopkeeper")
    args = parser.parse_args()
    program = os.path.abspath(args.loopkeeper)
    lens_rows(program, args.rounds)
    discovery_row(program, args.rounds)
    criteria_row(program, args.rounds, LINES // 10)
    criteria_row(program, args.rounds, LINES)
    limits.exit_with_result()


if __name__ == "__main__":
    main()
