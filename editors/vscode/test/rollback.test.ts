// Tests the message after a rollback, also one that an older keeper made, which does not report its changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RollbackResult } from "../src/protocol";
import { planned, rollbackMessage } from "../src/rollback";

type Restored = Omit<RollbackResult, "status">;

function said(iteration: number | undefined, result: Restored): string {
  return rollbackMessage(iteration, result).text;
}

const refused = (...paths: string[]) => paths.map((path) => ({ path, why: "too large to keep" }));

test("a rollback is reported with its changes", () => {
  const result = { written: 3, removed: 1, refused: [] };
  assert.equal(said(0, result), "Rolled back to the start: 3 files written, 1 file removed.");
  assert.equal(said(2, result), "Rolled back to iteration 2: 3 files written, 1 file removed.");
  assert.equal(said(undefined, result), "The rollback is undone: 3 files written, 1 file removed.");
  assert.equal(rollbackMessage(2, result).isComplete, true);
});

test("paths that could not be changed are named", () => {
  const one = { written: 3, removed: 1, refused: refused("big.bin") };
  assert.equal(said(2, one), "Rolled back to iteration 2: 3 files written, 1 file removed. Not changed: big.bin (too large to keep).");
  assert.equal(rollbackMessage(2, one).isComplete, false);
  const several = { written: 3, removed: 1, refused: refused("a.bin", "b.bin", "c.bin") };
  assert.match(said(2, several), / Not changed: a\.bin \(too large to keep\), and 2 more\.$/);
});

test("a rollback by an older keeper is reported without its changes", () => {
  assert.equal(said(0, {}), "Rolled back to the start.");
  assert.equal(said(2, {}), "Rolled back to iteration 2.");
  assert.equal(said(undefined, {}), "The rollback is undone.");
  assert.equal(rollbackMessage(2, {}).isComplete, true);
  assert.equal(said(2, { written: 3, removed: 1 }), "Rolled back to iteration 2: 3 files written, 1 file removed.");
});

test("the preview names what would be overwritten", () => {
  const kept = "The current files are kept, and Undo restores them.";
  assert.equal(planned({ written: 1, removed: 0 }), `1 file written, 0 files removed. ${kept}`);
  assert.equal(planned({}), kept);
  const edited = ["a", "b", "c", "d", "e"];
  assert.equal(planned({ written: 5, removed: 0, edited }), `5 files written, 0 files removed. Changed since the last snapshot: a, b, c and 2 more. ${kept}`);
});
