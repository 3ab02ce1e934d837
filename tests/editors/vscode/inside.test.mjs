// Data that other extensions and the editor itself get from ours, queried in the extension host; and text of files and
// checks that tries to be interpreted.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Inside } from "./inside.mjs";
import { Project, promptText } from "./project.mjs";

let inside;

before(async () => {
  inside = await Inside.start();
});
after(() => inside?.close());

const opened = (options, body) =>
  Project.opened(inside.editor, options, async (project, window) => {
    await window.sees("Ralph");
    await body(project, window);
  });

const document = `const [folder] = vscode.workspace.workspaceFolders; const uri = vscode.Uri.joinPath(folder.uri, "PROMPT.md");`;
const diagnostics = `${document} const text = await vscode.workspace.openTextDocument(uri);
  return vscode.languages.getDiagnostics(uri).map((it) => ({ source: it.source, code: it.code?.value ?? it.code, severity: it.severity, message: it.message, line: it.range.start.line, text: text.getText(it.range) }));`;

test("vscode_inside: every command of the palette is there", async () => {
  await opened({}, async () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "../../../editors/vscode/package.json"), "utf8"));
    const known = await inside.ask("return vscode.commands.getCommands(true)");
    const missing = manifest.contributes.commands.map((it) => it.command).filter((it) => !known.includes(it));
    assert.deepEqual(missing, []);
    assert.ok(!known.includes("loopkeeper.dashboard"));
  });
});

test("vscode_inside: diagnostics, hover and actions of a task", async () => {
  await opened({ files: { "greeting.txt": "hello\n" } }, async (_, window) => {
    const before = await inside.ask(diagnostics);
    assert.deepEqual(before.filter((it) => it.code === "failing"), []);
    await window.palette("Ralph: Run Checks");
    const all = await inside.asks("one failing criterion", diagnostics, (it) => it.some((one) => one.code === "failing"));
    const failing = all.filter((it) => it.code === "failing");
    assert.deepEqual(failing.map((it) => [it.source, it.severity, it.line]), [["ralph", 1, 6]]);
    assert.match(failing[0].message, /^It greets the world: /);
    assert.match(failing[0].text, /greets the world/);

    const hover = `${document} const [it] = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(6, 6)); return it.contents.map((one) => ({ value: one.value, trusted: Boolean(one.isTrusted), html: Boolean(one.supportHtml) }));`;
    for (const it of await inside.ask(hover)) assert.deepEqual([it.trusted, it.html], [false, false]);

    const actions = `${document} const all = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, new vscode.Range(6, 4, 6, 4)); return all.map((it) => ({ title: it.title, kind: it.kind?.value }));`;
    // A busy editor sometimes gets no result from its providers, and is asked again.
    const ours = (all) => all.filter((it) => it.kind?.startsWith("source.loopkeeper"));
    await inside.asks("two actions of the task", actions, (all) => ours(all).length >= 2);
  });
});

test("vscode_inside: the hover over a task leads to the dashboard, and to nothing else", async () => {
  await opened({}, async (project, window) => {
    await window.startLoop();
    project.turn(1, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 1");
    const hover = `${document} const all = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(0, 4)); return all.flatMap((it) => it.contents).filter((it) => it.value.includes("greeting")).map((it) => ({ value: it.value, trusted: it.isTrusted }));`;
    const [shown] = await inside.asks("a hover with links", hover, (all) => all.some((it) => it.value.includes("](command:")));
    assert.deepEqual(shown.trusted, { enabledCommands: ["loopkeeper.showDashboard", "loopkeeper.showOutput"] });
    const [state, ...rest] = shown.value.split("\n\n").slice(1);
    assert.match(state, /^Completed, verified/);
    assert.ok(!rest.join(" ").includes("Breaker closed"), shown.value);
    const [, command, argument] = /\[Details\]\(command:([\w.]+)\?([^)]+)\)/.exec(shown.value);
    await inside.ask(`return vscode.commands.executeCommand(${JSON.stringify(command)}, ...JSON.parse(decodeURIComponent(${JSON.stringify(argument)})))`);
    await window.see("the dashboard", () => window.tabs(), (all) => all.some((it) => it.includes("Ralph: Make the greeting right")));
  });
});

test("vscode_inside: hostile text is text", async () => {
  const bad = "[quit](command:workbench.action.quit) <img src=x onerror=alert(1)> $(bell)";
  const task = promptText.replace("# Make the greeting right", `# ${bad}`).replace("It greets the world", `${bad} world`).replace("grep -q world greeting.txt", "printf '\\033]0;x\\007\\033[31m\\342\\200\\256<b>[a](command:b)'; false");
  await opened({ files: { "PROMPT.md": task } }, async (_, window) => {
    await window.palette("Ralph: Run Checks");
    const all = await inside.asks("failing criteria", diagnostics, (it) => it.filter((one) => one.code === "failing").length >= 2);
    for (const it of all) assert.doesNotMatch(it.message, /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
    await window.palette("Ralph: Show Status");
    const rows = await window.see("the list", () => window.rows(), (it) => it.some((row) => row.includes("Start Loop")));
    assert.equal(await window.page.locator(".quick-input-list .codicon-bell").count(), 0, String(rows));
    await window.page.keyboard.press("Escape");
    const hover = `${document} const all = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(6, 6)); return all.flatMap((it) => it.contents).map((one) => ({ value: one.value, trusted: Boolean(one.isTrusted), html: Boolean(one.supportHtml) }));`;
    for (const it of await inside.ask(hover)) {
      assert.deepEqual([it.trusted, it.html], [false, false]);
      assert.doesNotMatch(it.value, /\u202e|\u001b/);
    }
    assert.equal(await window.page.locator("img[src='x']").count(), 0);
    await window.sees("Ralph");
  });
});
