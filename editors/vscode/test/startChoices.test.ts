// What is remembered of a start, and what its inputs accept.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { StartChoices, dollars, durationText, startArguments, wholeNumber } from "../src/startChoices";

function memory(): Memento {
  const stored = new Map<string, unknown>();
  return {
    keys: () => [...stored.keys()],
    get: <T>(key: string, otherwise?: T) => (stored.has(key) ? stored.get(key) : otherwise) as T,
    update: (key: string, value: unknown) => {
      stored.set(key, value);
      return Promise.resolve();
    },
  };
}

test("the last start of each task is remembered", async () => {
  const choices = new StartChoices(memory());
  assert.deepEqual([choices.last, choices.of("a")], [undefined, {}]);
  await choices.keep("a", { agent: "claude", iterations: 5 });
  await choices.keep("b", {});
  assert.deepEqual([choices.last, choices.of("a"), choices.of("b")], ["b", { agent: "claude", iterations: 5 }, {}]);
  for (let count = 0; count < 40; count += 1) await choices.keep(`t${count}`, { iterations: count + 1 });
  assert.deepEqual([choices.of("a"), choices.of("t39")], [{}, { iterations: 40 }]);
});

test("only what was picked overrides the configuration", () => {
  assert.deepEqual(startArguments("a", {}), { task: "a" });
  assert.deepEqual(startArguments("a", { agent: "x" }), { task: "a", agent: "x" });
  assert.deepEqual(startArguments("a", { iterations: 3, costUsd: 2.5, duration: "45m" }), { task: "a", limits: { iterations: 3, costUsd: 2.5, duration: "45m" } });
});

test("inputs", () => {
  const check = (read: (text: string) => number | undefined, rows: [string, number | undefined][]): void => {
    for (const [text, expect] of rows) assert.equal(read(text), expect, text);
  };
  check(wholeNumber, [["3", 3], [" 25 ", 25], ["0", undefined], ["-1", undefined], ["1.5", undefined], ["", undefined], ["many", undefined]]);
  check(dollars, [["2.50", 2.5], ["$3", 3], ["0", undefined], ["", undefined], [" ", undefined], ["1e999", undefined], ["much", undefined]]);
});

test("a duration is written without a fraction", () => {
  assert.deepEqual([28_800_000, 2_700_000, 5_400_000, 30_000, 90_000].map(durationText), ["8h", "45m", "90m", "30s", "90s"]);
});
