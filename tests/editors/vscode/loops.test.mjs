// The Loops view: empty, with loops of every kind, expanded to the iterations and files, and its actions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeServerWindow } from "./fakeServerWindow.mjs";

let fake;
let window;
const id = "20261120-aaaaaa";

before(async () => {
  fake = await FakeServerWindow.open();
  window = fake.window;
  await window.page.locator(".activitybar .action-label[aria-label^='Ralph']").click();
});
after(() => fake?.close());

test("vscode_loops: an empty view says why, with the button that helps", async () => {
  fake.status([], []);
  await window.see("no task", () => window.welcome(), (it) => it.includes("There is no task in this folder") && it.includes("New Task") && it.includes("Import Selection"));
  fake.status();
  await window.see("no loop", () => window.welcome(), (it) => it.includes("No loop has run") && it.includes("Start Loop"));
  await window.picture("loops empty");
});

test("vscode_loops: loops are grouped, and one expands to iterations and changed files", async () => {
  const copy = fake.write("../store/a.txt", "old\n");
  const row = (iteration) => ({ iteration, startedAt: "2026-11-20T14:00:00Z", changed: iteration, passed: 1, total: 2, costMicros: 400_000 });
  const criteria = [{ id: "1", name: "tests", row: "✗✗✓" }, { id: "2", name: "docs", row: "✓✓✗" }];
  fake.setAnswer("loopkeeper/iterations", { result: { loopId: id, criteria, iterations: [row(0), row(1), row(2)] } });
  fake.setAnswer("loopkeeper.server.diff", { result: { status: null, patch: copy, files: [{ path: "src/a.txt", kind: "removed", before: copy }] } });
  const ended = { id: "20261119-bbbbbb", state: "done", phase: "ended", outcome: { kind: "completed", verified: true, sentence: "it holds" } };
  const asking = { id: "20261118-cccccc", state: "needsYou", phase: "needsAnswer", question: { id: "q1", kind: "agent", text: "Which?" } };
  fake.status([fake.loop(asking), fake.loop({ spent: { costMicros: 1_200_000, calls: 7, callsThisHour: 7 } }), fake.loop(ended)]);
  const rows = await window.see("three groups", () => window.loops(), (all) => ["Needs you", "Working", "Done"].every((it) => all.some((one) => one.startsWith(it))));
  assert.ok(!rows.some((it) => it.startsWith("Waiting")), String(rows));
  assert.ok(rows.some((it) => it.includes("7/30 · 3 of 5 pass · $1.20")), String(rows));
  assert.ok(!fake.received().some((it) => it.method === "loopkeeper/iterations"), "nothing is requested before a loop is expanded");
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

test("vscode_loops: a screen reader speaks each row in words, and the keyboard opens and closes it", async () => {
  const rows = await window.see("the rows", () => window.spokenLoops(), (all) => all.some((it) => it.includes("src/a.txt")));
  assert.deepEqual(rows, [
    "Needs you 1 (level 1, expanded)",
    "Parse dates, needs you, 3 of 5 criteria pass, Which? (level 2, collapsed)",
    "Working 1 (level 1, expanded)",
    "Parse dates, iteration 7/30, 3 of 5 criteria pass, working (level 2, expanded)",
    "Iteration 2, now passing: tests, now failing: docs, 2 files changed (level 3, expanded)",
    "src/a.txt, removed (level 4)",
    "Iteration 1, 1 file changed (level 3, collapsed)",
    "Done 1 (level 1, expanded)",
    "Parse dates, completed, 3 of 5 criteria pass, it holds (level 2, collapsed)",
  ]);
  const press = async (keys, what, fits) => {
    for (const it of keys) await window.page.keyboard.press(it);
    await window.see(what, () => window.spokenLoops(), fits);
  };
  const has = (text) => (all) => all.includes(text);
  await press(["Home", "ArrowLeft"], "the first group closed", has("Needs you 1 (level 1, collapsed)"));
  await press(["ArrowRight"], "the first group open", has(rows[0]));
  await press(["End", "ArrowUp", "ArrowLeft"], "the last group closed", has("Done 1 (level 1, collapsed)"));
  await press(["ArrowRight"], "the last group open", has(rows[7]));
  await press(["ArrowUp", "ArrowUp", "Enter"], "the rows as before", has(rows[5]));
  await window.see("the difference of the file", () => window.tabs(), (all) => all.some((it) => it.includes("a.txt (iteration 2)")));
});
