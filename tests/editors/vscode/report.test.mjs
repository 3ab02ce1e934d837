// The report of a loop, which the client shows as a page, in a browser: accessible in every colour scheme and at every
// width, and inert whatever the task, the agent and the checks wrote.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Project } from "./project.mjs";

const need = createRequire(path.join(process.env.LOOPKEEPER_TEST_PLAYWRIGHT, "x.js"));
const { chromium } = need("playwright-core");
const axe = fs.readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");

const hostile = `<img src="https://tracker.invalid/a.png" onerror="document.title='owned'"></h1><script>document.title='owned'</script>`;
// Tags are no text in Markdown, unless they are escaped.
const written = hostile.replaceAll("<", "\\<");
const prompt = `# Greet ${written}

## Done when

- There ${written}: \`exists greeting.txt\`
- Loud: \`$ cat greeting.txt; printf '%s\\n' 'FAILED <script>document.title="owned"</script> \\033[31mred' >&2; grep -q world greeting.txt\`
- Never: \`missing greeting.txt\`
`;
const looks = [
  { colorScheme: "light", forcedColors: "none", width: 1280 },
  { colorScheme: "dark", forcedColors: "none", width: 1280 },
  { colorScheme: "light", forcedColors: "active", width: 1280 },
  { colorScheme: "dark", forcedColors: "none", width: 380 },
];

let browser;
let project;
let page;

before(async () => {
  const state = fs.mkdtempSync(path.join(process.env.TMPDIR ?? "/tmp", "loopkeeper-report-"));
  project = new Project({ env: { LOOPKEEPER_STATE_DIR: state } }, { trusted: false, files: { "PROMPT.md": prompt } });
  project.cli(["trust", "PROMPT.md"], "y\n");
  project.turn(1, `echo hello > greeting.txt; echo '${hostile.replaceAll("'", "")}'`);
  project.turn(2, "echo hello world > greeting.txt");
  // Criteria that exclude each other: the loop ends at its limit, with failures on the page.
  project.fails(["run", "--max-iterations", "2", "--json"], 4);
  page = path.join(state, "report.html");
  project.cli(["report", "--to", page]);
  browser = await chromium.launch({ executablePath: process.env.LOOPKEEPER_TEST_CHROMIUM, args: ["--no-sandbox"] });
  project.state = state;
});

after(async () => {
  await browser?.close();
  project?.remove();
  if (project?.state) fs.rmSync(project.state, { recursive: true, force: true });
});

/** Opens a file with these preferences; collects the requests of the page and what the browser reports. */
async function opened({ width, ...look }, file, body) {
  const context = await browser.newContext({ ...look, viewport: { width, height: 800 } });
  try {
    const tab = await context.newPage();
    const events = [];
    tab.on("console", (it) => events.push(it.text()));
    tab.on("pageerror", (it) => events.push(String(it)));
    tab.on("dialog", (it) => events.push(`dialog: ${it.message()}`));
    tab.on("request", (it) => it.url().startsWith("file:") || events.push(`request: ${it.url()}`));
    await tab.goto(pathToFileURL(file).href);
    await body(tab, events);
  } finally {
    await context.close();
  }
}

/** The rules of WCAG 2.2 (A and AA) and of good practice that the page breaks. */
async function violations(tab) {
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => globalThis.axe.run(document));
  return found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

test("vscode_report: the page is accessible in light, dark, high contrast and narrow", async () => {
  for (const look of looks) {
    await opened(look, page, async (tab) => {
      assert.match(await tab.textContent("body"), /Criteria over iterations/);
      assert.deepEqual(await violations(tab), [], JSON.stringify(look));
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than its window: ${JSON.stringify(look)}`);
    });
  }
});

test("vscode_report: a page with faults is not called accessible", async () => {
  const faulty = path.join(project.state, "faulty.html");
  const text = fs.readFileSync(page, "utf8");
  fs.writeFileSync(faulty, text.replace("</main>", `<img src="data:image/png;base64,x"><p style="color:#777;background:#888">grey</p></main>`).replace(/ lang="[^"]*"/, ""));
  await opened(looks[0], faulty, async (tab) => {
    const found = (await violations(tab)).map((it) => it.split(":")[0]);
    for (const rule of ["image-alt", "html-has-lang"]) assert.ok(found.includes(rule), `${rule} in ${found}`);
  });
});

test("vscode_report: text of the task, the agent and the checks stays text", async () => {
  await opened(looks[0], page, async (tab, events) => {
    assert.match(await tab.textContent("h1"), /^Greet <img/);
    assert.doesNotMatch(await tab.title(), /^owned$/);
    assert.equal(await tab.locator("script, img, iframe, object, embed, form, link").count(), 0);
    assert.deepEqual(events, []);
  });
});

test("vscode_report: the policy of the page blocks what would get past the escaping", async () => {
  const injected = path.join(project.state, "injected.html");
  fs.writeFileSync(injected, fs.readFileSync(page, "utf8").replace("</main>", `${hostile}</main>`));
  await opened(looks[0], injected, async (tab, events) => {
    assert.notEqual(await tab.title(), "owned");
    assert.ok(events.some((it) => it.includes("Content Security Policy")), events.join("\n"));
    assert.deepEqual(events.filter((it) => it.startsWith("request: ") && !it.includes("tracker.invalid")), []);
  });
});

test("vscode_report: the keyboard reaches each table that scrolls", async () => {
  await opened(looks[3], page, async (tab) => {
    const focused = [];
    for (let i = 0; i < 12; i += 1) {
      await tab.keyboard.press("Tab");
      focused.push(await tab.evaluate(() => document.activeElement?.getAttribute("aria-labelledby")));
    }
    for (const it of ["criteria", "iterations"]) assert.ok(focused.includes(it), `${it} in ${focused}`);
  });
});
