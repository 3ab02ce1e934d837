"""Shell completions and the manual page, printed by the program itself, so that they cannot differ from it."""

import os
import re
import subprocess

from .release import SUMMARY, read_version

COMPLETIONS = {
    "bash": "bash-completion/completions/loopkeeper",
    "zsh": "zsh/site-functions/_loopkeeper",
    "fish": "fish/vendor_completions.d/loopkeeper.fish",
}


def generate(programs, folder):
    """Writes the texts below `folder`; returns them by their path below /usr/share."""
    program = programs / "loopkeeper"
    texts = {path: run(program, "completions", shell) for shell, path in COMPLETIONS.items()}
    texts["man/man1/loopkeeper.1"] = manual(program)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {name: folder / name for name in texts}


def manual(program):
    help_text = run(program, "--help")
    pages = [section("OVERVIEW", help_text)]
    for command in re.findall(r"^  ([a-z]+) {2,}", help_text, re.MULTILINE):
        if command != "help":
            pages.append(section(f"loopkeeper {command}", run(program, command, "--help")))
    head = f'.TH LOOPKEEPER 1 "" "loopkeeper {read_version()}"\n.SH NAME\nloopkeeper \\- {SUMMARY}\n'
    return head + "".join(pages)


def section(title, text):
    # A backslash would start an escape, a dot or an apostrophe at the start of a line a request.
    escaped = text.rstrip().replace("\\", "\\e").replace("-", "\\-")
    lines = ("\\&" + line if line.startswith((".", "'")) else line for line in escaped.splitlines())
    return f'.SH "{title}"\n.nf\n' + "\n".join(lines) + "\n.fi\n"


def run(program, *args):
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NO_COLOR": "1", "COLUMNS": "80"}
    return subprocess.run([program, *args], env=env, check=True, capture_output=True, text=True).stdout
