// Malicious folders. Each tries to get its own program run, which would write to the mark file, or to get its text interpreted.
// Creates them; the tests check the effects.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Text that tries to be a link, an icon, an element, a colour, or in another order. */
export const evil = "[quit](command:workbench.action.quit) $(bell) <img src=x onerror=alert(1)> \u001b[31mred\u001b]0;t\u0007 \u202edrow\u2066";

export class Traps {
  constructor(root) {
    this.root = root;
    this.mark = path.join(root, "trapped");
    this.script = path.join(root, "trap.sh");
    this.program(this.script);
    this.folders = Object.entries(all).map(([name, create]) => {
      const folder = path.join(root, "folders", name);
      fs.mkdirSync(folder, { recursive: true });
      this.write(folder, "PROMPT.md", this.task(name));
      this.write(folder, "loopkeeper.toml", `agent = "mine"\n[agents.mine]\ncommand = ["sh", "-c", "${this.script}"]\n`);
      create(this, folder);
      return folder;
    });
    // The workspace's settings are in each folder and in the workspace file.
    this.workspace = path.join(root, "all.code-workspace");
    fs.writeFileSync(this.workspace, JSON.stringify({ folders: this.folders.map((it) => ({ path: it })), settings: this.settings() }));
  }

  settings() {
    return { "loopkeeper.server.path": this.script, loopkeeper: { server: { path: this.script } }, "loopkeeper.trace.server": "off" };
  }

  task(title, more = "") {
    return `# ${title}\n\n## Done when\n\n- It is: \`$ ${this.script}\`\n- It was: \`$ touch PWNED\`\n${more}`;
  }

  write(folder, name, text) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }

  program(file) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `#!/bin/sh\necho "$0" >> '${this.mark}'\n`, { mode: 0o755 });
  }

  git(folder, config, ...args) {
    execFileSync("git", ["init", "-q", ...args, folder], { env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } });
    const file = path.join(folder, args.includes("--bare") ? "config" : ".git/config");
    fs.appendFileSync(file, config.replaceAll("TRAP", this.script));
  }

  instead(folder, name, create) {
    fs.rmSync(path.join(folder, name), { force: true });
    create(path.join(folder, name));
  }

  /** Programs that ran although they must not. */
  executed() {
    const made = fs.readdirSync(this.root, { recursive: true }).map(String).filter((it) => path.basename(it) === "PWNED");
    return [...made, ...(fs.existsSync(this.mark) ? fs.readFileSync(this.mark, "utf8").trim().split("\n") : [])];
  }

  /** Task and plan files that an editor can open: regular files of a reasonable size. */
  documents() {
    return this.folders.flatMap((folder) => fs.readdirSync(folder, { withFileTypes: true })
      .filter((it) => it.isFile() && /\.md$|^prd\.json$|^loopkeeper\.toml$/.test(it.name) && fs.statSync(path.join(folder, it.name)).size < 1e6)
      .map((it) => path.join(folder, it.name)));
  }
}

const fifo = (file) => execFileSync("mkfifo", [file]);
const link = (target) => (file) => fs.symlinkSync(target, file);
const git = (config) => (traps, folder) => traps.git(folder, config);

const all = {
  "fsmonitor": git("[core]\n\tfsmonitor = TRAP\n"),
  "pager, editor, diff": git("[core]\n\tpager = TRAP\n\teditor = TRAP\n[diff]\n\texternal = TRAP\n"),
  "ssh command, credentials": git("[core]\n\tsshCommand = TRAP\n[credential]\n\thelper = TRAP\n[remote \"origin\"]\n\turl = ext::TRAP\n"),
  "alias": git("[alias]\n\tstatus = !TRAP\n\tdiff = !TRAP\n\trev-parse = !TRAP\n"),
  "filters": (traps, folder) => {
    traps.git(folder, "[filter \"x\"]\n\tclean = TRAP\n\tsmudge = TRAP\n\tprocess = TRAP\n[diff \"x\"]\n\ttextconv = TRAP\n");
    traps.write(folder, ".gitattributes", "* filter=x diff=x\n");
  },
  "hooks": (traps, folder) => {
    traps.git(folder, "[core]\n\thooksPath = hooks\n");
    for (const it of ["post-checkout", "post-index-change", "reference-transaction"]) {
      for (const where of ["hooks", ".git/hooks"]) traps.program(path.join(folder, where, it));
    }
  },
  "included": (traps, folder) => {
    traps.git(folder, "[include]\n\tpath = ../more\n");
    traps.write(folder, "more", `[core]\n\tfsmonitor = ${traps.script}\n`);
  },
  "nested repository": (traps, folder) => {
    traps.git(folder, "");
    traps.git(path.join(folder, "below"), "[core]\n\tfsmonitor = TRAP\n");
    traps.write(folder, "below/PROMPT.md", traps.task("below"));
  },
  "bare repository": (traps, folder) => traps.git(folder, "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = TRAP\n", "--bare"),
  "repository elsewhere": (traps, folder) => {
    traps.git(path.join(folder, "evil"), "[core]\n\tfsmonitor = TRAP\n\tworktree = /\n");
    traps.write(folder, ".git", "gitdir: evil/.git\n");
  },
  "settings": (traps, folder) => traps.write(folder, ".vscode/settings.json", JSON.stringify({ "loopkeeper.server.path": traps.script })),
  "settings, nested": (traps, folder) => traps.write(folder, ".vscode/settings.json", JSON.stringify({ loopkeeper: { server: { path: traps.script } } })),
  "editor tasks": (traps, folder) => {
    const task = { label: "x", type: "shell", command: traps.script, runOptions: { runOn: "folderOpen" } };
    traps.write(folder, ".vscode/tasks.json", JSON.stringify({ version: "2.0.0", tasks: [task] }));
  },
  "ralphrc": (traps, folder) => traps.write(folder, ".ralphrc", `X=$(${traps.script})\n\`${traps.script}\`\n. ${traps.script}\n`),
  "agents": (traps, folder) => traps.write(folder, "loopkeeper.toml", `agent = "x"\n[agents.x]\ncommand = ["${traps.script}"]\n[env]\nset = { PATH = ".", LD_PRELOAD = "./evil.so" }\n`),
  "claude's hooks": (traps, folder) => {
    const hooks = [{ hooks: [{ type: "command", command: traps.script }] }];
    traps.write(folder, ".claude/settings.json", JSON.stringify({ hooks: { SessionStart: hooks }, apiKeyHelper: traps.script }));
    traps.write(folder, ".mcp.json", JSON.stringify({ mcpServers: { x: { command: traps.script } } }));
  },
  "front matter": (traps, folder) => traps.write(folder, "PROMPT.md", `---\ntest_command: ${traps.script}\nagent: ${traps.script}\ncommands:\n  - ${traps.script}\n---\n${traps.task("Front matter")}`),
  "stories": (traps, folder) => {
    const story = { id: "1", title: evil, acceptanceCriteria: [`\`$ ${traps.script}\``], priority: 1, passes: false };
    traps.write(folder, "prd.json", JSON.stringify({ userStories: [story], qualityGates: [traps.script] }));
  },
  "programs of known names": (traps, folder) => {
    for (const it of ["git", "sh", "claude", "codex", "bwrap", "loopkeeper", "loopkeeper-keeper", "rg"]) {
      for (const where of ["", "bin", "node_modules/.bin", "server"]) traps.program(path.join(folder, where, it));
    }
  },
  "names": (traps, folder) => {
    for (const it of ["\u001b[2J", "a\nb", "\u202edm", "--help", "$(touch PWNED)", "`touch PWNED`", "[x](command:y)"]) {
      traps.write(folder, `${it}.ralph.md`, traps.task(it.replaceAll("\n", " ")));
    }
  },
  "folder \u202e\u001b[31m $(bell) [x](command:y)": () => undefined,
  "text": (traps, folder) => {
    const more = `- ${evil}: \`$ true # \u202ehs.part\u2066\`\n- ${evil} again: \`has "${evil}" PROMPT.md\`\n`;
    traps.write(folder, "PROMPT.md", traps.task(`${evil} \`[x](command:y) $(bell)\``, more));
  },
  "a link that leads out": (traps, folder) => traps.instead(folder, "PROMPT.md", link("/etc/passwd")),
  "a link without end": (traps, folder) => {
    for (const it of ["PROMPT.md", "prd.json", ".gitignore", ".ralphrc"]) traps.instead(folder, it, link("/dev/zero"));
  },
  "a task that waits": (traps, folder) => traps.instead(folder, "PROMPT.md", fifo),
  "a configuration that waits": (traps, folder) => {
    for (const it of ["loopkeeper.toml", ".ralphrc", "fix_plan.md"]) traps.instead(folder, it, fifo);
  },
  "a huge task": (traps, folder) => traps.write(folder, "PROMPT.md", traps.task("Huge", "- It is: `$ touch PWNED`\n".repeat(200_000))),
  "context that leads out": (traps, folder) => traps.write(folder, "PROMPT.md", traps.task("Context", "\nCONTEXT:\n\n- ../../../../etc/passwd\n- /dev/zero\n")),
};
