// Tests the rows of the Loops view.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, currentIteration, groupOf, groups, iterationRows, loopRow, needing, pageSize } from "../src/loops/model";
import type { IterationsResult, LoopStatus } from "../src/protocol";
import { counts, ended, loop, status } from "./samples";

const open = { state: "open" as const, reason: "nothing changed", counts, trips: 1 };

test("loops are grouped by who must act, and empty groups are left out", () => {
  const check = (it: LoopStatus, group: string): void => {
    assert.equal(groupOf(it), group);
  };
  check(loop(), "working");
  check(loop({ phase: "waiting" }), "waiting");
  check(loop({ state: "paused", phase: "paused" }), "waiting");
  check(loop({ state: "needsYou", phase: "needsAnswer" }), "needsYou");
  check(loop({ phase: "waiting", breaker: open }), "needsYou");
  check(ended("completed", true), "done");
  const all = status({ loops: [loop(), loop({ id: "b", state: "needsYou", phase: "interrupted" }), ended("limit", false)] });
  assert.deepEqual(groups(all).map((it) => [it.title, it.loops.length]), [["Needs you", 1], ["Working", 1], ["Done", 1]]);
  assert.deepEqual([groups(undefined), groups(status())], [[], []]);
  assert.deepEqual([needing(all), needing(undefined)], [1, 0]);
});

test("a loop shows its state, its criteria and its cost, and no icon is the only sign", () => {
  const check = (it: LoopStatus, description: string, icon: string, context: string): void => {
    const row = loopRow(it);
    assert.deepEqual([row.label, row.description, row.icon, row.context], ["Parse dates", description, icon, context]);
    const [state = ""] = description.split(" · ");
    const spoken = /^\d/.test(state) ? `iteration ${state}` : state;
    assert.ok(row.spoken.startsWith(`Parse dates, ${spoken}, 3 of 5 criteria pass`), row.spoken);
  };
  check(loop({ spent: { costMicros: 1_200_000, calls: 7, callsThisHour: 7 } }), "7/30 · 3 of 5 pass · $1.20", "sync", "loopkeeper.loop.active");
  check(loop({ state: "paused", phase: "paused" }), "paused · 3 of 5 pass", "debug-pause", "loopkeeper.loop.active");
  check(loop({ phase: "waiting" }), "waiting · 3 of 5 pass", "clock", "loopkeeper.loop.active");
  const question = { id: "q", kind: "agent" as const, text: "Which?" };
  check(loop({ state: "needsYou", phase: "needsAnswer", question }), "needs you · 3 of 5 pass", "bell-dot", "loopkeeper.loop.active.asks");
  check(loop({ state: "needsYou", phase: "paused", breaker: open }), "breaker open · 3 of 5 pass", "error", "loopkeeper.loop.active");
  check(ended("completed", true), "completed · 3 of 5 pass", "pass", "loopkeeper.loop.ended");
  check(ended("completed", false), "claimed · 3 of 5 pass", "unverified", "loopkeeper.loop.ended");
  check(ended("stopped", false), "stopped · 3 of 5 pass", "debug-stop", "loopkeeper.loop.ended");
  check(ended("failed", false), "failed · 3 of 5 pass", "error", "loopkeeper.loop.ended");
});

test("a long title leaves room for the state, and is read out as a whole", () => {
  const long = "parse rejects invalid dates such as 2026-13-40 with an error";
  const row = loopRow(loop({ task: { uri: "file:///w/PROMPT.md", title: long } }));
  assert.equal(row.label, "parse rejects invalid dat…");
  assert.ok(row.spoken.startsWith(`${long}, iteration 7/30`), row.spoken);
});

function history(count: number, criteria: IterationsResult["criteria"] = []): IterationsResult {
  const iterations = Array.from({ length: count + 1 }, (_, iteration) => ({ iteration, startedAt: "2026-11-20T14:00:00Z", passed: 0, total: 0, changed: iteration }));
  return { loopId: "a", criteria, iterations };
}

test("an iteration shows what turned, what broke, its files and its cost", () => {
  const all = history(3, [{ id: "1", name: "tests", row: "✗✓✓✗" }, { id: "2", name: "docs", row: "·✗✓✓" }]);
  assert.deepEqual(changesOf(all, 1), { turned: ["tests"], broke: [] });
  assert.deepEqual(changesOf(all, 3), { turned: [], broke: ["tests"] });
  assert.deepEqual([changesOf(all, 0), changesOf(all, 9)], [{ turned: [], broke: [] }, { turned: [], broke: [] }]);
  const { rows, more } = iterationRows(all, pageSize);
  assert.equal(more, 0);
  assert.deepEqual(rows.map(({ row }) => [row.label, row.description, row.icon]), [
    ["Iteration 3", "✗ tests · 3 files", "error"],
    ["Iteration 2", "✓ docs · 2 files", "pass"],
    ["Iteration 1", "✓ tests · 1 file", "pass"],
  ]);
  assert.deepEqual(rows.map(({ row }) => row.spoken)[0], "Iteration 3, now failing: tests, 3 files changed");
});

test("an iteration that has not ended cannot be expanded or rolled back to", () => {
  const all = history(2);
  const [start, first, second] = all.iterations;
  assert.ok(start && first && second);
  delete second.changed;
  const rows = (current?: number): unknown => iterationRows(all, pageSize, current).rows.map(({ row }) => [row.description, row.icon, row.context, row.leaf]);
  const ended = ["1 file", "circle-outline", "loopkeeper.iteration", undefined];
  assert.deepEqual(rows(2), [["at work", "sync", "", true], ended]);
  assert.deepEqual(rows(), [["not finished", "circle-outline", "", true], ended]);
  assert.deepEqual([currentIteration(loop()), currentIteration(loop({ state: "paused", phase: "paused" })), currentIteration(undefined)], [7, undefined, undefined]);
});

test("at most a page of iterations, newest first", () => {
  const { rows, more } = iterationRows(history(120), pageSize);
  assert.deepEqual([rows.length, rows[0]?.iteration, more], [50, 120, 70]);
  assert.equal(iterationRows(history(120), 2 * pageSize).more, 20);
  assert.deepEqual(iterationRows(history(0), pageSize), { rows: [], more: 0 });
});
