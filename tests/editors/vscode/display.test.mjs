// The window's display of server messages that only a fake server can send.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeServerWindow } from "./fakeServerWindow.mjs";

const two = "# Two\n- One\n- Other\n";
let fake;
let window;

before(async () => {
  fake = await FakeServerWindow.open({ files: { "PROMPT.md": "# Parse dates\n", "two.ralph.md": two } });
  window = fake.window;
});
after(() => fake?.close());

test("vscode_display: the status bar in every state", async () => {
  // Counted down by the window itself, from the time of the message.
  const soon = () => new Date(Date.now() + (14 * 60 + 45) * 1000).toISOString();
  const loop = (changes) => fake.loop(changes);
  const outcome = (kind, verified) => ({ state: "done", phase: "ended", iteration: 11, outcome: { kind, verified, sentence: "it ended" } });
  const open = { breaker: { state: "open", reason: "nothing changed", counts: { noProgress: 3 }, trips: 1 } };
  const states = [
    [[], "Ralph", "circle-outline", "normal"],
    [[loop()], "Ralph 7/30 · 3/5 pass", "sync", "normal"],
    [[loop({ phase: "waiting", wait: { reason: "quota" } })], /^Ralph 7\/30 · 14:\d\d$/, "clock", "normal"],
    [[loop({ state: "paused", phase: "paused" })], "Ralph 7/30", "debug-pause", "normal"],
    [[loop({ state: "needsYou", phase: "needsAnswer" })], "Ralph needs you", "bell-dot", "warning"],
    [[loop({ state: "needsYou", phase: "paused", ...open })], "Ralph breaker open", "error", "error"],
    [[loop(), loop({ id: "b", state: "needsYou", phase: "untrusted" })], "Ralph 2 · 1 needs you", "sync", "warning"],
    [[loop(outcome("completed", true))], "Ralph done · 11", "pass", "normal"],
    [[loop(outcome("completed", false))], "Ralph claims done · 11", "unverified", "normal"],
    [[loop(outcome("limit", false))], "Ralph stopped at 11/30", "error", "error"],
  ];
  for (const [loops, text, icon, tone] of states) {
    // The end of a loop is announced if the loop was seen running.
    fake.status(loops.map((it) => ({ ...it, state: "working", phase: "iterating", wait: undefined, outcome: undefined })));
    fake.status(loops.map((it) => (it.wait ? { ...it, wait: { ...it.wait, resumesAt: soon() } } : it)));
    const it = await window.sees(text);
    assert.deepEqual([it.icon.split("~")[0], it.tone], [icon, tone], text);
    assert.match(it.label, /^Ralph/);
  }
});

test("vscode_display: an alert is one notification, its links are text, its button sends the command", async () => {
  const action = { title: "Stop", command: "loopkeeper.server.stop", arguments: [{ loopId: "20261120-aaaaaa" }] };
  const message = "Needs you: [quit](command:workbench.action.quit) <b>now</b>";
  fake.send("loopkeeper/alert", { loopId: "20261120-aaaaaa", kind: "needsYou", severity: "warning", message, actions: [action] });
  const it = await window.notification("Needs you");
  assert.deepEqual(it.links, []);
  assert.match(it.text, /<b>now<\/b>/);
  assert.equal((await window.notifications()).length, 1);
  await window.press("Stop");
  await fake.waitForCommand("loopkeeper.server.stop", (it) => it.loopId === "20261120-aaaaaa");
});

test("vscode_display: the end of a loop is one notification, and the question after it is asked once", async () => {
  const loopId = "20261120-aaaaaa";
  const server = (title, name, more) => ({ title, command: `loopkeeper.server.${name}`, arguments: [{ loopId, ...more }] });
  const actions = [server("Review all changes", "diff"), server("Undo", "rollback", { iteration: 0 }), server("Continue with 10 more", "resume", { more: 10 })];
  const question = { message: "Was this the right moment to stop?", actions: [server("Yes", "feedback", { verdict: "right" }), server("Too early", "feedback", { verdict: "tooEarly" })] };
  const end = (message) => {
    fake.send("loopkeeper/alert", { loopId, kind: "ended", severity: "warning", message, actions, followUp: question });
  };
  end("Parse dates: Limit reached: 30 iterations");
  const it = await window.notification("Limit reached");
  assert.deepEqual(it.buttons, actions.map((action) => action.title));
  assert.equal((await window.notifications()).length, 1, "the question waits for a reaction");
  await window.picture("ending");
  await window.press("Continue with 10 more");
  await fake.waitForCommand("loopkeeper.server.resume", (it) => it.more === 10);
  const asked = await window.notification("right moment");
  assert.deepEqual(asked.buttons, ["Yes", "Too early"]);
  await window.press("Too early");
  await fake.waitForCommand("loopkeeper.server.feedback", (it) => it.loopId === loopId && it.verdict === "tooEarly");
  // Undo asks before it overwrites what the user changed.
  fake.setAnswer("loopkeeper.server.rollback", { result: { written: 2, removed: 1, refused: [], edited: ["src/mine.rs"] } });
  end("Parse dates: Limit reached again");
  await window.notification("Limit reached again");
  await window.press("Undo");
  await fake.waitForCommand("loopkeeper.server.rollback", (it) => it.preview === true);
  await window.see("the question", () => window.page.locator(".monaco-dialog-box").allInnerTexts(), (all) => all.some((it) => it.includes("src/mine.rs")));
  await window.press("Cancel");
  await window.notification("right moment");
  assert.ok(fake.commands("loopkeeper.server.rollback").every((it) => it.preview === true));
  await window.dismiss();
});

test("vscode_display: a button never reaches beyond our own commands", async () => {
  const action = { title: "Zen", command: "workbench.action.toggleZenMode", arguments: [] };
  fake.send("loopkeeper/alert", { loopId: "x", kind: "ended", severity: "info", message: "Ended: look here", actions: [action] });
  await window.notification("Ended: look here");
  await window.press("Zen");
  await window.see("the notification goes", () => window.notifications(), (all) => all.length === 0);
  assert.equal(await window.page.locator(".part.statusbar").isVisible(), true);
});

test("vscode_display: a question of the server keeps its links as text and sends the answer", async () => {
  fake.status();
  await window.sees("Ralph");
  const actions = [{ title: "Show commands" }, { title: "Later" }];
  fake.send("window/showMessageRequest", { type: 2, message: "Trust [these](command:workbench.action.quit)?", actions }, 901);
  const it = await window.notification("Trust");
  assert.deepEqual([it.links, it.buttons], [[], ["Show commands", "Later"]]);
  // The editor hides the question under its bell automatically: the status bar leads back to it.
  const waiting = await window.sees("Ralph needs you");
  assert.deepEqual([waiting.icon, waiting.tone], ["bell-dot", "warning"]);
  assert.match(waiting.label, /Trust/);
  await window.palette("Ralph: Show Status");
  await window.pick("Show the Question");
  await window.press("Later");
  await window.sees("Ralph");
  await window.see("the answer", () => fake.received(), (all) => all.some((m) => m.id === 901 && m.result?.title === "Later"));
});

test("vscode_display: the status bar leads to the question, with its answers first", async () => {
  const question = { id: "q1", kind: "agent", text: "Which greeting do you prefer: formal or informal?" };
  const of = { loopId: "20261120-aaaaaa" };
  const actions = [{ title: "Answer…", command: "loopkeeper.server.answer", arguments: [of] }, { title: "Stop", command: "loopkeeper.server.stop", arguments: [of] }];
  const alert = { ...of, kind: "needsYou", severity: "warning", message: `"Parse dates" asks: ${question.text}`, actions };
  fake.status([fake.loop({ state: "needsYou", phase: "needsAnswer", question })], undefined, { alerts: [alert] });
  await window.sees("Ralph needs you");
  await window.page.locator("[id='loopkeeper.loopkeeper.loopkeeper.status'] a").click();
  const rows = await window.see("the list", () => window.rows(), (it) => it.length > 0);
  assert.ok(rows[0].startsWith("Answer…"), rows[0]);
  const title = await window.page.locator(".quick-input-widget .quick-input-title").textContent();
  assert.equal(title, alert.message);
  await window.picture("needs you");
  await window.pick("Answer…");
  await window.answer("formal");
  await fake.waitForCommand("loopkeeper.server.answer", (it) => it.text === "formal" && it.question === "q1");
  fake.status();
  await window.sees("Ralph");
});

test("vscode_display: an answer to a question that is closed is not asked for", async () => {
  const question = { id: "q1", kind: "agent", text: "Which greeting?" };
  const of = { loopId: "20261120-aaaaaa" };
  fake.status([fake.loop({ state: "needsYou", phase: "needsAnswer", question })]);
  await window.sees("Ralph needs you");
  fake.send("loopkeeper/alert", { ...of, kind: "needsYou", severity: "warning", message: "\"Parse dates\" asks: Which greeting?", actions: [{ title: "Answer…", command: "loopkeeper.server.answer", arguments: [of] }] });
  await window.notification("asks: Which greeting?");
  fake.status([fake.loop({ state: "done", phase: "ended", outcome: { kind: "stopped", verified: false, sentence: "Stopped after 7 iterations" } })]);
  await window.sees("Ralph stopped · 7");
  const before = fake.commands("loopkeeper.server.answer").length;
  await window.press("Answer…");
  await window.notification("\"Parse dates\" no longer waits for an answer: Stopped after 7 iterations");
  assert.equal(await window.page.locator(".quick-input-widget input").isVisible(), false);
  assert.equal(fake.commands("loopkeeper.server.answer").length, before);
  await window.dismiss();
  fake.status();
  await window.sees("Ralph");
});

test("vscode_display: the list of actions hides none behind the text of another loop's question", async () => {
  const long = "The second task, whose title is longer than a list has room for beside an action";
  const question = { id: "q1", kind: "agent", text: "Which of the two greetings do you prefer on the page for payments: formal or informal?" };
  const [one, other] = ["20261120-aaaaaa", "20261118-cccccc"];
  const alert = (loopId, message) => ({ loopId, kind: "needsYou", severity: "warning", message, actions: [{ title: "Answer…", command: "loopkeeper.server.answer", arguments: [{ loopId }] }] });
  const asking = { state: "needsYou", phase: "needsAnswer", question, task: { uri: fake.uri("PROMPT.md"), title: long } };
  fake.status([fake.loop({ ...asking, id: one }), fake.loop({ ...asking, id: other })], undefined, { alerts: [alert(one, `"${long}" asks: ${question.text}`), alert(other, `"${long}" asks: ${question.text}`)] });
  await window.sees("Ralph 2 · 2 need you");
  await window.page.setViewportSize({ width: 700, height: 800 });
  try {
    await window.palette("Ralph: Show Status");
    await window.see("the list", () => window.rows(), (it) => it.length > 5);
    await window.picture("two questions narrow");
    assert.deepEqual(await window.hiddenLabels(), []);
    const details = await window.page.locator(".quick-input-list-label-meta").allInnerTexts();
    assert.ok(details.some((it) => it.includes("asks: Which of")), String(details));
  } finally {
    await window.page.keyboard.press("Escape");
    await window.page.setViewportSize({ width: 1280, height: 800 });
    fake.status();
  }
});

test("vscode_display: lenses that changed while the focus moved are drawn", async () => {
  const lens = (title) => ({ result: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }, command: { title, command: "" } }] });
  await window.page.locator('.tab[data-resource-name="PROMPT.md"]').click();
  fake.setAnswer("textDocument/codeLens", lens("first lens"));
  fake.send("workspace/codeLens/refresh", null, 911);
  await window.see("the lens", () => window.lenses(), (all) => all.includes("first lens"));
  // The editor waits a quarter of a second before it requests lenses, and forgets that when it loses the focus.
  const moving = window.page.evaluate(async () => {
    const input = document.querySelector(".editor-group-container.active .monaco-editor :is(textarea, .native-edit-context)");
    // Longer than the first repetition takes.
    for (let at = 0; at < 40; at += 1) {
      input.focus();
      await new Promise((done) => setTimeout(done, 50));
      input.blur();
      await new Promise((done) => setTimeout(done, 50));
    }
  });
  fake.setAnswer("textDocument/codeLens", lens("second lens"));
  fake.send("workspace/codeLens/refresh", null, 912);
  await moving;
  await window.see("the new lens", () => window.lenses(), (all) => all.includes("second lens"));
  fake.setAnswer("textDocument/codeLens", { result: [] });
});

test("vscode_display: an error in a file is one line with a button that opens it", async () => {
  const uri = fake.write("loopkeeper.toml", "[limits]\niterations = 0\n");
  const data = { code: "badArgument", uri, line: 1, count: 6 };
  fake.setAnswer("loopkeeper.server.start", { error: { code: -32803, message: "loopkeeper.toml has 6 errors; nothing was started", data } });
  fake.status();
  await window.sees("Ralph");
  await window.startLoop();
  const note = await window.notification("loopkeeper.toml has 6 errors; nothing was started");
  assert.deepEqual(note.buttons, ["Show Problems"]);
  await window.press("Show Problems");
  await window.see("the file", () => window.tabs(), (all) => all.some((it) => it.includes("loopkeeper.toml")));
  await window.page.waitForSelector(".markers-panel");
  await window.picture("problems");
});

test("vscode_display: without an agent there is still a loop to see", async () => {
  fake.setAnswer("loopkeeper.server.start", { error: { code: -32803, message: "no agent was found on PATH", data: { code: "agentMissing" } } });
  fake.status();
  await window.sees("Ralph");
  await window.dismiss();
  await window.startLoop();
  const note = await window.notification("no agent was found on PATH");
  assert.deepEqual(note.buttons, ["Run Demo"]);
});

test("vscode_display: the client announces itself", () => {
  const hello = fake.received().find((it) => it.method === "initialize");
  assert.equal(hello.params.capabilities.experimental.loopkeeper.version, 1);
  assert.equal(hello.params.initializationOptions.trusted, true);
});

test("vscode_display: a loop of Claude Code's plugin is shown, taken over and stopped", async () => {
  const uri = fake.uri(".claude/ralph-loop.local.md");
  const foreign = [{ uri, root: `file://${fake.folder}`, iteration: 3, maxIterations: 20, prompt: "Build a REST API." }];
  fake.status([], undefined, { foreign });
  const it = await window.sees("Ralph 3/20 (plugin)");
  assert.deepEqual([it.icon, it.tone], ["plug", "normal"]);
  assert.match(it.label, /Claude Code's plugin, iteration 3 of 20/);
  await window.palette("Ralph: Show Status");
  await window.pick("Continue Under loopkeeper");
  await fake.waitForCommand("loopkeeper.server.import", (it) => it.file === uri);
  await window.palette("Ralph: Show Status");
  await window.pick("Stop the Plugin's Loop");
  await fake.waitForCommand("loopkeeper.server.stop", (it) => it.loopId === uri);
  fake.status([fake.loop()], undefined, { foreign });
  await window.sees("Ralph 7/30 · 3/5 pass");
  fake.status();
  await window.sees("Ralph");
});

test("vscode_display: all results of a round appear at once, before the output of the first is there", async () => {
  fake.setAnswer("loopkeeper.server.output", { never: true });
  const item = (name) => ({ id: name, name, required: true, status: "fail", fact: "exit 1", durationMs: 1, stale: false, place: { file: "two.ralph.md", start: two.indexOf(name), length: 3 } });
  const criteria = { passed: 0, failed: 2, unverified: 0, total: 2, summary: "0 of 2 criteria pass", brief: "0/2 pass", items: [item("One"), item("Other")] };
  await window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "two.ralph.md" }).dblclick();
  await window.see("the lines", () => window.text(), (it) => it.includes("- Other"));
  fake.status([], [fake.task({ id: "two.ralph.md", uri: fake.uri("two.ralph.md"), rounds: 1, criteria })]);
  await window.see("both failures", () => window.testIcons(), (all) => ["- One", "- Other"].every((line) => all.find((it) => it.line.startsWith(line))?.state === "failed"));
});
