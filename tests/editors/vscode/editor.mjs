// A real Visual Studio Code for the tests: code-server with a separate home, state folder and port, displayed in a
// headless Chromium. Depends on the editor's pages, not on the subject of the tests. Waits are for conditions, with
// limits for a busy machine; every process that it started ends with it.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { kill } from "./processes.mjs";
import { longest, until } from "./until.mjs";
import { Window } from "./window.mjs";

const tools = {
  node: need("LOOPKEEPER_TEST_NODE24"),
  codeServer: need("LOOPKEEPER_TEST_CODE_SERVER"),
  chromium: need("LOOPKEEPER_TEST_CHROMIUM"),
  playwright: need("LOOPKEEPER_TEST_PLAYWRIGHT"),
};
const { chromium } = createRequire(path.join(tools.playwright, "x.js"))("playwright-core");

/** The folder for screenshots. */
export const pictures = process.env.LOOPKEEPER_TEST_PICTURES ?? path.join(os.tmpdir(), "loopkeeper-pictures");

const calm = {
  "workbench.startupEditor": "none",
  "workbench.reduceMotion": "on",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Dark Modern",
  "window.restoreWindows": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "telemetry.telemetryLevel": "off",
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "update.mode": "none",
  "git.enabled": false,
  "git.openRepositoryInParentFolders": "never",
  "editor.accessibilitySupport": "off",
  "editor.minimap.enabled": false,
  "files.simpleDialog.enable": true,
  // Drawn as elements of the page, which the tests read.
  "terminal.integrated.gpuAcceleration": "off",
};

export class Editor {
  /** `extensions`: the packages to install. `trust`: whether the editor asks for trust in folders at all. */
  static async start({ extensions = [need("LOOPKEEPER_TEST_VSIX")], settings = {}, trust = false, locale = "en", env = {}, path: search = process.env.PATH } = {}) {
    const editor = new Editor();
    try {
      editor.prepare(settings, { ...env, PATH: search });
      if (locale !== "en") editor.speak(locale);
      for (const it of extensions) editor.install(it);
      await editor.serve(trust, locale);
      editor.browser = await chromium.launchPersistentContext(path.join(editor.root, "chromium"), {
        executablePath: tools.chromium,
        headless: true,
        viewport: { width: 1280, height: 800 },
        args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
      });
      return editor;
    } catch (error) {
      await editor.close();
      throw error;
    }
  }

  /** Opens a window on a folder, with one of its files. */
  open(folder, file) {
    const query = new URLSearchParams({ folder });
    if (file) query.set("payload", JSON.stringify([["openFile", `vscode-remote://127.0.0.1:${this.port}${path.join(folder, file)}`]]));
    return this.visit(query, file);
  }

  /** Opens a window on the folders of a `.code-workspace` file. */
  openAll(workspace) {
    return this.visit(new URLSearchParams({ workspace }));
  }

  async visit(query, file) {
    const page = await this.browser.newPage();
    page.setDefaultTimeout(longest);
    await page.goto(`http://127.0.0.1:${this.port}/?${query}`);
    const window = new Window(page, this);
    await window.ready(file);
    return window;
  }

  /** The extension host's log, for failure reports. */
  logs() {
    const files = fs.readdirSync(this.data, { recursive: true }).map(String).filter((it) => /(remoteexthost|Ralph Server)\.log$/.test(it));
    return files.map((it) => `${it}:\n${fs.readFileSync(path.join(this.data, it), "utf8").slice(-3000)}`).join("\n");
  }

  /** Waits for a text in the extension host's log. */
  see(words) {
    return until(`the extension host says ${words}`, () => words.test(this.logs()), () => this.logs());
  }

  get extensionFolder() {
    const name = fs.readdirSync(this.extensions).find((it) => it.startsWith("loopkeeper.loopkeeper-"));
    return name && path.join(this.extensions, name);
  }

  async close() {
    await this.browser?.close().catch(() => undefined);
    if (this.process) await endGroup(this.process);
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  prepare(settings, env) {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-vscode-"));
    this.data = path.join(this.root, "data");
    this.extensions = path.join(this.root, "extensions");
    this.state = path.join(this.root, "state");
    for (const it of [path.join(this.data, "User"), path.join(this.data, "Machine"), this.extensions]) fs.mkdirSync(it, { recursive: true });
    fs.writeFileSync(path.join(this.data, "User/settings.json"), JSON.stringify({ ...calm, ...settings }));
    // Machine-scoped settings belong to the remote side, not to the user.
    const machine = Object.entries(settings).filter(([name]) => name === "loopkeeper.server.path");
    fs.writeFileSync(path.join(this.data, "Machine/settings.json"), JSON.stringify(Object.fromEntries(machine)));
    fs.writeFileSync(path.join(this.root, "config.yaml"), "");
    this.env = {
      ...process.env,
      HOME: this.root,
      XDG_CONFIG_HOME: path.join(this.root, "config"),
      XDG_DATA_HOME: path.join(this.root, "share"),
      XDG_CACHE_HOME: path.join(this.root, "cache"),
      LOOPKEEPER_STATE_DIR: this.state,
      VSCODE_IPC_HOOK_CLI: "",
      CS_DISABLE_GETTING_STARTED_OVERRIDE: "1",
      ...env,
    };
    // The tests may be run by an agent or an editor.
    for (const name of Object.keys(this.env)) if (/^(NODE_TEST_CONTEXT|CLAUDECODE|NODE_OPTIONS|LOOPKEEPER_LANGUAGE)$/.test(name)) delete this.env[name];
  }

  get base() {
    return [tools.codeServer, "--config", path.join(this.root, "config.yaml"), "--user-data-dir", this.data, "--extensions-dir", this.extensions];
  }

  install(vsix) {
    const done = spawnSync(tools.node, [...this.base, "--install-extension", vsix], { env: this.env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${vsix} was not installed: ${done.stdout}${done.stderr}`);
  }

  /** Registers a language pack without a single translation: the editor then has its language, with English texts. */
  speak(locale) {
    const pack = path.join(this.root, "language-pack.json");
    fs.writeFileSync(pack, JSON.stringify({ version: "1.0.0", contents: {} }));
    const extensions = [{ extensionIdentifier: { id: "tests.language-pack" }, version: "1.0.0" }];
    const entry = { hash: "1", label: locale, extensions, translations: { vscode: pack } };
    fs.writeFileSync(path.join(this.data, "languagepacks.json"), JSON.stringify({ [locale]: entry }));
  }

  async serve(trust, locale) {
    const log = path.join(this.root, "log");
    const out = fs.openSync(log, "w");
    const args = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override", "--disable-proxy", "--locale", locale];
    if (!trust) args.push("--disable-workspace-trust");
    this.process = spawn(tools.node, [...this.base, ...args], { env: this.env, stdio: ["ignore", out, out], detached: true });
    fs.closeSync(out);
    const said = () => fs.readFileSync(log, "utf8");
    // A port that was chosen beforehand may be in use by now.
    this.port = await until("code-server listens", () => said().match(/listening on http:\/\/127\.0\.0\.1:(\d+)/)?.[1], said);
    await until("code-server answers", () => fetch(`http://127.0.0.1:${this.port}/healthz`).then((it) => it.ok, () => false), said);
  }
}

/** code-server starts child processes, all in its process group. */
async function endGroup(child) {
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    if (!kill(-child.pid, signal)) return;
    await until("code-server ends", () => !kill(-child.pid, 0), undefined, 5000).catch(() => undefined);
  }
}

function need(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; tests/editors/vscode/run sets it`);
  return value;
}
