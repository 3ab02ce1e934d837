// A small project whose agent is controlled by the test, turn by turn: it waits for the script of its turn, which runs
// in the project's folder. The files shared by test and agent are outside the project.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { longest } from "./until.mjs";

const program = process.env.LOOPKEEPER_BINARY;

export const promptText = `# Make the greeting right

## Done when

- The greeting is there: \`exists greeting.txt\`
- It says hello: \`has "hello" greeting.txt\`
- It greets the world: \`$ grep -q world greeting.txt\`
`;

export class Project {
  constructor(editor, { trusted = true, files = {} } = {}) {
    this.editor = editor;
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-project-"));
    this.folder = path.join(this.root, "project");
    this.agentFolder = path.join(this.root, "agent");
    fs.mkdirSync(this.agentFolder);
    fs.mkdirSync(this.folder);
    this.write("PROMPT.md", promptText);
    this.write("loopkeeper.toml", `agent = "scripted"\n\n[limits]\niterations = 9\n\n[agents.scripted]\ncommand = ["${this.agentFolder}/agent.sh"]\n`);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    fs.writeFileSync(path.join(this.agentFolder, "count"), "0");
    fs.writeFileSync(path.join(this.agentFolder, "agent.sh"), agent(this.agentFolder), { mode: 0o755 });
    if (trusted) this.cli(["trust", "PROMPT.md"], "y\n");
  }

  /** Runs `body` with a project and a window on it. */
  static async opened(editor, options, body) {
    const project = new Project(editor, options);
    const window = await editor.open(project.folder, "PROMPT.md");
    try {
      await body(project, window);
    } finally {
      await window.close();
      project.remove();
    }
  }

  write(name, text) {
    fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    fs.writeFileSync(path.join(this.folder, name), text);
  }

  read(name) {
    const file = path.join(this.folder, name);
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
  }

  /** Sets the agent's script for its `number`th start. */
  turn(number, script) {
    const file = path.join(this.agentFolder, `turn-${number}`);
    fs.writeFileSync(`${file}.new`, `${script}\n`);
    fs.renameSync(`${file}.new`, file);
  }

  /** Number of starts of the agent. */
  turns() {
    return Number(fs.readFileSync(path.join(this.agentFolder, "count"), "utf8"));
  }

  cli(args, input = "") {
    return execFileSync(program, args, { input, stdio: ["pipe", "pipe", "pipe"], cwd: this.folder, env: { ...process.env, ...this.editor.env }, encoding: "utf8", timeout: longest });
  }

  /** Runs a command that must end with this exit code. */
  fails(args, code) {
    try {
      this.cli(args);
    } catch (error) {
      if (error.status === code) return;
      throw error;
    }
    throw new Error(`${args.join(" ")} should end with ${code}, not with 0`);
  }

  loops() {
    return JSON.parse(this.cli(["status", "--json"])).loops;
  }

  /** Ends all remaining processes, so that none outlives its test. */
  remove() {
    for (const it of this.loops()) if (it.state !== "done") this.cli(["stop", "--now", it.id]);
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

function agent(folder) {
  return `#!/bin/sh
n=$(($(cat '${folder}/count') + 1))
echo "$n" > '${folder}/count'
echo "turn $n begins"
until [ -e '${folder}/turn-'"$n" ]; do sleep 0.1; done
. '${folder}/turn-'"$n"
echo "turn $n ends"
`;
}
