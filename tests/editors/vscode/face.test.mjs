// What the window shows of what a server says, in words that only a played server can be brought to say.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";

let editor;
let window;
let played;
let next = 0;

const criteria = { passed: 3, failed: 2, unverified: 0, total: 5, items: [] };
const loop = (changes) => ({
  id: "20261120-aaaaaa", seq: 1, task: { uri: "file:///w/PROMPT.md", title: "Parse dates" }, agent: "mine", state: "working", phase: "iterating", iteration: 7,
  limits: { iterations: 30, durationMs: 1, costMicros: 1 }, criteria, plan: { done: 0, open: 0, total: 0 }, breaker: { state: "closed", counts: { noProgress: 0 }, trips: 0 },
  spent: { calls: 7 }, startedAt: "2026-11-20T14:00:00Z", pausedMs: 0, keeper: { alive: true }, ...changes,
});
const task = { id: "PROMPT.md", uri: "file:///w/PROMPT.md", root: "file:///w", title: "Parse dates", state: "idle", checking: false, unknownCommands: 0, criteria };

function say(method, params, id) {
  next += 1;
  const file = path.join(played, `${String(next).padStart(4, "0")}.json`);
  fs.writeFileSync(`${file}.new`, JSON.stringify({ method, params, ...(id && { id }) }));
  fs.renameSync(`${file}.new`, file);
}
const status = (...loops) => say("loopkeeper/status", { version: 1, seq: next, health: "ok", trusted: true, loops, tasks: [task] });
const received = () => fs.readFileSync(path.join(played, "received.jsonl"), "utf8").trim().split("\n").map((it) => JSON.parse(it));

before(async () => {
  played = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-played-"));
  const program = path.join(played, "loopkeeper");
  fs.writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${path.join(import.meta.dirname, "played.mjs")}'\n`, { mode: 0o755 });
  const folder = path.join(played, "w");
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "PROMPT.md"), "# Parse dates\n");
  editor = await Editor.start({ settings: { "loopkeeper.server.path": program }, env: { LOOPKEEPER_PLAYED: played } });
  window = await editor.open(folder, "PROMPT.md");
});
after(async () => {
  await editor?.close();
  fs.rmSync(played, { recursive: true, force: true });
});

test("vscode_face: the status bar in every state", async () => {
  const noon = new Date(2026, 10, 20, 14, 32).toISOString();
  const outcome = (kind, verified) => ({ state: "done", phase: "ended", iteration: 11, outcome: { kind, verified, sentence: "it ended" } });
  const open = { breaker: { state: "open", reason: "nothing changed", counts: { noProgress: 3 }, trips: 1 } };
  const states = [
    [[], "Ralph", "circle-outline", "normal"],
    [[loop()], "Ralph 7/30 · 3/5", "sync", "normal"],
    [[loop({ phase: "waiting", wait: { reason: "quota", resumesAt: noon } })], "Ralph 7/30 · 14:32", "clock", "normal"],
    [[loop({ state: "paused", phase: "paused" })], "Ralph 7/30", "debug-pause", "normal"],
    [[loop({ state: "needsYou", phase: "needsAnswer" })], "Ralph needs you", "bell-dot", "warning"],
    [[loop({ state: "needsYou", phase: "paused", ...open })], "Ralph stopped at 7/30", "error", "error"],
    [[loop(), loop({ id: "b", state: "needsYou", phase: "untrusted" })], "Ralph 2 · 1 needs you", "sync", "warning"],
    [[loop(outcome("completed", true))], "Ralph done · 11", "pass", "normal"],
    [[loop(outcome("completed", false))], "Ralph claims done · 11", "unverified", "normal"],
    [[loop(outcome("limit", false))], "Ralph stopped at 11/30", "error", "error"],
  ];
  for (const [loops, text, icon, tone] of states) {
    status(...loops);
    const it = await window.sees(text);
    assert.deepEqual([it.icon.split("~")[0], it.tone], [icon, tone], text);
    assert.match(it.label, /^Ralph/);
    await window.picture(`bar ${text}`);
  }
});

test("vscode_face: an alert is one notification, its links are text, its button sends the command", async () => {
  const action = { title: "Stop", command: "loopkeeper.server.stop", arguments: [{ loopId: "20261120-aaaaaa" }] };
  say("loopkeeper/alert", { loopId: "20261120-aaaaaa", kind: "needsYou", severity: "warning", message: "Needs you: [quit](command:workbench.action.quit) <b>now</b>", actions: [action] });
  const it = await window.notification("Needs you");
  assert.deepEqual(it.links, []);
  assert.match(it.text, /<b>now<\/b>/);
  assert.equal((await window.notifications()).length, 1);
  await window.picture("alert");
  await window.press("Stop");
  await window.see("the order at the server", received, (all) => all.some((m) => m.params?.command === "loopkeeper.server.stop" && m.params.arguments[0].loopId === "20261120-aaaaaa"));
});

test("vscode_face: a question of the server keeps its links as text and sends the answer", async () => {
  say("window/showMessageRequest", { type: 2, message: "Trust [these](command:workbench.action.quit)?", actions: [{ title: "Show commands" }, { title: "Later" }] }, 901);
  const it = await window.notification("Trust");
  assert.deepEqual([it.links, it.buttons], [[], ["Show commands", "Later"]]);
  await window.press("Later");
  await window.see("the answer", received, (all) => all.some((m) => m.id === 901 && m.result?.title === "Later"));
});

test("vscode_face: the client announces itself and sends nothing while nothing happens", async () => {
  const hello = received().find((it) => it.method === "initialize");
  assert.equal(hello.params.capabilities.experimental.loopkeeper.version, 1);
  assert.equal(hello.params.initializationOptions.trusted, true);
});
