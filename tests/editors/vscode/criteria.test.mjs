// Criteria in the Testing view: a run of all, and the result of each.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";
import { Project } from "./project.mjs";

let editor;

before(async () => {
  editor = await Editor.start();
});
after(() => editor?.close());

const opened = (options, body) =>
  Project.opened(editor, options, async (project, window) => {
    await window.sees("Ralph");
    await window.palette("Testing: Focus on Test Explorer View");
    await window.see("the task", () => window.tests(), (all) => all.some((it) => it.includes("Make the greeting right")));
    await window.page.locator(".test-explorer .monaco-list-row .monaco-tl-twistie").first().click();
    await window.see("the criteria", () => window.tests(), (all) => all.some((it) => it.includes("It greets the world")));
    await body(project, window);
  });

test("vscode_criteria: all run, and each has its result", async () => {
  await opened({ files: { "greeting.txt": "hello\n" } }, async (_, window) => {
    await window.palette("Test: Run All Tests");
    const all = await window.see("the results", () => window.tests(), (it) => it.some((row) => /It greets the world.*Failed/i.test(row)) && it.filter((row) => /Passed/i.test(row)).length >= 2);
    assert.ok(all.some((row) => /It says hello.*Passed/i.test(row)), String(all));
    await window.picture("criteria run");
  });
});

const compared = `# Make the greeting right

## Done when

- The greeting is long: \`$ wc -c < greeting.txt\` \`>= 80\`
- It prints a name: \`$ cat greeting.txt\` \`/name: \\w+/\`
- It says hello: \`has "hello" greeting.txt\`
`;

const shown = (options, body) =>
  Project.opened(editor, { ...options, files: { "PROMPT.md": compared, "greeting.txt": "hello\n", ...options.files } }, async (project, window) => {
    await window.sees("Ralph");
    await window.see("an icon beside each criterion and the task", () => window.testIcons(), (all) => all.length >= 4);
    await body(project, window);
  });

test("vscode_criteria: the icon beside a criterion runs that one alone, and its failure shows both sides", async () => {
  await shown({}, async (project, window) => {
    // The editor redraws the icons, and for a moment some are missing.
    const states = async (...expected) => window.see(`icons ${expected.join(", ")}`, () => window.testIcons(), (all) => expected.every((state, at) => all.find((it) => it.line.startsWith(names[at]))?.state === state));
    const names = ["- The greeting is long", "- It prints a name", "- It says hello"];
    await states("run", "run", "run");
    await window.clickTestIcon("- The greeting is long");
    await states("failed", "run", "run");
    await window.openFailure("6 != a number >= 80");
    await window.see("both sides", () => window.peek(), (it) => ["a number >= 80", "Expected", "Actual"].every((part) => it.includes(part)));
    await window.picture("criterion comparison");
    await window.see("no failure within the editor", async () => {
      await window.page.keyboard.press("Escape");
      return (await window.peek()) === "";
    });
    await window.clickTestIcon("- It prints a name");
    await window.openFailure("hello != a match of /name");
    const found = await window.see("what was sought and what was printed", () => window.peek(), (it) => it.includes("a match of /name") && it.includes("Expected"));
    assert.match(found, /hello/);
    await window.picture("criterion pattern");
  });
});

test("vscode_criteria: a continuous run runs again after a save, and is switched off", async () => {
  await shown({}, async (project, window) => {
    await window.palette("Test: Start Continuous Run");
    await window.see("the failures", () => window.testIcons(), (all) => all.filter((it) => it.state === "failed").length >= 2);
    await window.page.keyboard.press("Escape");
    project.write("greeting.txt", `hello\nname: world\n${"x".repeat(99)}\n`);
    // The user saves a file: the task itself.
    await window.write("x");
    await window.palette("File: Save");
    await window.see("all pass", () => window.testIcons(), (all) => all.length >= 4 && all.every((it) => it.state === "passed"));
    await window.palette("Test: Stop Continuous Run");
    await window.picture("criteria continuous");
  });
});

test("vscode_criteria: a cancelled run ends its check, and the next one works", async () => {
  const slow = compared.replace("$ cat greeting.txt", "$ touch begun; until [ -e go ]; do sleep 0.1; touch beat; done; cat greeting.txt");
  await shown({ files: { "PROMPT.md": slow } }, async (project, window) => {
    await window.clickTestIcon("- It prints a name");
    await window.see("it runs", () => window.testIcons(), (all) => all.some((it) => it.state === "running"));
    await window.see("its check runs", async () => project.read("begun") ?? "none", (it) => it !== "none");
    await window.palette("Test: Cancel Test Run");
    await window.see("it does not run", () => window.testIcons(), (all) => !all.some((it) => it.state === "running"));
    // A check that still ran would leave its mark again, and keep the next one from its tree.
    await window.see("the check has ended", async () => {
      fs.rmSync(path.join(project.folder, "beat"), { force: true });
      await new Promise((done) => setTimeout(done, 500));
      return project.read("beat") === undefined;
    }, (it) => it);
    await window.sees("Ralph");
    await window.clickTestIcon("- It says hello");
    await window.see("it passes", () => window.testIcons(), (all) => all.some((it) => it.line.startsWith("- It says hello") && it.state === "passed"));
  });
});

test("vscode_criteria: a run that waits for checks in a terminal is cancelled at once, and those go on", async () => {
  const slow = compared.replace("$ cat greeting.txt", "$ touch beat; until [ -e go ]; do sleep 0.1; done; cat greeting.txt");
  await shown({ files: { "PROMPT.md": slow } }, async (project, window) => {
    const terminal = spawn(process.env.LOOPKEEPER_BINARY, ["check"], { cwd: project.folder, env: { ...process.env, ...editor.env }, stdio: "ignore" });
    const ended = new Promise((done) => terminal.once("exit", done));
    await window.see("the checks in the terminal", async () => project.read("beat") ?? "none", (it) => it !== "none");
    await window.clickTestIcon("- It prints a name");
    await window.see("it runs", () => window.testIcons(), (all) => all.some((it) => it.state === "running"));
    await window.palette("Test: Cancel Test Run");
    await window.see("it does not run", () => window.testIcons(), (all) => !all.some((it) => it.state === "running"));
    assert.equal(terminal.exitCode, null, "the checks in the terminal still run");
    project.write("go", "");
    await ended;
    fs.rmSync(path.join(project.folder, "beat"));
    await new Promise((done) => setTimeout(done, 1500));
    assert.equal(project.read("beat"), undefined, "no checks were started after them");
  });
});

test("vscode_criteria: the runs of a loop appear without taking the focus", async () => {
  await Project.opened(editor, {}, async (project, window) => {
    await window.sees("Ralph");
    await window.focus();
    project.cli(["run", "--detach"]);
    await window.sees("Ralph 1/9 · 0/3 pass");
    project.turn(1, "echo hello > greeting.txt");
    await window.sees("Ralph 2/9 · 2/3 pass");
    await window.see("the results beside the criteria", () => window.testIcons(), (all) => all.filter((it) => it.state === "passed").length >= 2 && all.some((it) => it.state === "failed"));
    assert.equal(await window.peek(), "", "nothing is opened");
    assert.equal(await window.page.locator(".part.panel").isVisible(), false);
    assert.ok(await window.page.evaluate(() => document.querySelector(".monaco-editor.focused") !== null), "the editor has the focus");
    await window.picture("criteria of a loop");
    await window.palette("Test Results: Focus on Test Results View");
    await window.see("the run has the name of the iteration", () => window.page.evaluate(() => document.querySelector(".part.panel")?.textContent ?? ""), (it) => it.includes("Make the greeting right #1"));
    project.turn(2, "echo hello world > greeting.txt");
    await window.sees("Ralph done · 2");
  });
});
