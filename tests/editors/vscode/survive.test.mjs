// Disruptions of a window, its server and its extension while a loop runs: the loop continues, and a returning user
// sees its current state.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";
import { descendants, kill, parentOf, serversOf } from "./processes.mjs";
import { Project } from "./project.mjs";
import { until } from "./until.mjs";

let editor;

before(async () => {
  editor = await Editor.start();
});
after(() => editor?.close());

/** A loop in its first iteration, then `accident`, then two more turns until its end, watched in the same window. */
async function through(accident) {
  const project = new Project(editor);
  // The editor may keep the extensions of a closed window for a while in case it is reopened.
  const others = serversOf(editor);
  const servers = () => serversOf(editor).filter((it) => !others.includes(it));
  const window = await editor.open(project.folder, "PROMPT.md");
  try {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 0/3 pass");
    const [before] = project.loops();
    await accident(project, window, servers);
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 2/9 · 2/3 pass");
    const [now] = project.loops();
    assert.deepEqual([now.id, now.keeper.pid], [before.id, before.keeper.pid], "the same loop with the same keeper");
    project.turn(2, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 2");
    assert.equal(project.turns(), 2);
  } finally {
    await window.close();
    project.remove();
  }
}

const alive = (pid) => fs.existsSync(`/proc/${pid}`);
const gone = (pids) => until(`${pids} are gone`, () => !pids.some(alive));
const first = (servers) => until("one server", () => servers()[0]);
const next = (servers, pid) => until("another server", () => servers().find((it) => it !== pid));

test("vscode_survive: the window is reloaded", async () => {
  await through(async (_, window, servers) => {
    const pid = await first(servers);
    await window.reload("PROMPT.md");
    await window.sees("Ralph 1/9 · 0/3 pass");
    await next(servers, pid);
  });
});

test("vscode_survive: the server is killed", async () => {
  await through(async (_project, _window, servers) => {
    const pid = await first(servers);
    kill(pid, "SIGKILL");
    await gone([pid]);
    await next(servers, pid);
  });
});

test("vscode_survive: the server is killed with everything that came from it, as the editor does", async () => {
  await through(async (_project, _window, servers) => {
    const pid = await first(servers);
    const tree = [pid, ...descendants(pid)];
    for (const it of tree) kill(it, "SIGKILL");
    await gone([pid]);
  });
});

test("vscode_survive: the server is restarted from the palette", async () => {
  await through(async (_, window, servers) => {
    const pid = await first(servers);
    await window.palette("Ralph: Restart Server");
    await gone([pid]);
    await window.sees("Ralph 1/9 · 0/3 pass");
  });
});

test("vscode_survive: the keeper does not descend from the server", async () => {
  await through(async (project, _, servers) => {
    const [{ keeper }] = project.loops();
    assert.ok(alive(keeper.pid));
    const above = [];
    for (let it = keeper.pid; it > 1; it = parentOf(it)) above.push(it);
    assert.ok(!above.includes(await first(servers)), String(above));
  });
});

// The last test: afterwards the extension no longer exists.
test("vscode_survive: the extension's folder is removed", async () => {
  await through(async () => {
    fs.rmSync(editor.extensionFolder, { recursive: true });
  });
});
