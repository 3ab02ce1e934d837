// Tests the mapping of criteria and their results to tests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { orders, placeOf, resultsKey, roundState, runName, testResult } from "../src/criteria/results";
import type { CriterionStatus } from "../src/protocol";
import { loop, status, task } from "./samples";

function criterion(changes: Partial<CriterionStatus> = {}): CriterionStatus {
  return { id: "0123456789", name: "tests", required: true, durationMs: 12, regressed: false, stale: false, place: { file: "PROMPT.md", start: 0, length: 5 }, ...changes };
}

test("a check that could not decide is an error, one that did not run is skipped", () => {
  const check = (of: CriterionStatus["status"], kind: string, message: string, fact?: string): void => {
    const found = testResult(criterion({ ...(of && { status: of }), ...(fact !== undefined && { fact }) }));
    assert.deepEqual([found.kind, found.message, found.durationMs], [kind, message, 12], of);
  };
  check("pass", "passed", "214 pass", "214 pass");
  check("fail", "failed", "3 of 214 fail", "3 of 214 fail");
  check("fail", "failed", "The criterion does not hold.");
  check("no-tests-ran", "failed", "0 tests ran", "0 tests ran");
  check("unstable", "failed", "files changed", "files changed");
  check("timed-out", "errored", "no result after 600 s", "no result after 600 s");
  check("could-not-run", "errored", "The check could not run.");
  check("unverified", "skipped", "");
  check(undefined, "skipped", "");
});

test("a comparison has two sides", () => {
  const found = testResult(criterion({ status: "fail", fact: "76.4, needs >= 80", expected: ">= 80", actual: "76.4" }));
  assert.deepEqual([found.expected, found.actual], [">= 80", "76.4"]);
  assert.equal(testResult(criterion({ status: "fail", expected: ">= 80" })).expected, undefined);
});

test("bytes become lines and characters", () => {
  const bytes = new TextEncoder().encode("# Größe 😀\r\n\n- é: `x`\n");
  const at = (text: string): number => Buffer.from(bytes).indexOf(text);
  assert.deepEqual(placeOf(bytes, 0), { line: 0, character: 0 });
  assert.deepEqual(placeOf(bytes, at("\r")), { line: 0, character: 10 });
  assert.deepEqual(placeOf(bytes, at("`x`")), { line: 2, character: 5 });
  assert.deepEqual(placeOf(bytes, 1000), { line: 3, character: 0 });
});

test("a run of a loop has the number of the iteration that was checked", () => {
  const entry = task({ loopId: "20261120-aaaaaa" });
  const name = (changes: Parameters<typeof loop>[0], alone = false): string => runName(entry, status({ loops: [loop(changes)] }), alone);
  assert.equal(name({ phase: "iterating", iteration: 8 }), "Parse dates #7");
  assert.equal(name({ phase: "checking", iteration: 7 }), "Parse dates #7");
  assert.equal(name({ phase: "iterating", iteration: 1 }), "Parse dates #0");
  assert.equal(name({ state: "done", phase: "ended", iteration: 9 }), "Parse dates #9");
  assert.equal(name({}, true), "Parse dates");
  assert.equal(runName(task(), status(), false), "Parse dates");
});

test("a repeated round with equal results is another round", () => {
  const key = (rounds: number): string => resultsKey(task({ rounds }));
  assert.equal(key(1), key(1));
  assert.notEqual(key(1), key(2));
});

test("a round ends with results or without", () => {
  assert.equal(roundState(1, false, task({ rounds: 1 })), "waiting");
  assert.equal(roundState(1, false, task({ rounds: 1, checking: true })), "running");
  assert.equal(roundState(1, true, task({ rounds: 2 })), "finished");
  assert.equal(roundState(1, false, task({ rounds: 2 })), "finished");
  assert.equal(roundState(1, true, task({ rounds: 1 })), "lost");
  assert.equal(roundState(1, true, undefined), "lost");
});

test("a whole task is one order", () => {
  assert.deepEqual(orders([{ task: "a", criteria: "all" }, { task: "b", criteria: ["1", "2"] }]), [{ task: "a" }, { task: "b", criterion: "1" }, { task: "b", criterion: "2" }]);
});
