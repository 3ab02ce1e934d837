// The editor in Simplified Chinese: every place where we show text, in one loop. Names, files and output of the agent are
// as they are.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";
import { Project } from "./project.mjs";

const kept = /Make the greeting right|The greeting is there|It says hello|It greets the world|Ralph|scripted|agent\.sh|greeting\.txt|PROMPT\.md|loopkeeper(\.toml)?|turn \d (begins|ends)|grep -q world|UTC|PROMPT|project|reading src/g;
let editor;
let project;
let window;

before(async () => {
  editor = await Editor.start({ locale: "zh-cn" });
  project = new Project(editor, { trusted: false, files: { "greeting.txt": "hello\n" } });
  window = await editor.open(project.folder, "PROMPT.md");
});
after(async () => {
  project?.remove();
  await editor?.close();
});

/** Fails for a text that has an English word, or no Chinese one. */
function chinese(what, text) {
  const words = text.replaceAll(kept, "").match(/[A-Za-z]{3,}/g);
  assert.equal(words, null, `${what}: ${text}`);
  assert.match(text, /[一-龥]/, what);
}

/** Runs a command of the palette; a row has the original title below the translation. */
async function run(title) {
  await window.see(`the palette runs ${title}`, async () => {
    await window.type(`>${title}`, (rows) => rows.some((it) => it.startsWith(title)), 30_000);
    return window.page.locator(".quick-input-widget .monaco-list-row", { hasText: title }).first().click({ timeout: 30_000 }).then(() => true, () => false);
  });
}

test("vscode_chinese: from the start to the end of a loop, nothing of ours is English", async () => {
  const item = await window.sees("Ralph");
  chinese("the status bar", item.label);
  for (const it of await window.see("lenses", () => window.lenses(), (all) => all.length >= 4)) chinese("a lens", it);
  await run("Ralph: 启动循环");
  const start = await window.see("the start", () => window.page.locator(".quick-input-widget .monaco-list-row").allInnerTexts(), (all) => all.length > 4 && all.some((it) => it.includes("最多")));
  for (const it of start) chinese("a row of the start", it.replace("8h", ""));
  await window.page.keyboard.press("Enter");
  const question = await window.listed("the question", async () => (await window.notifications())[0]);
  for (const it of [question.text, ...question.buttons]) chinese("the question", it);
  await window.picture("chinese question");
  await window.press("显示命令");
  const page = await window.see("the commands", () => window.text(), (it) => it.includes("agent.sh") && it.includes("grep"));
  chinese("the commands", page.replaceAll(/\/tmp\S*/g, "").replaceAll(/(agent|agents\.scripted\.command|limits\.iterations) =/g, ""));
  await window.page.locator(".editor-actions .codicon-verified").first().click();
  await window.sees(/Ralph 1\/9 · 2\/3/);
  await run("Ralph: 显示输出");
  project.turn(1, "echo hi >> greeting.txt");
  await window.sees(/Ralph 2\/9 · 2\/3/);
  const output = await window.see("the output", () => window.panel(), (it) => it.includes("turn 2 begins"));
  chinese("the output", output);
  await window.page.locator(".activitybar .action-label[aria-label^='Ralph']").click();
  for (const it of await window.see("the view", () => window.loops(), (all) => all.length > 1)) chinese("the view", it);
  chinese("the status bar", (await window.item()).label);
  await window.page.locator("[id='loopkeeper.loopkeeper.loopkeeper.status'] a").click();
  const actions = await window.see("the actions", () => window.page.locator(".quick-input-widget .monaco-list-row .label-name:visible").allInnerTexts(), (all) => all.length > 6);
  for (const it of actions) chinese("an action", it);
  await window.page.keyboard.press("Escape");
  project.turn(2, "echo hello world > greeting.txt");
  const end = await window.notification("已验证");
  for (const it of [end.text, ...end.buttons]) chinese("the end", it);
  await run("Ralph: 显示仪表板");
  const dashboard = await window.see("the dashboard", () => window.webviewPage(), (it) => it.includes("已完成"));
  chinese("the dashboard", dashboard.replace(/\d{8}-\w+/, ""));
  await window.picture("chinese dashboard");
});
