// Tests how an iteration is described in a pick list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { iterationRow } from "../src/iterations";
import type { IterationEntry } from "../src/protocol";

const startedAt = "2026-11-20T14:00:00Z";
const at = new Date(startedAt).toLocaleString();

function check(changes: Partial<IterationEntry>, label: string, description: string, detail = at): void {
  const it = { iteration: 2, startedAt, passed: 0, total: 0, ...changes };
  assert.deepEqual(iterationRow(it), { label, description, detail, value: it.iteration });
}

test("what is known is said, and nothing else", () => {
  check({}, "Iteration 2", "");
  check({ iteration: 0, passed: 1, total: 3, summary: "1 of 3 criteria pass", changed: 0 }, "Start", "1 of 3 criteria pass");
  check({ changed: 0 }, "Iteration 2", "no file changed");
  check({ changed: 1, passed: 2, total: 3, summary: "2 of 3 criteria pass" }, "Iteration 2", "2 of 3 criteria pass, 1 file changed");
  const optional = "all 5 required pass, 1 optional not checked";
  check({ passed: 5, total: 6, summary: optional }, "Iteration 2", optional);
  check({ passed: 0, total: 6, summary: "6 criteria, not checked yet" }, "Iteration 2", "6 criteria, not checked yet");
  check({ changed: 4, added: 12, removed: 0 }, "Iteration 2", "4 files changed (+12 −0)");
  check({ changed: 4, added: 12 }, "Iteration 2", "4 files changed");
  check({ takenBack: true }, "Iteration 2 (rolled back)", "");
});

test("under it stands what was reached, as text", () => {
  const milestones = ["Tests pass holds", "Add $(bell)\n a cart is done"];
  check({ milestones, commit: "0123456789abcdef" }, "Iteration 2", "", `Tests pass holds · Add \\$(bell) a cart is done · commit 0123456789 · ${at}`);
  assert.equal(iterationRow({ iteration: 1, startedAt: "soon", passed: 0, total: 0 }).detail, undefined);
});
