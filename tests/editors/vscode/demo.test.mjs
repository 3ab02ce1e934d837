// The first steps in the README: keep the demo, open it and start it from the palette, in a light and in a dark theme,
// with a screenshot of each.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { Editor } from "./editor.mjs";
import { longest } from "./until.mjs";

for (const [name, theme] of [["dark", "Default Dark Modern"], ["light", "Default Light Modern"]]) {
  test(`vscode_demo: from failing to done, ${name}`, async () => {
    const editor = await Editor.start({ settings: { "workbench.colorTheme": theme, "workbench.activityBar.location": "hidden" } });
    const folder = path.join(editor.root, "ralph-demo");
    try {
      execFileSync(process.env.LOOPKEEPER_BINARY, ["demo", "--keep", folder], { env: { ...process.env, ...editor.env }, stdio: "ignore", timeout: longest });
      const window = await editor.open(folder, "PROMPT.md");
      await window.page.setViewportSize({ width: 1100, height: 640 });
      // The loop that the demo itself ran is history: the files are as they were before it.
      await window.sees("Ralph");
      await window.startLoop();
      await window.notification("you have not trusted yet");
      await window.press("Trust and start");
      const face = async () => ({ item: await window.item(), squiggles: await window.squiggles(), lenses: await window.lenses() });
      const working = ({ item, squiggles, lenses }) =>
        /^Ralph [1-4]\/8 · [1-4]\/5 pass$/.test(item?.text) &&
        squiggles.some((it) => it.severity === "info" && it.line?.startsWith("- The tests pass")) &&
        ["✓", "✗"].every((mark) => lenses.some((it) => it.includes(mark)));
      await window.see("the counter, a squiggle and results while it works", face, working);
      await window.picture(`demo working ${name}`);
      await window.sees("Ralph done · 4");
      const note = await window.notification("verified");
      assert.ok(note.buttons.length > 0);
      await window.see("no squiggle under a criterion", () => window.squiggles(), (all) => !all.some((it) => it.line?.startsWith("- ")));
      await window.picture(`demo done ${name}`);
    } finally {
      await editor.close();
    }
  });
}
