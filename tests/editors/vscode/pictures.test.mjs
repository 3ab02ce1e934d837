// The main states in a light theme, in high contrast and in a narrow window, each with a screenshot: failing criteria, a
// loop at work, one that needs its user, one that has ended. What the user has to read is complete in each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Editor } from "./editor.mjs";
import { Project } from "./project.mjs";

const looks = [
  ["light", "Default Light Modern", 1280],
  ["contrast", "Default High Contrast", 1280],
  ["contrast light", "Default High Contrast Light", 1280],
  ["narrow", "Default Dark Modern", 640],
];
const toml = (project) => `agent = "scripted"\n\n[limits]\niterations = 9\n\n[breaker]\nno_progress = 1\nmax_trips = 1\n\n[agents.scripted]\ncommand = ["${project.agentFolder}/agent.sh"]\n`;

for (const [name, theme, width] of looks) {
  test(`vscode_pictures: the main states, ${name}`, async () => {
    const editor = await Editor.start({ settings: { "workbench.colorTheme": theme } });
    const project = new Project(editor, { files: { "greeting.txt": "hello\n" } });
    try {
      project.write("loopkeeper.toml", toml(project));
      const window = await editor.open(project.folder, "PROMPT.md");
      await window.page.setViewportSize({ width, height: 800 });
      if (width < 1000) await window.page.keyboard.press("Control+B");
      await window.sees("Ralph");
      await window.palette("Ralph: Run Checks");
      await window.see("the failing criterion is underlined", () => window.squiggles(), (all) => all.some((it) => it.severity === "warning" && it.line?.startsWith("- It greets")));
      await window.see("its result above it", () => window.lenses(), (all) => all.some((it) => it.includes("✗")));
      await window.picture(`state failing ${name}`);
      await window.palette("Ralph: Start Loop");
      await window.see("the start", () => window.rows(), (rows) => /^\s*Start/.test(rows[0]));
      await window.picture(`state start ${name}`);
      assert.deepEqual(await window.cutLines(), []);
      await window.page.keyboard.press("Enter");
      await window.sees("Ralph 1/9 · 2/3 pass");
      await window.see("its lens", () => window.lenses(), (all) => all.some((it) => it.includes("Working")));
      await window.palette("Ralph: Show Output");
      await window.see("the output", () => window.panel(), (it) => it.includes("turn 1 begins"));
      await window.picture(`state working ${name}`);
      project.turn(1, "true");
      const item = await window.sees("Ralph breaker open");
      assert.equal(item.tone, "error");
      await window.notification("breaker");
      await window.closePanel();
      await window.picture(`state needs you ${name}`);
      await window.palette("Ralph: Show Status");
      await window.see("the list", () => window.rows(), (rows) => rows.length > 3);
      await window.picture(`state list ${name}`);
      assert.deepEqual(await window.hiddenLabels(), []);
      await window.page.keyboard.press("Escape");
      await window.palette("Ralph: Stop Loop Now");
      await window.press("Stop Now");
      await window.sees("Ralph stopped · 1");
      await window.picture(`state ended ${name}`);
      await window.palette("Ralph: Show Dashboard");
      const [track, bar] = await window.see("the bars of the budget", () => window.bars(), (it) => it?.length === 2);
      assert.notEqual(track, bar, "the share that is used up is visible");
      await window.picture(`state dashboard ${name}`);
    } finally {
      project.remove();
      await editor.close();
    }
  });
}
