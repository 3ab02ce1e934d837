// When a server that crashes is not restarted any more.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CrashCounter } from "../src/crashes";

test("five crashes within three minutes are the last", () => {
  const counter = new CrashCounter();
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => counter.add(at * 1000)), [true, true, true, true, false]);
  assert.equal(counter.add(200_000), true, "the earlier ones are long ago");
  counter.reset();
  assert.equal(counter.add(200_001), true);
});
