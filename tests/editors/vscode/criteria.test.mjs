// Criteria in the Testing view: a run of all, and the result of each.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";
import { Project } from "./project.mjs";

let editor;

before(async () => {
  editor = await Editor.start();
});
after(() => editor?.close());

const opened = (options, body) =>
  Project.opened(editor, options, async (project, window) => {
    await window.sees("Ralph");
    await window.palette("Testing: Focus on Test Explorer View");
    await window.see("the task", () => window.tests(), (all) => all.some((it) => it.includes("Make the greeting right")));
    await window.page.locator(".test-explorer .monaco-list-row .monaco-tl-twistie").first().click();
    await window.see("the criteria", () => window.tests(), (all) => all.some((it) => it.includes("It greets the world")));
    await body(project, window);
  });

test("vscode_criteria: all run, and each has its result", async () => {
  await opened({ files: { "greeting.txt": "hello\n" } }, async (_, window) => {
    await window.palette("Test: Run All Tests");
    const all = await window.see("the results", () => window.tests(), (it) => it.some((row) => /It greets the world.*Failed/i.test(row)) && it.filter((row) => /Passed/i.test(row)).length >= 2);
    assert.ok(all.some((row) => /It says hello.*Passed/i.test(row)), String(all));
    await window.picture("criteria run");
  });
});
