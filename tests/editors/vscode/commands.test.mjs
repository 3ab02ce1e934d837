// The palette, with a fake server: the request of each command, the questions to the user before it, and the
// display of the response. The other files test the same with the real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeServerWindow } from "./fakeServerWindow.mjs";

let fake;
let window;
const done = { result: { status: null } };

before(async () => {
  fake = await FakeServerWindow.open({ files: { "PROMPT.md": "# Parse dates\n", "src/a.txt": "new\n" } });
  window = fake.window;
  for (const it of ["start", "stop", "pause", "resume", "check", "resetBreaker", "steer", "trust"]) fake.setAnswer(`loopkeeper.server.${it}`, done);
});
after(() => fake?.close());

test("vscode_commands: Start Loop saves the task first", async () => {
  fake.status();
  await window.sees("Ralph");
  await window.write("Dates as ISO has them. ");
  await window.startLoop();
  const sent = await fake.waitForCommand("loopkeeper.server.start", Boolean);
  assert.equal(sent.task, fake.uri("PROMPT.md"));
  assert.match(fake.read("PROMPT.md"), /as ISO has them/);
  // The client may report the save after the command.
  await window.see("the save", () => fake.received().some((it) => it.method === "textDocument/didSave"), Boolean);
});

test("vscode_commands: a start shows what it leads to, and takes the agent and the limits", async () => {
  const preview = { agent: "mine", agents: ["mine", "claude"], iterations: 30, durationMs: 28_800_000, costMicros: 25_000_000, upperBound: "At most 30 iterations, 8 h and $25.00", history: "3 loops on this task took 4 iterations, 12 min and $1.20 (medians)", grade: "comprehensive: 3 of 3 criteria have a check that can fail" };
  fake.setAnswer("loopkeeper/startPreview", { result: preview });
  fake.status();
  await window.sees("Ralph");
  await window.palette("Ralph: Start Loop");
  const rows = await window.see("the start", () => window.rows(), (all) => /^\s*Start/.test(all[0]));
  for (const [at, it] of ["Start", "Task", "Agent", "Iterations", "Cost", "Duration"].entries()) assert.ok(rows[at]?.trim().startsWith(it), String(rows));
  const text = await window.page.locator(".quick-input-widget").innerText();
  for (const it of [preview.upperBound, preview.history, preview.grade]) assert.ok(text.includes(it), text);
  await window.picture("start");
  await window.pick("Agent");
  await window.pick("claude");
  await window.see("the start", () => window.rows(), (all) => /^\s*Start/.test(all[0]));
  // The row itself: the first row, which starts, names iterations too.
  await window.pick("Iterations30");
  await window.see("the input", () => window.page.locator(".quick-input-title", { hasText: "At most how many iterations?" }).isVisible());
  await window.answer("5");
  await window.see("the start", () => window.rows(), (all) => /^\s*Start/.test(all[0]));
  await window.page.keyboard.press("Enter");
  await fake.waitForCommand("loopkeeper.server.start", (it) => it.agent === "claude" && it.limits.iterations === 5);
  // A second Enter starts what was picked last.
  const before = fake.commands("loopkeeper.server.start").length;
  await window.startLoop();
  await window.see("the next start", () => fake.commands("loopkeeper.server.start").length, (it) => it === before + 1);
  assert.deepEqual(fake.commands("loopkeeper.server.start").at(-1), { task: fake.uri("PROMPT.md"), agent: "claude", limits: { iterations: 5 } });
  await window.palette("Ralph: Start Loop");
  await window.pick("Use the Values of the Configuration");
  await window.see("the start", () => window.rows(), (all) => /^\s*Start/.test(all[0]));
  await window.page.keyboard.press("Enter");
  await window.see("a start without them", () => fake.commands("loopkeeper.server.start").at(-1), (it) => it.agent === undefined);
});

test("vscode_commands: of several tasks the user picks one", async () => {
  const other = fake.task({ id: "docs/RALPH.md", uri: fake.uri("docs/RALPH.md"), title: "Write $(bell) docs" });
  fake.status([], [fake.task({ uri: fake.uri("a/PROMPT.md"), id: "a/PROMPT.md" }), other]);
  await fake.waitUntilHandled();
  await window.palette("Ralph: Run Checks");
  await window.pick("Write $(bell) docs");
  await fake.waitForCommand("loopkeeper.server.check", (it) => it.task === fake.uri("docs/RALPH.md"));
});

test("vscode_commands: the palette offers what can be done now", async () => {
  fake.status();
  await window.sees("Ralph");
  // The palette renders only the first rows of a long list, so each command is asked for by its name.
  const named = (title) => () => window.offered(`Ralph: ${title}`);
  const offers = (title) => window.see(`the command ${title}`, named(title), (rows) => rows.some((it) => it.includes(title)));
  const lacks = (title) => window.see(`no command ${title}`, named(title), (rows) => !rows.some((it) => it.includes(title)));
  await offers("Start Loop");
  await lacks("Stop Loop");
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  for (const it of ["Stop Loop", "Stop Loop Now", "Pause After This Iteration", "Steer…", "Show Output"]) await offers(it);
  for (const it of ["Resume", "Reset Breaker"]) await lacks(it);
});

test("vscode_commands: stop, stop now, pause, steer, resume, reset", async () => {
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  await window.palette("Ralph: Stop Loop");
  await fake.waitForCommand("loopkeeper.server.stop", (it) => it.loopId === "20261120-aaaaaa" && !it.now);
  await window.palette("Ralph: Stop Loop Now");
  await window.press("Stop Now");
  await fake.waitForCommand("loopkeeper.server.stop", (it) => it.now === true);
  await window.palette("Ralph: Pause After This Iteration");
  await fake.waitForCommand("loopkeeper.server.pause", Boolean);
  await window.palette("Ralph: Steer");
  await window.answer("Leave the parser alone");
  await fake.waitForCommand("loopkeeper.server.steer", (it) => it.text === "Leave the parser alone");
  fake.status([fake.loop({ state: "needsYou", phase: "paused", breaker: { state: "open", reason: "nothing changed", counts: { noProgress: 3 }, trips: 1 } })]);
  await window.sees("Ralph breaker open");
  await window.palette("Ralph: Reset Breaker");
  await fake.waitForCommand("loopkeeper.server.resetBreaker", Boolean);
  await window.palette("Ralph: Resume");
  await fake.waitForCommand("loopkeeper.server.resume", Boolean);
});

test("vscode_commands: an error is shown as the server words it, an open question is not doubled", async () => {
  fake.status();
  await window.sees("Ralph");
  fake.setAnswer("loopkeeper.server.start", { error: { code: -32803, message: "not trusted", data: { code: "untrusted", asked: true, count: 2 } } });
  const before = fake.commands("loopkeeper.server.start").length;
  await window.startLoop();
  await window.see("the start", () => fake.commands("loopkeeper.server.start").length, (it) => it === before + 1);
  fake.setAnswer("loopkeeper.server.start", { error: { code: -32803, message: "Another loop works in this tree. Hint: [stop](command:x) it.", data: { code: "treeBusy", holder: "x" } } });
  await window.startLoop();
  const it = await window.notification("Another loop works in this tree");
  assert.deepEqual(it.links, []);
  assert.deepEqual((await window.notifications()).map((note) => note.text), [it.text]);
  await window.dismiss();
});

test("vscode_commands: the trust page is read-only and verbatim, and keeps its answers until it is closed", async () => {
  const text = "Commands of Parse dates\n\n  sh -c 'make test'\n  ./agent.sh\n  <b>[x](command:y)</b>\n";
  const page = fake.write("../store/commands.txt", text);
  const asks = (id) => fake.send("window/showMessageRequest", { type: 2, message: "\"Parse dates\" runs 2 commands.", actions: [{ title: "Trust", page }, { title: "Not now" }] }, id);
  const answer = (id) => window.see(`the answer to ${id}`, () => fake.received().find((it) => it.id === id && it.method === undefined), (it) => it !== undefined);
  fake.status([], [fake.task({ unknownCommands: 2 })]);
  await fake.waitUntilHandled();
  await window.palette("Ralph: Trust This Task's Commands");
  await fake.waitForCommand("loopkeeper.server.trust", (it) => it.hash === undefined && it.task === fake.uri("PROMPT.md"));
  asks(931);
  await window.see("the page", () => window.text(), (it) => /<b>\[x\]\(command:y\)<\/b>/.test(it));
  await window.sees("Ralph needs you");
  await window.focus();
  await window.page.keyboard.type("x");
  assert.equal((await window.text()).trim(), text.trim());
  // Dismisses the message that the page cannot be edited.
  await window.page.keyboard.press("Escape");
  await window.picture("trust page");
  await window.clickLens("Trust");
  assert.equal((await answer(931)).result.title, "Trust");
  await window.see("the page is closed", () => window.tabs(), (all) => !all.some((it) => it.includes("Commands to trust")));
  // Closed without an answer, which means no.
  asks(932);
  await window.see("the page", () => window.tabs(), (all) => all.some((it) => it.includes("Commands to trust")));
  await window.sees("Ralph needs you");
  await window.palette("View: Close Editor");
  assert.equal((await answer(932)).result, null);
  await window.sees("Ralph");
});

test("vscode_commands: the changes of an iteration in the diff editor", async () => {
  const before = fake.write("../store/a.txt", "old\n");
  const row = (iteration, passed) => ({ iteration, startedAt: "2026-11-20T14:00:00Z", changed: iteration, passed, total: 5, summary: `${passed} of 5 criteria pass` });
  fake.setAnswer("loopkeeper/iterations", { result: { loopId: "20261120-aaaaaa", criteria: [], iterations: [row(0, 1), row(1, 2), row(2, 3)] } });
  const files = [{ path: "src/a.txt", kind: "changed", before, after: fake.uri("src/a.txt") }, { path: "b.txt", kind: "added", after: fake.uri("src/a.txt") }];
  fake.setAnswer("loopkeeper.server.diff", { result: { status: null, patch: before, files } });
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  await window.palette("Ralph: Show Changes of Iteration");
  await window.pick("Iteration 2");
  await fake.waitForCommand("loopkeeper.server.diff", (it) => it.iteration === 2);
  await window.see("the tab of the changes", () => window.tabs(), (all) => all.some((it) => it.includes("changes of iteration 2")));
  await window.see("both sides", () => window.page.evaluate(() => document.querySelector(".multiDiffEntry, .multi-diff-root-floating-menu, .monaco-diff-editor")?.closest(".editor-container, .editor-group-container")?.textContent ?? ""), (it) => it.includes("old") && it.includes("new"));
  await window.picture("changes");
  fake.setAnswer("loopkeeper.server.diff", { result: { status: null, patch: before, files: files.slice(0, 1) } });
  await window.palette("Ralph: Show Changes of Iteration");
  await window.pick("Iteration 1");
  await window.see("the tab of one file", () => window.tabs(), (all) => all.some((it) => it.includes("a.txt (iteration 1)")));
});

test("vscode_commands: the way back asks once and says what it did", async () => {
  const refused = [{ path: "big.bin", why: "too large to keep" }];
  fake.setAnswer("loopkeeper.server.rollback", { result: { status: null, written: 3, removed: 1, refused } });
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  await window.palette("Ralph: Roll Back to Iteration");
  await window.pick("Start");
  await window.pick("Roll Back to the Start");
  await fake.waitForCommand("loopkeeper.server.rollback", (it) => it.iteration === 0 && !it.preview);
  await window.notification("Rolled back to the start: 3 files written, 1 file removed. Not changed: big.bin (too large to keep).");
});

test("vscode_commands: a rollback is undone, after a question only where files were edited", async () => {
  const preview = (edited) => ({ result: { status: null, written: 3, removed: 1, refused: [], edited } });
  fake.setAnswer("loopkeeper.server.undoRollback", preview([]));
  fake.status([fake.loop({ state: "done", phase: "ended", stale: true, staleReason: "rolledBack", outcome: { kind: "completed", verified: true, sentence: "Completed" } })]);
  await window.sees("Ralph rolled back · 7");
  await window.palette("Ralph: Undo Rollback");
  await fake.waitForCommand("loopkeeper.server.undoRollback", (it) => !it.preview);
  await window.notification("The rollback is undone: 3 files written, 1 file removed.");
  fake.setAnswer("loopkeeper.server.undoRollback", preview(["src/a.rs"]));
  await window.press("Roll Back Again");
  await window.press("Undo the Rollback");
});

test("vscode_commands: a command to a busy loop says when it takes effect", async () => {
  const effect = "The loop pauses after this iteration (7).";
  fake.setAnswer("loopkeeper.server.pause", { result: { status: null, effect } });
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  await window.palette("Ralph: Pause After This Iteration");
  await window.notification(effect);
});

test("vscode_commands: the output of a loop is a terminal with what came before, colours and links", async () => {
  fake.setAnswer("loopkeeper/subscribe", { result: { subscribed: true } });
  const cursor = { seq: 9, iteration: 7, offset: 40 };
  const text = "\n── Iteration 7 ──\n\u001b[31mred words\u001b[0m\n  src/a.txt:1: wrong, src/none.txt:1: gone\n» You: try the parser (sent, read at iteration 7)\n";
  fake.setAnswer("loopkeeper/transcript", { result: { loopId: "20261120-aaaaaa", text, cursor, ended: false } });
  fake.status([fake.loop()]);
  await window.sees("Ralph 7/30 · 3/5 pass");
  await window.palette("Ralph: Show Output");
  await window.see("the subscription", () => fake.received().find((it) => it.method === "loopkeeper/subscribe")?.params, (it) => it?.on === true);
  const shown = await window.see("the text", () => window.panel(), (it) => it.includes("try the parser"));
  for (const it of ["Iteration 7", "red words", "src/a.txt:1"]) assert.ok(shown.includes(it), shown);
  const red = () => window.page.evaluate(() => [...document.querySelectorAll(".part.panel .xterm-rows span")].filter((it) => it.textContent.includes("red words")).map((it) => `${it.className} ${it.getAttribute("style") ?? ""}`));
  await window.see("colours", red, (all) => all.some((it) => /xterm-fg-1|color/.test(it)));
  await window.picture("output");
  fake.setAnswer("loopkeeper/transcript", { result: { loopId: "20261120-aaaaaa", text: "running tests\n", cursor: { ...cursor, offset: 54 }, ended: true } });
  fake.send("loopkeeper/output", { loopId: "another", iteration: 1, text: "not this\n" });
  fake.send("loopkeeper/output", { loopId: "20261120-aaaaaa", iteration: 7, text: "running tests\n" });
  await window.see("the new text", () => window.panel(), (it) => it.includes("running tests"));
  const asked = fake.received().filter((it) => it.method === "loopkeeper/transcript").map((it) => it.params.after);
  assert.deepEqual([asked[0], asked.at(-1)], [undefined, cursor], "it continues where it ended");
  assert.doesNotMatch(await window.panel(), /not this/);
  // A place that exists is a link.
  const place = window.page.locator(".part.panel .xterm-rows > div", { hasText: "src/a.txt:1" }).first();
  await window.see("the file", async () => {
    const box = await place.boundingBox();
    await window.page.mouse.move(box.x + 40, box.y + box.height / 2);
    await window.page.keyboard.down("Control");
    await window.page.mouse.click(box.x + 40, box.y + box.height / 2);
    await window.page.keyboard.up("Control");
    return window.tabs();
  }, (all) => all.some((it) => it.includes("a.txt") && !it.includes("iteration")));
});
