// The first minutes of a user who has read nothing, in a folder without a task: what is offered leads to a start.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Editor } from "./editor.mjs";

test("vscode_first: in an empty folder the start leads to a task, and the task to the start", async () => {
  const editor = await Editor.start();
  const folder = path.join(editor.root, "new");
  fs.mkdirSync(folder);
  try {
    const window = await editor.open(folder);
    // A palette that is opened before the extension is known does not list its commands.
    await window.page.waitForSelector(".activitybar .action-label[aria-label^='Ralph']");
    await window.palette("Ralph: Start Loop");
    const note = await window.notification("There is no task in this folder");
    assert.deepEqual(note.buttons, ["New Task…", "Import Selection or Clipboard…"]);
    await window.press("New Task…");
    await window.answer("Make the parser read dates");
    await window.pick("Code");
    await window.see("the task", () => window.text(), (it) => it.includes("# Make the parser read dates"));
    const saving = await window.notification("save it or start it");
    assert.deepEqual(saving.buttons, ["Save", "Start Loop"]);
    await window.picture("first task");
    assert.deepEqual(fs.readdirSync(folder), [], "nothing is written before the user wants it");
    // The task is not saved yet, and the checks and the start save it.
    await window.startLoop();
    await window.sees("Ralph");
    const [file] = fs.readdirSync(folder);
    assert.match(fs.readFileSync(path.join(folder, file), "utf8"), /^# Make the parser read dates/);
    await window.see("its lenses", () => window.lenses(), (all) => all.some((it) => it.includes("Start loop")));
  } finally {
    await editor.close();
  }
});
