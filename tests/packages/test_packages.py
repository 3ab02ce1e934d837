"""Builds every package, installs each in a clean folder and runs it there.

LOOPKEEPER_BINARY names the program to package (default: target/debug/loopkeeper); the others are beside it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server/packaging"))
from formats.release import PROGRAMS, host_target, read_version  # noqa: E402

TASK = "# Task\n\nDo it.\n\n## Done when\n\n- It is there: `exists PROMPT.md`\n- It runs: `$ true`\n"


def run(*command, env=None, cwd=None, fails=False):
    ran = subprocess.run([str(it) for it in command], env=env, cwd=cwd, capture_output=True, text=True, check=False)
    if (ran.returncode != 0) != fails:
        raise AssertionError(f"{command} exited {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        built = Path(os.environ.get("LOOPKEEPER_BINARY", ROOT / "target/debug/loopkeeper")).resolve().parent
        cls.programs = cls.folder / "programs"
        cls.programs.mkdir()
        for name in PROGRAMS:
            run("strip", "-o", cls.programs / name, built / name)
        cls.out = cls.build("out", "archive,deb,wheel,npm")

    @classmethod
    def build(cls, name, only):
        out = cls.folder / name
        target = f"{host_target()}={cls.programs}"
        # A commit between two builds would change the default.
        env = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
        run(ROOT / "server/packaging/build", "--fast", "--only", only, "--out", out, "--target", target, env=env)
        return out

    def find(self, pattern):
        found = sorted(self.out.glob(pattern))
        self.assertEqual(len(found), 1, f"{pattern}: {found}")
        return found[0]

    def new_folder(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def assert_works(self, program, path="/usr/bin:/bin"):
        """Without a home folder's files, and with no other loopkeeper on PATH."""
        home = Path(tempfile.mkdtemp(dir=self.folder))
        env = {"HOME": str(home), "PATH": path}
        self.assertEqual(run(program, "--version", env=env).split()[:2], ["loopkeeper", read_version()])
        project = home / "project"
        project.mkdir()
        (project / "PROMPT.md").write_text(TASK)
        run("git", "init", "-q", project)
        # The keeper runs the demo's loop and the warden its agent and checks.
        self.assertIn("verified", run(program, "demo", env=env, cwd=project))

    def test_archive(self):
        folder = self.new_folder("archive")
        run("tar", "-xzf", self.find("*-linux-gnu.tar.gz"), "-C", folder)
        top = folder / f"loopkeeper-{read_version()}-{host_target()}"
        self.assert_works(top / "loopkeeper")
        run("bash", "-n", top / "share/bash-completion/completions/loopkeeper")
        page = (top / "share/man/man1/loopkeeper.1").read_text()
        self.assertIn('.SH "loopkeeper rollback"', page)

    def test_binstall_finds_the_archive(self):
        binstall = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["metadata"]["binstall"]
        names = {"name": "loopkeeper", "version": read_version(), "target": host_target()}
        folder = binstall["bin-dir"].split("/")[0]
        for key, value in names.items():
            folder = folder.replace(f"{{ {key} }}", value)
        self.find(f"{folder}.tar.gz")

    def test_deb(self):
        root = self.new_folder("root")
        (root / "var/lib/dpkg").mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        options = ["--root", root, "--force-not-root", "--force-script-chrootless", "--force-depends"]
        run("dpkg", *options, "--install", self.find("*.deb"))
        self.assert_works(root / "usr/bin/loopkeeper")
        self.assertTrue((root / "usr/share/man/man1/loopkeeper.1").is_file())

    def test_wheel(self):
        folder = self.new_folder("venv")
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--no-index", "--no-deps", self.find("*.whl"))
        self.assert_works(folder / "bin/loopkeeper")
        run(folder / "bin/pip", "uninstall", "-y", "loopkeeper")
        self.assertEqual([name for name in PROGRAMS if (folder / "bin" / name).exists()], [])

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed")
    def test_npm(self):
        folder = self.new_folder("npm")
        install = ["npm", "install", "--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder]
        env = os.environ | {"HOME": str(folder), "npm_config_cache": str(folder / "cache")}
        main = self.find(f"loopkeeper-{read_version()}.tgz")
        part = self.find("loopkeeper-linux-*.tgz")
        path = f"{Path(shutil.which('node')).parent}:/usr/bin:/bin"
        # Without the package of the platform the launcher names it.
        run(*install, "--omit=optional", main, env=env)
        message = run(folder / "bin/loopkeeper", "--version", env={"PATH": path}, fails=True)
        self.assertIn("is not installed. Hint:", message)
        run(*install, main, part, env=env)
        self.assert_works(folder / "bin/loopkeeper", path)
        # A failure keeps its exit code through the launcher.
        ran = subprocess.run([folder / "bin/loopkeeper", "stopp"], env={"PATH": path}, capture_output=True, check=False)
        self.assertEqual(ran.returncode, 2)

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed")
    def test_vsix_in_a_clean_editor(self):
        [path] = self.build("vsix-used", "vsix").glob("*.vsix")
        env = os.environ | {"LOOPKEEPER_TEST_VSIX": str(path), "LOOPKEEPER_BINARY": str(self.programs / "loopkeeper")}
        test = 'exec "$LOOPKEEPER_TEST_NODE24" --test --test-timeout=300000 --test-force-exit tests/packages/vsix.test.mjs'
        command = ["bash", "-c", f"set -eu; . tests/editors/vscode/environment.sh; {test}"]
        ran = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
        if ran.returncode == 3:
            self.skipTest(ran.stderr.strip())
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("# pass 2", ran.stdout.replace("ℹ", "#"))

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed")
    def test_vsix(self):
        [path] = self.build("vsix", "vsix").glob("*.vsix")
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
            for name in PROGRAMS:
                mode = packed.getinfo(f"extension/server/{name}").external_attr >> 16
                self.assertEqual(mode & 0o111, 0o111, f"{name} is not executable")
            for name in ["media/icon.png", "changelog.md", "readme.md", "LICENSE.txt", "dist/extension.js"]:
                self.assertIn(f"extension/{name}", names)

    def test_same_programs_give_the_same_bytes(self):
        again = self.build("again", "archive,deb,wheel,npm")
        for path in self.out.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), f"{path.name} differs")

    def test_a_missing_program_is_refused(self):
        folder = self.new_folder("incomplete")
        shutil.copy(self.programs / "loopkeeper", folder)
        target = f"{host_target()}={folder}"
        build = [ROOT / "server/packaging/build", "--out", self.folder / "none", "--only", "deb", "--target", target]
        self.assertIn("Hint: a package needs all of", run(*build, fails=True))


if __name__ == "__main__":
    unittest.main()
