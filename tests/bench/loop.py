"""A loop of the real binary for the benchmarks: a work tree, an agent script, and the journal afterwards."""
import json
import os
import shutil
import subprocess
import tempfile


class Bench:
    """A temporary work tree with its own state folder; gone when the block ends."""

    def __init__(self, program, agent, criterion="never: `$ test -f never`", settings=""):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="loopkeeper-bench-")
        self.tree = os.path.join(self.folder, "tree")
        self.state = os.path.join(self.folder, "state")
        os.mkdir(self.tree)
        subprocess.run(["git", "init", "-q", self.tree], check=True)
        self.write("agent.sh", agent)
        os.chmod(os.path.join(self.tree, "agent.sh"), 0o755)
        self.write("PROMPT.md", f"# Bench\n\nGo.\n\n## Done when\n\n- {criterion}\n")
        self.write("loopkeeper.toml", f'agent = "mine"\n[agents.mine]\ncommand = ["./agent.sh"]\n{settings}')
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "LOOPKEEPER_STATE_DIR": self.state,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def call(self, *args, **more):
        return subprocess.run(
            [self.program, *args], cwd=self.tree, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, **more,
        )

    def status(self):
        return json.loads(self.call("status", "--json").stdout)["loops"][0]

    def journal(self):
        lines = self.call("log", "--json").stdout.splitlines()
        return [json.loads(line) for line in lines]


def proc(pid, key):
    """A number of /proc/PID/status, in its own unit."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    raise KeyError(key)
