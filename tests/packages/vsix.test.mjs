// The package for Visual Studio Code in an editor that has nothing else: no setting, no loopkeeper on PATH. Run by
// test_packages.py, with the package in LOOPKEEPER_TEST_VSIX.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Editor } from "../editors/vscode/editor.mjs";
import { serversOf } from "../editors/vscode/processes.mjs";
import { Project } from "../editors/vscode/project.mjs";

let editor;

before(async () => {
  editor = await Editor.start({ path: "/usr/bin:/bin" });
});
after(() => editor?.close());

test("vsix: the installed package runs a loop with the server inside", async () => {
  const server = path.join(editor.extensionFolder, "server");
  for (const name of ["loopkeeper", "loopkeeper-keeper", "loopkeeper-warden", "loopkeeper-request"]) fs.accessSync(path.join(server, name), fs.constants.X_OK);
  await Project.opened(editor, { trusted: false }, async (project, window) => {
    await window.sees("Ralph");
    const [pid, ...others] = serversOf(editor);
    assert.deepEqual(others, []);
    assert.equal(fs.readlinkSync(`/proc/${pid}/exe`), path.join(server, "loopkeeper"));
    await window.startLoop();
    await window.notification("you have not trusted yet");
    await window.press("Trust and start");
    await window.sees("Ralph 1/9 · 0/3 pass");
    project.turn(1, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 1");
    const [ended] = project.loops();
    assert.equal(ended.outcome.verified, true);
    await window.palette("Ralph: Show Output");
    await window.see("the output", () => window.page.locator(".terminal-wrapper.active .xterm-rows").innerText(), (it) => it.includes("turn 1 ends"));
  });
});

test("vsix: the page of the extension has its icon, its text and its changes", async () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(editor.extensionFolder, "package.json"), "utf8"));
  for (const name of [manifest.icon, "readme.md", "changelog.md", "LICENSE.txt"]) assert.ok(fs.existsSync(path.join(editor.extensionFolder, name)), name);
  const readme = fs.readFileSync(path.join(editor.extensionFolder, "readme.md"), "utf8");
  assert.match(readme, /Ralph/);
});
