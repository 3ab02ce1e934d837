// Tests the mapping of criteria and their results to tests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LineIndex, isOutputOf, checkRequests, resultsKey, roundState, runName, testResult } from "../src/criteria/results";
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
  assert.deepEqual([found.expected, found.actual], ["a number >= 80", "76.4"]);
  assert.equal(testResult(criterion({ status: "fail", expected: ">= 80" })).expected, undefined);
});

test("the stored output of a check differs from the sources that it names", () => {
  const check = (path: string, expected: boolean): void => {
    assert.equal(isOutputOf("0123456789", path), expected, path);
  };
  check("/state/loops/20261120-aaaaaa/output/0007.0123456789.out", true);
  check("/state/results.outputs/0000.0123456789.out", true);
  check("/state/results.outputs/0000.9876543210.out", false);
  check("/project/src/greeting.rs", false);
  check("/project/expected.0123456789.out", false);
  check("/project/0007.0123456789.out/main.c", false);
});

test("bytes become lines and UTF-16 units", () => {
  const check = (text: string, before: string, line: number, character: number): void => {
    const bytes = Buffer.from(text);
    const at = bytes.indexOf(before);
    assert.notEqual(at, -1, before);
    assert.deepEqual(new LineIndex(bytes).positionOf(at), { line, character }, JSON.stringify([text, before]));
  };
  check("# Größe 😀\r\n\n- é: `x`\n", "#", 0, 0);
  check("# Größe 😀\r\n\n- é: `x`\n", "\r", 0, 10);
  check("# Größe 😀\r\n\n- é: `x`\n", "`x`", 2, 5);
  check("a\r\nb", "\n", 0, 1);
  check("a\rb\rc", "c", 2, 0);
  check("a\r\rb", "b", 2, 0);
  check("完成条件\n- 测试👩‍💻通过 x", "x", 1, 12);
  check("\uFEFF- a", "a", 0, 2);
  check("- a\n\uFEFFb", "b", 1, 1);
});

test("an offset outside the document is at its end", () => {
  assert.deepEqual(new LineIndex(Buffer.from("a\nbc")).positionOf(1000), { line: 1, character: 2 });
  assert.deepEqual(new LineIndex(Buffer.from("a\n")).positionOf(1000), { line: 1, character: 0 });
  assert.deepEqual(new LineIndex(Buffer.from("")).positionOf(5), { line: 0, character: 0 });
});

test("every offset of a document agrees with splitting its text", () => {
  const bytes = Buffer.from("- é\r\n\r😀\n\n测试\rend");
  const lines = new LineIndex(bytes);
  for (let offset = 0; offset <= bytes.length; offset += 1) {
    const startsCharacter = ((bytes[offset] ?? 0) & 0xc0) !== 0x80;
    const splitsLineEnd = bytes[offset] === 0x0a && bytes[offset - 1] === 0x0d;
    if (!startsCharacter || splitsLineEnd) continue;
    const split = bytes.subarray(0, offset).toString().split(/\r\n|\r|\n/);
    assert.deepEqual(lines.positionOf(offset), { line: split.length - 1, character: split.at(-1)?.length }, String(offset));
  }
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
  assert.deepEqual(checkRequests([{ task: "a", criteria: "all" }, { task: "b", criteria: ["1", "2"] }]), [{ task: "a" }, { task: "b", criterion: "1" }, { task: "b", criterion: "2" }]);
});
