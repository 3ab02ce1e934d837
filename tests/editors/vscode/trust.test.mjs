// Folders that the editor does not trust, folders without a task, and an editor without the extension.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Editor } from "./editor.mjs";
import { serversOf } from "./processes.mjs";
import { Project } from "./project.mjs";

const restricted = { trust: true, settings: { "security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never", "security.workspace.trust.untrustedFiles": "open" } };

test("vscode_trust: a folder in Restricted Mode starts nothing until it is trusted", async () => {
  const editor = await Editor.start(restricted);
  // The user already trusts the commands: the editor's own trust is still missing.
  const project = new Project(editor);
  try {
    const window = await editor.open(project.folder, "PROMPT.md");
    await window.sees("Ralph");
    await window.see("Restricted Mode", () => window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).count(), (it) => it === 1);
    for (const command of ["Ralph: Start Loop", "Ralph: Run Checks"]) {
      await window.palette(command);
      const note = await window.notification("Trust this folder");
      assert.deepEqual(note.buttons, ["Manage Workspace Trust"]);
      await window.dismiss();
    }
    assert.equal(project.turns(), 0);
    assert.deepEqual(project.loops(), []);
    await window.palette("Workspaces: Manage Workspace Trust");
    await window.page.locator(".workspace-trust-editor .monaco-button", { hasText: "Trust" }).first().click();
    await window.see("the folder is trusted", () => window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).count(), (it) => it === 0);
    project.turn(1, "echo hello world > greeting.txt");
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph done · 1");
    assert.equal(project.turns(), 1);
  } finally {
    project.remove();
    await editor.close();
  }
});

test("vscode_trust: nothing of ours in a folder without a task, or without the extension", async () => {
  const empty = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-empty-"));
  fs.writeFileSync(path.join(empty, "notes.md"), "# Notes\n\n- nothing: `$ touch ran`\n");
  const editor = await Editor.start();
  const bare = await Editor.start({ extensions: [] });
  const project = new Project(bare);
  try {
    const window = await editor.open(empty, "notes.md");
    const other = await bare.open(project.folder, "PROMPT.md");
    // A later event of the window: everything that appears at its start is visible by then.
    for (const it of [window, other]) await it.see("the extensions are up", () => it.page.locator(".statusbar-item", { hasText: "Markdown" }).count());
    await editor.see(/Eager extensions activated/);
    await bare.see(/Eager extensions activated/);
    for (const it of [window, other]) assert.equal(await it.item(), undefined);
    for (const it of [editor, bare]) assert.deepEqual(serversOf(it), []);
    assert.deepEqual(await other.squiggles(), []);
    assert.ok(!(await other.offered("Ralph: Start")).some((it) => it.includes("Start Loop")));
    assert.ok((await window.offered("Ralph: Start")).some((it) => it.includes("Start Loop")));
  } finally {
    project.remove();
    await Promise.all([editor.close(), bare.close()]);
    fs.rmSync(empty, { recursive: true });
  }
});

test("vscode_trust: a folder with nothing but a task of its own name is one of ours", async () => {
  const editor = await Editor.start();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-named-"));
  fs.mkdirSync(path.join(folder, "docs"));
  fs.writeFileSync(path.join(folder, "docs/greet.ralph.md"), "# Greet\n\n## Done when\n\n- It is there: `exists greeting.txt`\n");
  fs.writeFileSync(path.join(folder, "notes.txt"), "Notes\n");
  try {
    const window = await editor.open(folder, "notes.txt");
    // The editor searches a folder for seven seconds: on a busy machine it may give up, and searches again with the window.
    await window.sees("Ralph", 40_000).catch(() => window.reload("notes.txt"));
    await window.sees("Ralph");
  } finally {
    await editor.close();
    fs.rmSync(folder, { recursive: true });
  }
});

test("vscode_trust: a server that is not there is said once, with the name of the setting", async () => {
  const editor = await Editor.start({ settings: { "loopkeeper.server.path": "/nowhere/loopkeeper" } });
  const project = new Project(editor);
  try {
    const window = await editor.open(project.folder, "PROMPT.md");
    const note = await window.notification("loopkeeper.server.path");
    assert.deepEqual(note.buttons, ["Open Setting", "Restart Server", "Show Log"]);
    assert.equal((await window.sees("Ralph: no server")).tone, "warning");
    const shown = await window.listed("the message", async () => {
      const all = await window.notifications();
      return all.length > 0 && all;
    });
    assert.equal(shown.length, 1, JSON.stringify(shown));
    // A user who wants to start a loop sees the message again, with the remedy.
    await window.dismiss();
    await window.palette("Ralph: Start Loop");
    const again = await window.notification("loopkeeper.server.path");
    assert.deepEqual(again.buttons, ["Open Setting", "Restart Server", "Show Log"]);
    await window.press("Open Setting");
    await window.see("the setting", () => window.page.evaluate(() => document.querySelector(".settings-editor")?.textContent ?? ""), (it) => /Server: *Path/.test(it));
    await window.picture("setting");
    await window.page.keyboard.press("Escape");
    // The user's next step: remove the setting. The server bundled with the extension takes over.
    fs.writeFileSync(path.join(editor.data, "Machine/settings.json"), "{}");
    await window.sees("Ralph");
  } finally {
    project.remove();
    await editor.close();
  }
});

test("vscode_trust: a state folder that is open to others is said in the status bar, with what to do", async () => {
  const editor = await Editor.start();
  fs.mkdirSync(editor.state, { recursive: true });
  fs.chmodSync(editor.state, 0o755);
  const project = new Project(editor, { trusted: false });
  try {
    const window = await editor.open(project.folder, "PROMPT.md");
    const it = await window.sees("Ralph: error");
    assert.deepEqual([it.tone, it.icon], ["error", "error"]);
    assert.ok(it.label.includes(`chmod 700 ${editor.state}`), it.label);
    fs.chmodSync(editor.state, 0o700);
    await window.palette("Ralph: Restart Server");
    await window.sees("Ralph");
  } finally {
    fs.chmodSync(editor.state, 0o700);
    project.remove();
    await editor.close();
  }
});
