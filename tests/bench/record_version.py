#!/usr/bin/env python3
"""Records what `tests/e2e/versions.rs` continues and replays, with a program of the present version: a work tree and a
state folder as its killed keeper left them, and its control protocol. Run once for a release; never changed afterwards.

    record_version.py NAME [--program PROGRAM] [--to FOLDER]

writes `NAME.tar.gz` and `NAME.control.jsonl`. The tests replace the path `/tmp/recorded-NAME/tree`.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TASK = "# Lines\n\nGo.\n\n- [ ] Write `work.txt`\n\n## Done when\n\n- enough: `$ wc -l < work.txt` `>= 4`\n- a file: `$ test -s work.txt`\n"
# Waits in the third iteration, until the file `go` exists.
AGENT = '#!/bin/sh\ncat >/dev/null\n[ "$(grep -c . work.txt)" -lt 2 ] || [ -e go ] || sleep 60\necho step >> work.txt\n'
SETTINGS = 'agent = "mine"\n[agents.mine]\ncommand = ["./agent.sh"]\n[limits]\niterations = 9\n'
REQUESTS = [
    {"do": "dance"},
    {"do": "steer", "text": "mind the tests"},
    {"do": "steer", "text": " "},
    {"do": "check"},
    {"do": "saved", "what": "PROMPT.md", "text": "0" * 64},
    {"do": "authorize", "what": "trust"},
    {"do": "rollback", "iteration": 0, "paths": []},
    {"do": "undo-rollback"},
    {"do": "reset", "what": "session"},
    {"do": "reset", "what": "breaker"},
    {"do": "accept", "what": "a person"},
    {"do": "answer", "text": "yes"},
    {"do": "answer", "text": "yes", "what": "q1"},
    {"do": "pause"},
    {"do": "resume"},
    {"do": "resume", "what": "anyway"},
    {"do": "hook", "hook": "stop", "token": "of another agent", "session": "s", "text": "done"},
    {"do": "hook", "hook": "pre-tool", "token": "of another agent", "what": "a task"},
    {"do": "stop", "now": False},
    {"do": "stop", "now": True},
]


class Recording:
    """A loop in a new folder, started and at work in an iteration."""

    def __init__(self, program, folder, iteration):
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.tree, self.state = folder, os.path.join(folder, "tree"), os.path.join(folder, "state")
        os.makedirs(self.tree)
        for name, text in {"PROMPT.md": TASK, "agent.sh": AGENT, "work.txt": "step\n" * (3 - iteration), "loopkeeper.toml": SETTINGS}.items():
            with open(os.path.join(self.tree, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(self.tree, "agent.sh"), 0o755)
        env = {"PATH": os.environ["PATH"], "HOME": os.path.join(folder, "home"), "LOOPKEEPER_STATE_DIR": self.state, "TZ": "UTC"}
        command = [program, "run", "--trust", "--detach", "--json"]
        ran = subprocess.run(command, cwd=self.tree, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        self.loop = json.loads(ran.stdout)
        while f'"type":"agent-started","iteration":{iteration},' not in self.journal():
            time.sleep(0.05)

    def journal(self):
        with open(glob.glob(os.path.join(self.state, "workspaces/*/loops/*/journal.jsonl"))[0]) as file:
            return file.read()

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.path.join(self.state, "run", self.loop["loopId"] + ".sock"))
        return connection.makefile("rw")


def ask(connection, request):
    connection.write(json.dumps(request) + "\n")
    connection.flush()
    return json.loads(connection.readline())


def wait_for_end(variable):
    """Until no process has the variable: the wardens of a killed keeper end its agent."""
    def has(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return variable in file.read().split(b"\0")
        except OSError:
            return False

    while any(has(it) for it in os.listdir("/proc") if it.isdigit()):
        time.sleep(0.05)


def record_folder(program, name, to):
    recording = Recording(program, f"/tmp/recorded-{name}", 3)
    connection = recording.connect()
    connection.readline()
    ask(connection, {"id": "1", "do": "steer", "text": "mind the tests"})
    os.kill(recording.loop["pid"], signal.SIGKILL)
    wait_for_end(f"LOOPKEEPER_STATE_DIR={recording.state}".encode())
    # Programs, locks and trust belong to the machine and the path.
    for path in ["bin", "run", "trees", "trust"]:
        shutil.rmtree(os.path.join(recording.state, path), ignore_errors=True)
    for path in glob.glob(os.path.join(recording.state, "workspaces/*/loops/*/journal.reserve")):
        os.remove(path)
    archive = os.path.join(to, name + ".tar.gz")
    subprocess.run(["tar", "-C", recording.folder, "--owner=0", "--group=0", "-czf", archive, "tree", "state"], check=True)
    shutil.rmtree(recording.folder)


def record_control(program, name, to):
    recording = Recording(program, f"/tmp/recorded-{name}", 1)
    connection = recording.connect()
    greeting = {**json.loads(connection.readline()), "loop": "LOOP"}
    lines = [{"greeting": greeting}]
    for number, request in enumerate(REQUESTS):
        request = {"id": f"r{number}", **request}
        lines.append({"request": request, "reply": ask(connection, request)})
    with open(os.path.join(to, name + ".control.jsonl"), "w") as file:
        file.writelines(json.dumps(it, separators=(",", ":")) + "\n" for it in lines)
    shutil.rmtree(recording.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--program", default=os.path.join(ROOT, "target", "debug", "loopkeeper"))
    parser.add_argument("--to", default=os.path.join(ROOT, "tests", "fixtures", "versions"))
    args = parser.parse_args()
    record_folder(args.program, args.name, args.to)
    record_control(args.program, args.name, args.to)


if __name__ == "__main__":
    main()
