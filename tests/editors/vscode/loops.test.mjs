// The Loops view: empty, with loops of every kind, expanded to the iterations and files, and its actions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage } from "./stage.mjs";

let stage;
let window;
const id = "20261120-aaaaaa";

before(async () => {
  stage = await Stage.set();
  window = stage.window;
  await window.page.locator(".activitybar .action-label[aria-label^='Ralph']").click();
});
after(() => stage?.close());

test("vscode_loops: an empty view says why, with the button that helps", async () => {
  stage.status([], []);
  await window.see("no task", () => window.welcome(), (it) => it.includes("There is no task in this folder") && it.includes("New Task") && it.includes("Import Selection"));
  stage.status();
  await window.see("no loop", () => window.welcome(), (it) => it.includes("No loop has run") && it.includes("Start Loop"));
  await window.picture("loops empty");
});

test("vscode_loops: loops are grouped, and one expands to iterations and changed files", async () => {
  const copy = stage.write("../store/a.txt", "old\n");
  const row = (iteration) => ({ iteration, startedAt: "2026-11-20T14:00:00Z", changed: iteration, passed: 1, total: 2, costMicros: 400_000 });
  const criteria = [{ id: "1", name: "tests", row: "✗✗✓" }, { id: "2", name: "docs", row: "✓✓✗" }];
  stage.answers("loopkeeper/iterations", { result: { loopId: id, criteria, iterations: [row(0), row(1), row(2)] } });
  stage.answers("loopkeeper.server.diff", { result: { status: null, patch: copy, files: [{ path: "src/a.txt", kind: "removed", before: copy }] } });
  const ended = { id: "20261119-bbbbbb", state: "done", phase: "ended", outcome: { kind: "completed", verified: true, sentence: "it holds" } };
  const asking = { id: "20261118-cccccc", state: "needsYou", phase: "needsAnswer", question: { id: "q1", kind: "agent", text: "Which?" } };
  stage.status([stage.loop(asking), stage.loop({ spent: { costMicros: 1_200_000, calls: 7, callsThisHour: 7 } }), stage.loop(ended)]);
  const rows = await window.see("three groups", () => window.loops(), (all) => ["Needs you", "Working", "Done"].every((it) => all.some((one) => one.startsWith(it))));
  assert.ok(!rows.some((it) => it.startsWith("Waiting")), String(rows));
  assert.ok(rows.some((it) => it.includes("7/30 · 3 of 5 pass · $1.20")), String(rows));
  assert.ok(!stage.received().some((it) => it.method === "loopkeeper/iterations"), "nothing is requested before a loop is expanded");
  await window.expandLoop("7/30");
  const open = await window.see("the iterations", () => window.loops(), (all) => all.some((it) => it.includes("Iteration 2")));
  assert.ok(open.some((it) => it.includes("✓ tests · ✗ docs · 2 files · $0.40")), String(open));
  await window.expandLoop("Iteration 2");
  await window.see("the file", () => window.loops(), (all) => all.some((it) => it.includes("src/a.txt")));
  await window.picture("loops expanded");
  await window.page.setViewportSize({ width: 700, height: 600 });
  await window.picture("loops narrow");
  await window.page.setViewportSize({ width: 1280, height: 800 });
});
