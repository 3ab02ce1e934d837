// The first steps: the walkthrough, and the demo that it runs in a separate folder.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Editor } from "./editor.mjs";

test("vscode_walkthrough: its first step runs the demo, in a new folder", async () => {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-first-"));
  const folder = path.join(temporary, "project");
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "notes.md"), "# Notes\n");
  const editor = await Editor.start({ env: { TMPDIR: temporary } });
  try {
    const window = await editor.open(folder, "notes.md");
    await window.palette("Welcome: Open Walkthrough");
    await window.pick("Start with Ralph Loops");
    const page = () => window.page.evaluate(() => document.querySelector(".gettingStartedContainer")?.innerText ?? "");
    const text = await window.see("the steps", page, (it) => it.includes("See what happened"));
    for (const it of ["Watch the demo", "Write a task", "Run the checks once", "Start a loop"]) assert.ok(text.includes(it), text);
    await window.picture("walkthrough");
    await window.page.locator(".gettingStartedContainer .monaco-button", { hasText: "Run Demo" }).first().click();
    const note = await window.notification("The demo runs in");
    assert.ok(note.text.includes(temporary), note.text);
    assert.deepEqual(note.buttons, ["Open the Project"]);
    await window.see("the demo is done", () => window.panel(), (it) => it.includes("is as it was before the loop"));
    await window.picture("walkthrough demo");
    const [project] = fs.readdirSync(temporary).filter((it) => it.startsWith("loopkeeper-demo-"));
    assert.ok(fs.existsSync(path.join(temporary, project, "receipt", "PROMPT.md")));
    assert.deepEqual(fs.readdirSync(folder), ["notes.md"], "the opened folder is as it was");
  } finally {
    await editor.close();
    fs.rmSync(temporary, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
});
