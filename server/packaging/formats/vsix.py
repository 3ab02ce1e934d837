"""The extension for Visual Studio Code, with the server inside."""

import json
import os
import shutil
import subprocess

from .release import ROOT, PackagingError

CLIENT = ROOT / "editors/vscode"


def build(release, out):
    client = json.loads((CLIENT / "package.json").read_text())["version"]
    if client != release.version:
        raise PackagingError(f"editors/vscode/package.json has version {client}, Cargo.toml {release.version}. Hint: make them equal.")
    if shutil.which("npm") is None:
        raise PackagingError("npm is not installed. Hint: install node, or leave vsix out of --only.")
    if not (CLIENT / "node_modules/@vscode/vsce").exists():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=CLIENT, check=True, capture_output=True, text=True)
    path = out / f"loopkeeper-{release.platform.node}-{release.version}.vsix"
    env = os.environ | {
        "LOOPKEEPER_BINARY": str(release.programs["loopkeeper"].resolve()),
        "LOOPKEEPER_VSIX": str(path),
        "LOOPKEEPER_VSIX_TARGET": release.platform.node,
    }
    subprocess.run(["npm", "run", "--silent", "package"], cwd=CLIENT, env=env, check=True, capture_output=True, text=True)
    return [path]
