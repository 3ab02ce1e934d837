#!/usr/bin/env python3
"""Breaks each invariant of `server/ARCHITECTURE.md` once in a copy of the sources and runs the tests that have to fail.
Prints a row for each; fails if a broken invariant was not noticed.

    invariants.py [--only NUMBER] [--control]

`--control` runs the same tests on unchanged sources: all have to pass. Takes a minute or more for each row, since the
changed crate is built again. The copy is a work tree of HEAD below `target`.
"""
import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
COPY = os.path.join(ROOT, "target", "invariants")
# Apart from the usual one: cargo does not tell two copies of a crate apart, and would build them in turn.
TARGET = os.path.join(ROOT, "target", "invariants-build")


@dataclass
class Break:
    """A change that breaks an invariant, and the tests that notice it."""

    invariant: int
    what: str
    path: str
    old: str
    new: str
    crate: str
    tests: str


BREAKS = [
    Break(
        1, "damage is taken for an interrupted write", "server/core/src/journal/reading.rs",
        "if why.is_whole() || is_edited || holds_later_record(rest) {",
        "if (why.is_whole() || is_edited || holds_later_record(rest)) && rest.is_empty() {",
        "loopkeeper-core", "journal::reading",
    ),
    Break(
        1, "a stored state is shown for other records than its own", "server/system/src/journal_file/saved_state.rs",
        "Ok(bytes == trailer.offset && trailer.chain.is_end_of(lines, sum))",
        "Ok(bytes == trailer.offset && lines > 0 && sum > 0)",
        "loopkeeper-system", "saved_state",
    ),
    Break(
        2, "nothing is synced before its effect", "server/core/src/decide/durability.rs",
        "            Self::Soon\n        } else {\n            Self::Now\n",
        "            Self::Soon\n        } else {\n            Self::Soon\n",
        "loopkeeper-model", "kills_and_power_cuts",
    ),
    Break(
        3, "the number of an interrupted iteration is used again", "server/core/src/decide/iteration_start.rs",
        "let iteration = state.iteration + 1;",
        "let again = state.last_iteration().is_some_and(|it| it.interrupted);\n    let iteration = state.iteration + u32::from(!again);",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        3, "a second keeper gets the lock", "server/system/src/state_dir/lock.rs",
        "Err(TryLockError::WouldBlock) => return Ok(None),",
        "Err(TryLockError::WouldBlock) => return Ok(Some(Lock { file, path: path.to_owned() })),",
        "loopkeeper-system", "state_dir",
    ),
    Break(
        3, "a keeper that was replaced changes the state", "server/core/src/decide/apply.rs",
        "if entry.epoch < state.position.epoch {", "if entry.epoch + 1_000 < state.position.epoch {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        3, "a job is over although its processes remain", "server/keeper/src/warden/watch.rs",
        "tree::end_children(other_processes, |_| false, reap)", "tree::end_children(other_processes, |_| true, reap)",
        "loopkeeper", "wardens",
    ),
    Break(
        4, "one iteration more than the limit", "server/core/src/decide/limits.rs",
        "if state.iteration >= limits.iterations {", "if state.iteration > limits.iterations {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        4, "an agent is started although the budget is spent", "server/core/src/decide/limits.rs",
        "filter(|it| *it >= limits.cost_micros)", "filter(|it| *it / 2 >= limits.cost_micros)",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        4, "0 is a limit, and means none", "server/core/src/settings/value_parsers.rs",
        "Ok(0) => Err(unexpected_value_with_hint(raw.to_string(), NO_UNLIMITED)),",
        "Ok(0) => Ok(SettingValue::Count(u32::MAX)),",
        "loopkeeper-core", "settings",
    ),
    Break(
        5, "completed although a required check fails", "server/core/src/decide/exit.rs",
        "if !groups::all_groups_hold(state, &checked) {",
        "if !groups::all_groups_hold(state, &checked) && checked.is_empty() {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        5, "a final verdict that does not hold is enough", "server/core/src/decide/final_verdict.rs",
        "current(state).is_some_and(|it| it.holds)", "current(state).is_some()",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        5, "no test is a pass", "server/core/src/check/judge.rs",
        "if tests.is_some_and(|it| it.ran() == 0) {", "if tests.is_some_and(|it| it.ran() == 0 && it.failed > 0) {",
        "loopkeeper-core", "check::judge",
    ),
    Break(
        5, "a command that exceeds its time passes", "server/core/src/check/judge.rs",
        "return make_verdict(Status::TimedOut,", "return make_verdict(Status::Pass,",
        "loopkeeper-core", "check::judge",
    ),
    Break(
        5, "files that change during a round do not matter", "server/core/src/decide/rounds.rs",
        "if let Some(first) = progress::unexpected_writes(state, wrote).first() {",
        "if let Some(first) = progress::unexpected_writes(state, wrote).get(1_000) {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        6, "any trial closes the breaker", "server/core/src/decide/breaker/trial.rs",
        "} else if trial.is_new() && !fails_as_before(&past, &trial) {",
        "} else if trial.is_new() || !fails_as_before(&past, &trial) || !trial.is_new() {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        6, "an open breaker never admits a trial", "server/core/src/decide/breaker.rs",
        "state.breaker.resumes_at.filter(|_| cools_down)",
        "state.breaker.resumes_at.filter(|_| cools_down && state.iteration > 1_000)",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        7, "a stop is not honoured between iterations", "server/core/src/decide/between_iterations.rs",
        "if state.stop.is_some() {\n        return vec![user_end_record",
        "if state.stop.is_some() && state.iteration > 1_000 {\n        return vec![user_end_record",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        7, "a keeper that takes over forgets the stop", "server/core/src/decide/apply/keeper_takeover.rs",
        "    state.spec.attended = true;\n", "    state.spec.attended = true;\n    state.stop = None;\n",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        8, "criteria whose commands are not trusted run", "server/core/src/decide/documents.rs",
        "if !unknown.is_empty() {", "if unknown.len() > 1_000 {",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        8, "git runs the monitor that a repository names", "server/system/src/git/program.rs",
        '    "core.fsmonitor=false",\n', '    "core.fscache=false",\n',
        "loopkeeper", "snapshots::hostile",
    ),
    Break(
        9, "a restored file replaces what was put in its place meanwhile", "server/system/src/snapshots/restore/slot.rs",
        "match self.rename(temporary, &self.name, RenameFlags::NOREPLACE) {",
        "match self.rename(temporary, &self.name, RenameFlags::empty()) {",
        "loopkeeper-system", "snapshots",
    ),
    Break(
        9, "a file that was edited in the last moment is removed", "server/system/src/snapshots/restore/slot.rs",
        "is_ok_and(|it| it.is_unchanged(old));", "is_ok_and(|it| it.is_unchanged(old) || !it.is_unchanged(old));",
        "loopkeeper-system", "snapshots",
    ),
    Break(
        10, "the last message is stored as the agent wrote it", "server/agent/src/reader.rs",
        "truncate::last_bytes(&sanitize::text(&last_message), FINAL_TEXT_BYTES)",
        "truncate::last_bytes(&last_message, FINAL_TEXT_BYTES)",
        "loopkeeper-agent", "",
    ),
    Break(
        10, "control characters are shown", "server/text/src/sanitize.rs",
        "Some(c) if c.is_control() || is_invisible(c) => {}", "Some(c) if is_invisible(c) => {}",
        "loopkeeper-text", "sanitize",
    ),
    Break(
        10, "a secret that arrives in pieces is stored", "server/text/src/redact.rs",
        "let found = |it: &&Vec<u8>| bytes.starts_with(it)", "let found = |it: &&Vec<u8>| bytes == it.as_slice()",
        "loopkeeper-text", "redact",
    ),
    Break(
        11, "a failure of the provider counts as lack of progress", "server/core/src/loop_state/iteration.rs",
        "self.interrupted || self.error.is_some() || !by_itself", "self.interrupted || !by_itself",
        "loopkeeper-core", "decide::tests",
    ),
    Break(
        12, "errors of an agent are kept without a bound", "server/agent/src/errors.rs",
        "if errors.len() > MAX_ERRORS {", "if errors.len() > MAX_ERRORS * 1_000 {",
        "loopkeeper-agent", "",
    ),
    Break(
        12, "a line without an end is kept whole", "server/system/src/process/lines.rs",
        "        if self.bytes > LINE_BYTES {\n            self.kept = Vec::new();\n",
        "        if self.bytes > LINE_BYTES * 1_000 {\n            self.kept = Vec::new();\n",
        "loopkeeper-system", "process",
    ),
]


def git(*args):
    subprocess.run(["git", *args], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fails(crate, tests):
    """Whether one of the tests fails. A build that fails is an error of the change."""
    env = {**os.environ, "CARGO_TARGET_DIR": TARGET, "PROPTEST_CASES": "64"}
    # The root package has the programs, which only its end-to-end tests start.
    test = ["--config-file", "tests/nextest.toml", "--test", "e2e"] if crate == "loopkeeper" else []
    cargo = ["cargo", "nextest", "run", "--color", "never", "-p", crate, *test, *([tests] if tests else [])]
    ran = subprocess.run(cargo, cwd=COPY, env=env, capture_output=True, text=True)
    # A filter that matches nothing fails as well, and would show nothing.
    if not re.search(r"\b[1-9]\d* tests? run:", ran.stderr):
        sys.exit(ran.stderr[-3000:])
    return ran.returncode != 0, next((it.strip() for it in ran.stderr.splitlines() if " FAIL " in it), "")


def broken(change):
    """Whether the tests notice the change, and the first that does."""
    path = os.path.join(COPY, change.path)
    with open(path) as file:
        before = file.read()
    if before.count(change.old) != 1:
        sys.exit(f"{change.path}: {change.old!r} is there {before.count(change.old)} times")
    try:
        with open(path, "w") as file:
            file.write(before.replace(change.old, change.new))
        return fails(change.crate, change.tests)
    finally:
        with open(path, "w") as file:
            file.write(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int)
    parser.add_argument("--control", action="store_true")
    args = parser.parse_args()
    if os.path.exists(COPY):
        git("worktree", "remove", "--force", COPY)
    git("worktree", "add", "--detach", COPY, "HEAD")
    try:
        unnoticed = 0
        if args.control:
            for crate, tests in sorted({(it.crate, it.tests) for it in BREAKS}):
                failed, first = fails(crate, tests)
                unnoticed += failed
                print(f"{'FAILS' if failed else 'passes'}  {crate} {tests} {first}", flush=True)
            return unnoticed
        # By crate: those below it are then not built again between two of its rows.
        for change in sorted(BREAKS, key=lambda it: it.crate):
            if args.only in (None, change.invariant):
                noticed, first = broken(change)
                unnoticed += not noticed
                print(f"{change.invariant:2}  {'noticed' if noticed else 'NOT NOTICED'}  {change.what}  {first}", flush=True)
        return unnoticed
    finally:
        git("worktree", "remove", "--force", COPY)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
