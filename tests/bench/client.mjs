// Time and memory that the Visual Studio Code client adds to its extension host: the activation beside the start of the
// server, and the memory with twenty working loops beside a host without the client.
//
// usage: tests/bench/client [EDITORS]

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Inside } from "../editors/vscode/inside.mjs";
import { Project } from "../editors/vscode/project.mjs";

const activationLimit = 100;
const memoryLimit = 30;
const loops = 20;
const editors = Number(process.argv[2] ?? 5);

/** Private memory of the extension host in MB, after a collection: pages of the program itself are shared. */
const memory = `
  const { readFileSync } = process.getBuiltinModule("node:fs");
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const collect = process.getBuiltinModule("node:vm").runInNewContext("gc");
  for (let i = 0; i < 3; i++) { collect(); await new Promise((done) => setTimeout(done, 300)); }
  const lines = readFileSync("/proc/self/smaps_rollup", "utf8").matchAll(/^Private_\\w+:\\s+(\\d+) kB/gm);
  const used = process.memoryUsage();
  return { pages: [...lines].reduce((sum, it) => sum + Number(it[1]), 0) / 1024, heap: (used.heapUsed + used.external) / 1048576 };`;

const activation = `
  const client = vscode.extensions.getExtension("loopkeeper.loopkeeper");
  if (client.isActive) throw new Error("the client was activated before the measurement");
  const begin = performance.now();
  await client.activate();
  return performance.now() - begin;`;

let isExceeded = false;
const shareOf = (value, limit, unit) => {
  isExceeded ||= value > limit;
  return `${(value / limit).toFixed(2)} of the limit of ${unit(limit)}`;
};

const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const ms = (value) => `${value.toFixed(0)} ms`;
const mb = (value) => `${value.toFixed(1)} MB`;

/** Milliseconds from the start of a server to the response of its first request. */
function serverStart(inside, folder) {
  const begin = performance.now();
  const server = spawn(process.env.LOOPKEEPER_BINARY, ["--stdio"], { cwd: folder, env: inside.editor.env, stdio: ["pipe", "pipe", "ignore"] });
  const params = { processId: process.pid, capabilities: {}, workspaceFolders: [{ name: "folder", uri: `file://${folder}` }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return new Promise((done, fail) => {
    let time;
    server.stdout.once("data", () => {
      time = performance.now() - begin;
      server.kill("SIGKILL");
    });
    server.once("close", (status) => (time === undefined ? fail(new Error(`the server ended with ${status}`)) : done(time)));
  });
}

/** Times of one activation, in an editor that was never used before: a later window may activate the client by itself. */
async function activateOnce(folder) {
  const inside = await Inside.start();
  try {
    const window = await inside.editor.open(folder);
    // The start of the extension host is over.
    await new Promise((done) => setTimeout(done, 3_000));
    const activated = await inside.ask(activation);
    await window.close();
    return { activated, started: await serverStart(inside, folder) };
  } finally {
    await inside.close();
  }
}

async function measureActivation() {
  // A folder without a task does not activate the client.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-bench-"));
  const times = [];
  for (let i = 0; i < editors; i++) times.push(await activateOnce(folder));
  fs.rmSync(folder, { recursive: true, force: true });
  const [activated, started] = [median(times.map((it) => it.activated)), median(times.map((it) => it.started))];
  const beyond = activated - started;
  console.log(`activation: median ${ms(activated)}, start of the server ${ms(started)}; ${ms(beyond)} beyond it, ${shareOf(beyond, activationLimit, ms)}`);
}

/** Memory of the extension host of a window with twenty folders, each with a working loop. */
async function memoryWithLoops(ours) {
  const inside = await Inside.start({ ours });
  const projects = [];
  try {
    for (let i = 0; i < loops; i++) projects.push(new Project(inside.editor));
    for (const it of projects) it.cli(["run", "--detach"]);
    const workspace = path.join(projects[0].root, "all.code-workspace");
    fs.writeFileSync(workspace, JSON.stringify({ folders: projects.map((it) => ({ path: it.folder })) }));
    const window = await inside.editor.openAll(workspace);
    if (ours) await window.see("all loops in the status bar", () => window.item(), (it) => it?.text.includes(String(loops)));
    await new Promise((done) => setTimeout(done, 10_000));
    const result = await inside.ask(memory);
    await window.close();
    return result;
  } finally {
    for (const it of projects) it.remove();
    await inside.close();
  }
}

async function measureMemory() {
  const [bare, client] = [await memoryWithLoops(false), await memoryWithLoops(true)];
  const beyond = client.pages - bare.pages;
  console.log(`memory with ${loops} working loops: ${mb(client.pages)}, ${mb(bare.pages)} without the client; ${mb(beyond)} beyond it, ${shareOf(beyond, memoryLimit, mb)} (of it JavaScript objects: ${mb(client.heap - bare.heap)})`);
}

await measureActivation();
await measureMemory();
if (isExceeded) {
  console.error("limits exceeded");
  process.exitCode = 1;
}
