// A user's path through the real editor with the real server: start, watch, stop, view changes, roll back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";
import { Project, promptText } from "./project.mjs";

let editor;

before(async () => {
  editor = await Editor.start();
});
after(() => editor?.close());

const opened = (options, body) => Project.opened(editor, options, body);

const there = "- The greeting is there: `exists greeting.txt`";
const hello = "- It says hello: `has \"hello\" greeting.txt`";
const world = "- It greets the world: `$ grep -q world greeting.txt`";

const title = "# Make the greeting right";

/** Squiggles of this severity, by line; the summary under the title appears in each. */
const under = (severity) => (all) => all.filter((it) => it.severity === severity && it.line !== title).map((it) => it.line);
const lines = (window, severity, expected) =>
  window.see(`${severity} squiggles under ${expected.join(" and ") || "nothing"}`, async () => [...new Set(under(severity)(await window.squiggles()))], (it) => it.length === expected.length && expected.every((line) => it.includes(line)));

/** Waits for the loop's confirmation: a pending command would apply to the next iteration. */
const pauses = async (window) => {
  await window.palette("Ralph: Pause After This Iteration");
  await window.see("a lens that says so", () => window.lenses(), (all) => all.some((it) => it.includes("Pausing")));
};

test("vscode_loop: from the palette through the trust question to done", async () => {
  await opened({ trusted: false }, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    const question = await window.notification("you have not trusted yet");
    assert.deepEqual(question.buttons, ["Show commands", "Trust and start", "Not now"]);
    assert.equal(project.turns(), 0);
    await window.press("Show commands");
    await window.see("the page", () => window.tabs(), (all) => all.some((it) => it.includes("Commands to trust")));
    const page = await window.see("its text", () => window.text(), (it) => it.includes("Commands that "));
    assert.match(page, /would run in .*\n\d commands, none of them trusted yet\./);
    assert.match(page, /check +PROMPT\.md:\d+ +"[^"]+"\n/);
    // The answers stay with the page, so the user need not look under the bell.
    await window.dismiss();
    await window.see("the answers", () => window.lenses(), (all) => all.some((it) => it.includes("Trust and start") && it.includes("Not now")));
    assert.deepEqual(await window.titleActions(), ["Trust These Commands", "Do Not Trust These Commands"]);
    await window.picture("trust page of a start");
    assert.equal(project.turns(), 0);
    await window.clickLens("Trust and start");
    const item = await window.sees("Ralph 1/9 · 0/3 pass");
    assert.equal(item.icon.split("~")[0], "sync");
    await window.page.locator('.tab[data-resource-name="PROMPT.md"]').click();
    await lines(window, "info", [there, hello, world]);
    await window.picture("working dark");
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 2/9 · 2/3 pass");
    await lines(window, "info", [world]);
    project.turn(2, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 2");
    await lines(window, "info", []);
    await lines(window, "warning", []);
    await window.notification("verified");
    await window.picture("done dark");
  });
});

test("vscode_loop: stopped from the palette after its iteration", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 0/3 pass");
    await window.palette("Ralph: Stop Loop");
    await window.sees("Ralph 1/9 · stopping");
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph stopped · 1");
    await lines(window, "warning", [world]);
    assert.equal(project.turns(), 1);
  });
});

test("vscode_loop: a check that is fixed by hand loses its squiggle", async () => {
  await opened({ files: { "greeting.txt": "hello\n" } }, async (project, window) => {
    await window.sees("Ralph");
    await window.palette("Ralph: Run Checks");
    await lines(window, "warning", [world]);
    project.write("greeting.txt", "hello world\n");
    await window.palette("Ralph: Run Checks");
    await lines(window, "warning", []);
    await window.see("a lens that says so", () => window.lenses(), (all) => all.filter((it) => it.includes("✓ pass")).length === 3);
  });
});

test("vscode_loop: the changes of an iteration and the way back to one", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    project.turn(1, "echo hello > greeting.txt; echo notes > notes.txt");
    project.turn(2, "echo hello world > greeting.txt");
    await window.startLoop();
    await window.sees("Ralph done · 2");
    await window.palette("Ralph: Show Changes of Iteration");
    await window.pick("Iteration 1");
    await window.see("the changes", () => window.tabs(), (all) => all.some((it) => it.includes("changes of iteration 1")));
    await window.picture("changes dark");
    await window.palette("Ralph: Show Changes of Iteration");
    await window.pick("Iteration 2");
    await window.see("the changes", () => window.tabs(), (all) => all.some((it) => it.includes("greeting.txt (iteration 2)")));
    await window.see("both sides", () => window.text(), (it) => /^hello$/m.test(it) && /^hello world$/m.test(it));
    await window.palette("Ralph: Roll Back to Iteration");
    await window.pick("Iteration 1");
    await window.pick("Roll Back to Iteration 1");
    await window.notification("Rolled back to iteration 1: 1 file written, 0 files removed.");
    assert.equal(project.read("greeting.txt"), "hello\n");
    await window.palette("Ralph: Roll Back to Iteration");
    await window.pick("Start");
    await window.pick("Roll Back to the Start");
    await window.notification("Rolled back to the start: 0 files written, 2 files removed.");
    assert.equal(project.read("greeting.txt"), undefined);
  });
});

test("vscode_loop: paused, steered and resumed", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 0/3 pass");
    await pauses(window);
    await window.palette("Ralph: Steer");
    await window.answer("Greet the whole world");
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 1/9");
    await window.palette("Ralph: Resume");
    await window.sees("Ralph 2/9 · 2/3 pass");
    project.turn(2, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 2");
    assert.match(project.cli(["log", "--json"]), /Greet the whole world/);
  });
});

test("vscode_loop: what the agent weakened is put back by one action", async () => {
  const sum = "def test_sum():\n    assert 1 + 2 == 3\n";
  // The work that the test requires is not done: without the test nothing requires it.
  const task = `${promptText}- Sums are right: \`$ ! test -e tests/test_sum.py || test -e sum.txt\`\n`;
  await opened({ files: { "PROMPT.md": task, "tests/test_sum.py": sum } }, async (project, window) => {
    await window.sees("Ralph");
    project.turn(1, "rm tests/test_sum.py; echo hello world > greeting.txt");
    project.turn(2, "true");
    await window.startLoop();
    await window.sees("Ralph needs you");
    const told = await window.notification("lost 1 test");
    assert.deepEqual(told.buttons, ["Restore", "Accept", "Show output"]);
    await window.fix("weakened: tests/test_sum.py lost 1 test", "Restore");
    await window.see("the test to be back", () => project.read("tests/test_sum.py"), (it) => it === sum);
    project.turn(3, "touch sum.txt");
    await window.palette("Ralph: Resume");
    await window.sees("Ralph done · 3");
    assert.ok(!(await window.problems()).some((it) => it.includes("lost 1 test")));
  });
});

test("vscode_loop: the output of a loop at work", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 0/3 pass");
    await window.palette("Ralph: Show Output");
    await window.see("what came before", () => window.panel(), (it) => it.includes("Checks before iteration 1: 0 of 3 pass") && it.includes("turn 1 begins"));
    await window.palette("Ralph: Steer");
    await window.answer("mind the greeting");
    await window.see("the hint", () => window.panel(), (it) => it.includes("» You: mind the greeting"));
    project.turn(1, "printf '\\033[32mgreen\\033[0m\\n'; echo said by the agent; echo hello > greeting.txt");
    await window.see("the words and the checks after them", () => window.panel(), (it) => it.includes("said by the agent") && it.includes("Checks: 2 of 3 pass") && it.includes("read now: mind the greeting"));
    await window.picture("output of a loop");
    project.turn(2, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 2");
    await window.see("the end", () => window.panel(), (it) => it.includes("Checks: 3 of 3 pass") && it.includes("✓ Completed"));
  });
});

test("vscode_loop: the dashboard of a loop is a page without scripts", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 0/3 pass");
    project.turn(1, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 1");
    await window.press("Review all changes");
    await window.see("the changes", () => window.tabs(), (all) => all.some((it) => it.includes("greeting.txt (the loop)")));
    await window.palette("Ralph: Show Dashboard");
    await window.see("the page", () => window.webviews(), (it) => it.includes("Criteria over iterations") && it.includes("1 of 9"));
    await window.picture("dashboard");
  });
});

test("vscode_loop: an open dashboard follows its loop to the end", async () => {
  await opened({ files: { "greeting.txt": "hi\n" } }, async (project, window) => {
    await window.sees("Ralph");
    await window.startLoop();
    await window.sees("Ralph 1/9 · 1/3 pass");
    await window.palette("Ralph: Show Dashboard");
    await window.see("the loop at work", () => window.webviews(), (it) => it.includes("Working: iteration 1/9") && it.includes(" UTC."));
    project.turn(1, "echo hello > greeting.txt");
    await window.see("its next iteration", () => window.webviews(), (it) => it.includes("Working: iteration 2/9") && it.includes("2 of 3 criteria pass"));
    project.turn(2, "echo hello world > greeting.txt");
    await window.see("its end", () => window.webviews(), (it) => it.includes("Completed, verified"));
    await window.picture("dashboard followed");
  });
});

test("vscode_loop: the iteration at work is a row without files, and no error", async () => {
  await opened({ files: { "greeting.txt": "hi\n" } }, async (project, window) => {
    await window.sees("Ralph");
    project.turn(1, "echo hello > greeting.txt");
    await window.startLoop();
    await window.sees("Ralph 2/9 · 2/3 pass");
    await window.page.locator(".activitybar .action-label[aria-label^='Ralph']").click();
    await window.expandLoop("2/9 · 2 of 3 pass");
    const rows = await window.see("the iterations", () => window.loops(), (all) => all.some((it) => it.startsWith("Iteration 1")));
    assert.ok(rows.some((it) => it === "Iteration 2at work"), String(rows));
    assert.equal(await window.page.locator(".part.sidebar .monaco-list-row", { hasText: "Iteration 2" }).locator(".monaco-tl-twistie.collapsible").count(), 0);
    await window.expandLoop("Iteration 1");
    await window.see("its file", () => window.loops(), (all) => all.some((it) => it.startsWith("greeting.txt")));
    assert.deepEqual(await window.notifications(), []);
    // A list of actions for a loop at work leads to everything that is known of it.
    await window.palette("Ralph: Show Status");
    const offered = await window.see("the actions", () => window.rows(), (all) => all.length > 6);
    for (const it of ["Pause After This Iteration", "Stop Loop", "Steer…", "Show Output", "Review All Changes", "Show Dashboard"]) assert.ok(offered.some((row) => row.trim().startsWith(it)), `${it}: ${offered.join("|")}`);
    await window.picture("loop actions");
    await window.page.keyboard.press("Escape");
  });
});

test("vscode_loop: two windows on one folder show the same", async () => {
  await opened({}, async (project, window) => {
    const other = await editor.open(project.folder, "PROMPT.md");
    // A page is drawn while it is in front.
    const both = async (text) => {
      for (const it of [window, other]) {
        await it.page.bringToFront();
        await it.sees(text);
      }
    };
    await both("Ralph");
    await window.page.bringToFront();
    await window.startLoop();
    await both("Ralph 1/9 · 0/3 pass");
    project.turn(1, "echo hello > greeting.txt");
    await both("Ralph 2/9 · 2/3 pass");
    await other.palette("Ralph: Stop Loop");
    await both("Ralph 2/9 · stopping");
    project.turn(2, "true");
    await both("Ralph stopped · 2");
    await other.close();
  });
});

test("vscode_loop: a loop of the terminal shows in the window, and the other way round", async () => {
  await opened({}, async (project, window) => {
    await window.sees("Ralph");
    project.cli(["run", "--detach"]);
    await window.sees("Ralph 1/9 · 0/3 pass");
    await pauses(window);
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 1/9");
    project.cli(["resume"]);
    await window.sees("Ralph 2/9 · 2/3 pass");
    project.cli(["stop", "--now"]);
    await window.sees("Ralph stopped · 2");
  });
});
