// The ten main states equal their recorded screenshots, in `pictures`. To record them again, run
// `LOOPKEEPER_BLESS=1 tests/editors/vscode/run vscode_screenshots` and review each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Editor } from "./editor.mjs";
import { difference, differenceFromRecorded, recordedPicture, steadyScreenshot, tolerance } from "./screenshots.mjs";
import { Project } from "./project.mjs";
import { until } from "./until.mjs";

const settings = { "editor.cursorBlinking": "solid", "breadcrumbs.enabled": false, "workbench.layoutControl.enabled": false };
const toml = (project) => `agent = "scripted"\n\n[limits]\niterations = 9\n\n[breaker]\nno_progress = 1\nmax_trips = 1\n\n[agents.scripted]\ncommand = ["${project.agentFolder}/agent.sh"]\n`;

test("vscode_screenshots: the ten main states look as recorded", async () => {
  const editor = await Editor.start({ settings });
  const project = new Project(editor, { trusted: false, files: { "greeting.txt": "hi\n" } });
  const differences = {};
  try {
    project.write("loopkeeper.toml", toml(project));
    const window = await editor.open(project.folder, "PROMPT.md");
    await window.page.setViewportSize({ width: 1000, height: 640 });
    const decoder = await editor.browser.newPage();
    await window.page.bringToFront();
    const state = async (name) => {
      await window.page.mouse.move(500, 2);
      const isRecorded = async () => {
        differences[name] = await differenceFromRecorded(decoder, name, await steadyScreenshot(decoder, window.page));
        return differences[name] <= tolerance;
      };
      // Toasts fade in, and the row under the mouse is redrawn.
      await until(`the state ${name} as recorded`, isRecorded, undefined, 30_000).catch(() => undefined);
      await window.picture(`recorded ${name}`);
    };
    await window.see("lenses", () => window.lenses(), (all) => all.some((it) => it.includes("needs trust")));
    await state("untrusted");
    await window.palette("Ralph: Start Loop");
    await window.see("the start", () => window.rows(), (rows) => /^\s*Start/.test(rows[0]));
    await state("start");
    await window.page.keyboard.press("Enter");
    await window.notification("you have not trusted yet");
    await state("question");
    await window.press("Show commands");
    await window.see("the commands", () => window.text(), (it) => it.includes("agent.sh"));
    await state("commands");
    await window.page.locator(".editor-actions .codicon-verified").first().click();
    await window.sees("Ralph 1/9 · 1/3 pass");
    await window.see("the lens", () => window.lenses(), (all) => all.some((it) => it.includes("Working")));
    await state("working");
    await window.palette("Ralph: Show Output");
    await window.see("the output", () => window.panel(), (it) => it.includes("turn 1 begins"));
    await state("output");
    await window.closePanel();
    await window.page.locator(".activitybar .action-label[aria-label^='Ralph']").click();
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 2/9 · 2/3 pass");
    await window.expandLoop("2/9");
    await window.see("the iterations", () => window.loops(), (all) => all.some((it) => it.startsWith("Iteration 1")));
    await state("loops");
    project.turn(2, "true");
    await window.sees("Ralph breaker open");
    await window.notification("breaker");
    await state("breaker");
    await window.dismiss();
    project.turn(3, "echo hello world > greeting.txt");
    await window.palette("Ralph: Reset Breaker");
    await window.sees("Ralph done · 3");
    await window.notification("verified");
    await state("ended");
    await window.dismiss();
    await window.palette("Ralph: Show Dashboard");
    await window.see("the page", () => window.webviews(), (it) => it.includes("Completed, verified"));
    await state("dashboard");
    const names = Object.keys(differences);
    assert.equal(names.length, 10);
    assert.deepEqual(names.filter((it) => differences[it] > tolerance), [], JSON.stringify(differences));
    // Each picture differs from that of the state before it.
    for (let at = 1; at < names.length; at += 1) {
      const [one, other] = [names[at - 1], names[at]];
      const share = await difference(decoder, recordedPicture(one), recordedPicture(other));
      assert.ok(share > 2 * tolerance, `${one} and ${other} differ in ${share}`);
    }
  } finally {
    project.remove();
    await editor.close();
  }
});
