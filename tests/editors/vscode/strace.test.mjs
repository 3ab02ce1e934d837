// Hostile folders, opened in one window and queried in every way: the server starts no program and makes no
// connection, neither in Restricted Mode nor where only the editor trusts them, and the display is plain text.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Inside } from "./inside.mjs";
import { faults, isServer, missing, traced, traces } from "./traced.mjs";
import { Traps } from "./traps.mjs";

const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const lacking = missing();
if (lacking !== undefined && process.env.LOOPKEEPER_NOT_RUN) {
  fs.appendFileSync(process.env.LOOPKEEPER_NOT_RUN, `untrusted folders in a real Visual Studio Code (${lacking})\n`);
}

/** Sends every provider request of the editor for each document; returns the texts shown to the user. */
const everything = (documents) => `
  const shown = [];
  for (const file of ${JSON.stringify(documents)}) {
    const uri = vscode.Uri.file(file);
    const document = await vscode.workspace.openTextDocument(uri);
    // The editor cancels a request for a document that it is still reading.
    const ask = async (name, ...args) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await vscode.commands.executeCommand("vscode.execute" + name + "Provider", uri, ...args);
        } catch (error) {
          if (error.name !== "Canceled" || tries === 5) throw error;
        }
      }
    };
    await ask("DocumentSymbol");
    const all = new vscode.Range(0, 0, Math.min(document.lineCount, 40), 0);
    shown.push(...(await ask("CodeAction", all)).map((it) => it.title));
    shown.push(...(await ask("CodeLens", 20)).map((it) => it.command?.title ?? ""));
    for (let line = 0; line < Math.min(document.lineCount, 10); line += 1) {
      const hovers = await ask("Hover", new vscode.Position(line, 4));
      for (const it of hovers.flatMap((one) => one.contents)) {
        if (it.isTrusted || it.supportHtml) throw new Error("a hover that is more than text: " + it.value);
        shown.push(it.value);
      }
    }
    shown.push(...vscode.languages.getDiagnostics(uri).map((it) => it.message));
  }
  return shown;`;

const page = `const found = vscode.workspace.textDocuments.filter((it) => it.uri.scheme === "loopkeeper-trust"); return found.map((it) => it.getText());`;

class HostileWindow {
  static async open() {
    const hostile = new HostileWindow();
    hostile.root = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-hostile-"));
    hostile.traps = new Traps(hostile.root);
    hostile.wrapper = traced(hostile.root, "server");
    const settings = { "security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never", "security.workspace.trust.untrustedFiles": "open", "loopkeeper.server.path": hostile.wrapper };
    hostile.inside = await Inside.start({ trust: true, settings, path: `.:${process.env.PATH}` });
    hostile.editor = hostile.inside.editor;
    hostile.window = await hostile.editor.openAll(hostile.traps.workspace);
    await hostile.window.sees("Ralph");
    return hostile;
  }

  async queryEverything() {
    const shown = await this.inside.ask(everything(this.traps.documents()));
    assert.ok(shown.some((it) => it.includes("Start Loop") || it.includes("criteri")), JSON.stringify(shown.slice(0, 20)));
    const item = await this.window.item();
    shown.push(item.text, item.label);
    await this.window.palette("Ralph: Show Status");
    shown.push(...(await this.window.see("the list", () => this.window.rows(), (it) => it.some((row) => row.includes("Run Checks")))));
    await this.assertNoLinks();
    await this.window.page.keyboard.press("Escape");
    for (const it of shown) assert.doesNotMatch(it, obeyed);
  }

  /** Runs a command of the palette for the task with the most hostile text. */
  async chooseTask(command, question) {
    await this.window.palette(command);
    await this.window.see(question, () => this.window.page.locator(".quick-input-title", { hasText: question }).isVisible());
    for (const it of await this.window.rows()) assert.doesNotMatch(it, obeyed);
    await this.assertNoLinks();
    await this.window.page.locator(".quick-input-widget input.input, .quick-input-widget input[type='text']").first().fill("red drow");
    await this.window.pick("red drow");
  }

  /** Starts one of several tasks. */
  async startLoop() {
    await this.window.palette("Ralph: Start Loop");
    await this.window.see("the start", () => this.window.rows(), (rows) => /^\s*Start/.test(rows[0]));
    for (const it of await this.window.rows()) assert.doesNotMatch(it, obeyed);
    await this.assertNoLinks();
    await this.window.pick("Task");
    await this.window.see("the tasks", () => this.window.page.locator(".quick-input-title", { hasText: "Start a loop on which task?" }).isVisible());
    await this.window.page.locator(".quick-input-widget input.input, .quick-input-widget input[type='text']").first().fill("red drow");
    await this.window.pick("red drow");
    await this.window.see("the start of that task", () => this.window.rows(), (rows) => /^\s*Start/.test(rows[0]));
    await this.window.page.keyboard.press("Enter");
  }

  async checkNotification(text) {
    const note = await this.window.notification(text);
    assert.doesNotMatch(note.text, obeyed);
    assert.deepEqual(note.links, []);
    await this.assertNoLinks();
    await this.window.dismiss();
  }

  async assertNoLinks() {
    const inner = [".codicon-bell:not(.part *)", "img[src='x']", "a[href^='command:']", "a[data-href^='command:']"];
    const selector = inner.flatMap((it) => [`.quick-input-list ${it}`, `.notification-list-item-message ${it}`]).join();
    assert.equal(await this.window.page.locator(selector).count(), 0);
  }

  servers(wrapper, count) {
    return this.window.see(`${count} traces`, () => traces(wrapper).filter((it) => it.some(isServer)), (it) => it.length >= count);
  }

  assertNothingStarted(found) {
    assert.deepEqual(found.flatMap((it) => faults(it, this.editor.state)), []);
    assert.deepEqual(this.traps.executed(), []);
  }

  async close() {
    await this.inside?.close();
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

test("vscode_strace: hostile folders start nothing, in Restricted Mode and without the user's yes", { skip: lacking }, async () => {
  const hostile = await HostileWindow.open();
  const { window, wrapper, editor } = hostile;
  try {
    assert.ok(hostile.traps.folders.length >= 20);
    await window.see("Restricted Mode", () => window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).count(), (it) => it === 1);
    await hostile.queryEverything();
    await hostile.chooseTask("Ralph: Start Loop", "Start a loop on which task?");
    await hostile.checkNotification("Trust this folder");
    await window.picture("hostile restricted");
    hostile.assertNothingStarted(await hostile.servers(wrapper, 1));

    await window.palette("Workspaces: Manage Workspace Trust");
    await window.page.locator(".workspace-trust-editor .monaco-button", { hasText: "Trust" }).first().click();
    await window.see("the folders are trusted", () => window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).count(), (it) => it === 0);
    await window.page.locator(".monaco-modal-editor-block .codicon-close").first().click();
    await window.see("the trust page closes", () => window.page.locator(".workspace-trust-editor").isVisible(), (it) => !it);
    await hostile.servers(wrapper, 2);
    await window.sees("Ralph");
    await hostile.queryEverything();
    await hostile.startLoop();
    await hostile.checkNotification("trust");
    await hostile.chooseTask("Ralph: Run Checks", "Run the checks of which task?");
    await hostile.checkNotification("trust");
    await hostile.chooseTask("Ralph: Trust This Task's Commands", "Trust the commands of which task?");
    const [text] = await hostile.inside.asks("the page of commands", page, (it) => it.length > 0);
    assert.match(text, /touch PWNED/);
    assert.doesNotMatch(text, obeyed);
    await window.picture("hostile trusted");
    hostile.assertNothingStarted(await hostile.servers(wrapper, 2));
    const started = [...editor.logs().matchAll(/Server: (\S+) \(from (\w+)\)/g)].map((it) => it.slice(1, 3));
    assert.ok(started.length >= 2, editor.logs());
    for (const it of started) assert.deepEqual(it, [wrapper, "setting"]);

    // Control: the same window with a server that starts a program.
    const other = traced(hostile.root, "other", "/bin/true");
    fs.writeFileSync(path.join(editor.data, "Machine/settings.json"), JSON.stringify({ "loopkeeper.server.path": other }));
    const found = await hostile.servers(other, 1);
    assert.throws(() => hostile.assertNothingStarted(found), /\/bin\/true/);
  } finally {
    await hostile.close();
  }
});

test("vscode_strace: a connection, and a mark left by a program, are found", () => {
  assert.equal(faults(['7 connect(3, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0', '7 connect(3, {sa_family=AF_UNIX, sun_path="/s/a"}, 9) = 0'], "/s").length, 1);
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-hostile-"));
  try {
    const traps = new Traps(root);
    assert.deepEqual(traps.executed(), []);
    fs.writeFileSync(path.join(traps.folders[3], "PWNED"), "");
    assert.equal(traps.executed().length, 1);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
});
