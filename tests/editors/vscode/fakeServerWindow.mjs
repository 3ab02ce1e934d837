// A window with a fake server: the test sends the server's messages and reads the client's requests.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Editor } from "./editor.mjs";

const criteria = { passed: 3, failed: 2, unverified: 0, total: 5, summary: "3 of 5 criteria pass", brief: "3/5 pass", items: [] };

export class FakeServerWindow {
  /** `files` of the opened folder; the first is opened. */
  static async open({ files = { "PROMPT.md": "# Parse dates\n" }, ...options } = {}) {
    const fake = new FakeServerWindow();
    fake.count = 0;
    fake.root = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-fake-"));
    fake.folder = path.join(fake.root, "w");
    fake.program = path.join(fake.root, "loopkeeper");
    const script = path.join(import.meta.dirname, "fakeServer.mjs");
    fs.writeFileSync(fake.program, `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`, { mode: 0o755 });
    for (const [name, text] of Object.entries(files)) fake.write(name, text);
    fake.editor = await Editor.start({ ...options, settings: { ...options.settings, "loopkeeper.server.path": fake.program }, env: { LOOPKEEPER_FAKE_SERVER: fake.root } });
    fake.window = await fake.editor.open(fake.folder, Object.keys(files)[0]);
    return fake;
  }

  uri(name) {
    return `file://${path.join(this.folder, name)}`;
  }

  write(name, text) {
    const file = path.join(this.folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    return `file://${file}`;
  }

  read(name) {
    return fs.readFileSync(path.join(this.folder, name), "utf8");
  }

  loop(changes = {}) {
    return {
      id: "20261120-aaaaaa", seq: 1, task: { uri: this.uri("PROMPT.md"), title: "Parse dates" }, agent: "mine", state: "working", phase: "iterating", iteration: 7,
      limits: { iterations: 30, durationMs: 1, costMicros: 1, callsPerHour: 100 }, criteria, plan: { done: 0, open: 0, total: 0 },
      breaker: { state: "closed", counts: { noProgress: 0 }, trips: 0 }, spawns: { used: 0, budget: 12, depth: 0, inIteration: 0, refused: 0 }, spent: { calls: 7, callsThisHour: 7 }, startedAt: "2026-11-20T14:00:00Z", pausedMs: 0, keeper: { alive: true }, ...changes,
    };
  }

  task(changes = {}) {
    return { id: "PROMPT.md", uri: this.uri("PROMPT.md"), root: `file://${this.folder}`, title: "Parse dates", state: "idle", checking: false, unknownCommands: 0, criteria, ...changes };
  }

  status(loops = [], tasks = [this.task()], more = {}) {
    this.send("loopkeeper/status", { version: 1, seq: this.count, health: "ok", trusted: true, loops, tasks, ...more });
  }

  send(method, params, id) {
    this.count += 1;
    this.putFile(`${String(this.count).padStart(4, "0")}.json`, { method, params, ...(id && { id }) });
  }

  /** Waits until the client has handled every message so far: it handles them in order, and responds to the last. */
  async waitUntilHandled() {
    const id = `handled-${this.count}`;
    this.send("workspace/codeLens/refresh", null, id);
    await this.window.see("the client has handled the messages", () => this.received().some((it) => it.id === id && it.method === undefined));
  }

  /** The fake server reads the file at any time, so it has to appear as a whole. */
  putFile(name, content) {
    const file = path.join(this.root, name);
    fs.writeFileSync(`${file}.new`, JSON.stringify(content));
    fs.renameSync(`${file}.new`, file);
  }

  /** Sets the server's response to a command or a request: `{ result }`, `{ error }`, or `{ never: true }`. */
  setAnswer(name, answer) {
    this.putFile(`${name.replace("/", ".")}.answer`, answer);
  }

  received() {
    return fs.readFileSync(path.join(this.root, "received.jsonl"), "utf8").trim().split("\n").map((it) => JSON.parse(it));
  }

  /** The arguments of every command with this name so far. */
  commands(command) {
    return this.received().filter((it) => it.params?.command === command).map((it) => it.params.arguments[0]);
  }

  async waitForCommand(command, fits) {
    return this.window.see(`the command ${command}`, () => this.commands(command).find(fits));
  }

  async close() {
    await this.editor?.close();
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}
