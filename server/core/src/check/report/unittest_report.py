"""Writes what Python's unittest counts to a file, and restores the environment first."""
import os
import sys

FILE = "@FILE@"
FOLDER = os.path.dirname(os.path.abspath(__file__))


def write(results):
    failed = sum(len(it.failures) + len(it.errors) + len(it.unexpectedSuccesses) for it in results)
    skipped = sum(len(it.skipped) + len(it.expectedFailures) for it in results)
    passed = max(sum(it.testsRun for it in results) - failed - skipped, 0)
    cases = "<testcase/>" * passed
    cases += "<testcase><failure/></testcase>" * failed
    cases += "<testcase><skipped/></testcase>" * skipped
    with open(FILE, "w") as file:
        file.write(f"<testsuites>{cases}</testsuites>")


def report_runs(runner):
    run, results = runner.run, []

    def reported(self, test):
        result = run(self, test)
        results.append(result)
        write(results)
        return result

    runner.run = reported


class UnittestFinder:
    def find_spec(self, name, path=None, target=None):
        if name != "unittest.runner":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            report_runs(module.TextTestRunner)

        spec.loader.exec_module = exec_module
        return spec


def restore_environment():
    others = [it for it in os.environ.get("PYTHONPATH", "").split(os.pathsep) if it and it != FOLDER]
    if others:
        os.environ["PYTHONPATH"] = os.pathsep.join(others)
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [it for it in sys.path if it != FOLDER]


def run_replaced_module():
    """The module of this name that Python would have imported."""
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize
    except ImportError:
        sys.modules["sitecustomize"] = own


restore_environment()
run_replaced_module()
sys.meta_path.insert(0, UnittestFinder())
