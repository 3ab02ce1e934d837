// One window of the editor, in terms of its user. Everything is read from the page; class names of the editor are only
// in this file.

import fs from "node:fs";
import path from "node:path";
import { until } from "./until.mjs";

export class Window {
  constructor(page, editor) {
    this.page = page;
    this.editor = editor;
  }

  async ready(file) {
    await this.page.waitForSelector(".monaco-workbench");
    if (file) await this.page.waitForSelector(`.tab[data-resource-name="${path.basename(file)}"]`);
  }

  async reload(file) {
    await this.page.reload();
    await this.ready(file);
  }

  /** Waits until `read` returns a value that `fits`, and returns it. */
  async see(what, read, fits = Boolean, limit = undefined) {
    let last;
    const report = () => `last seen: ${JSON.stringify(last)}\n${this.editor.logs()}`;
    try {
      return await until(what, async () => {
        last = await read();
        return fits(last) && { value: last };
      }, report, limit).then((it) => it.value);
    } catch (error) {
      await this.picture(`failed ${what}`).catch(() => undefined);
      throw error;
    }
  }

  /** Text and label of our item in the status bar. */
  item() {
    return this.page.evaluate(() => {
      const it = document.querySelector("[id='loopkeeper.loopkeeper.loopkeeper.status']");
      if (!it) return undefined;
      const tone = ["warning", "error"].find((kind) => it.classList.contains(`${kind}-kind`)) ?? "normal";
      const icon = [...(it.querySelector(".codicon")?.classList ?? [])].find((name) => name.startsWith("codicon-"))?.slice(8);
      return { text: it.textContent.trim(), label: it.querySelector("a,[aria-label]")?.getAttribute("aria-label") ?? it.getAttribute("aria-label"), tone, icon };
    });
  }

  async sees(text, limit) {
    const fits = (it) => (text instanceof RegExp ? text.test(it?.text ?? "") : it?.text === text);
    return this.see(`the status bar says ${text}`, () => this.item(), fits, limit);
  }

  /** `[{ line, severity }]` of the squiggles in the active editor; `line` is the text of their line. */
  squiggles() {
    return this.page.evaluate(() => {
      const editor = document.querySelector(".editor-group-container.active .monaco-editor");
      const lines = [...(editor?.querySelectorAll(".view-line") ?? [])].map((it) => ({ text: it.textContent.replaceAll("\u00a0", " "), box: it.getBoundingClientRect() }));
      return [...(editor?.querySelectorAll(".cdr[class*='squiggly-']") ?? [])].map((it) => {
        const box = it.getBoundingClientRect();
        const middle = box.top + box.height / 2;
        return {
          line: lines.find((line) => line.box.top <= middle && middle <= line.box.bottom)?.text,
          severity: [...it.classList].find((name) => name.startsWith("squiggly-")).slice(9),
        };
      });
    });
  }

  lenses() {
    return this.page.evaluate(() => [...document.querySelectorAll(".codelens-decoration")].map((it) => it.textContent.trim()));
  }

  /** Moves the keyboard focus to the active editor: a key pressed while the focus is moving is lost. */
  async focus() {
    const has = () => this.page.evaluate(() => document.querySelector(".editor-group-container.active .monaco-editor.focused") !== null);
    await this.see("the focus in the editor", async () => {
      await this.page.keyboard.press("Control+1");
      return has();
    });
  }

  /** Types into the active editor and waits until the text appears. */
  async write(text) {
    await this.focus();
    await this.page.keyboard.type(text);
    await this.see(`the text ${text}`, () => this.text(), (all) => all.includes(text.trim()));
  }

  async clickLens(title) {
    // A lens drawn while the editor lacked the focus may be dead text until the focus is back.
    await this.focus();
    await this.page.locator(".codelens-decoration a", { hasText: title }).first().click();
  }

  async palette(title) {
    // Enter takes the first row, which may be another command whose title contains the same words.
    const fits = (label) => label === title || label.startsWith(`${title}…`);
    await this.see(`the palette runs ${title}`, async () => {
      // A part of the window that is still opening may take the focus, which closes the palette.
      const rows = await this.type(`>${title}`, (all) => all.some((it) => fits(it) || it.startsWith(title)), 30_000);
      const at = rows.findIndex(fits);
      const label = rows[at >= 0 ? at : rows.findIndex((it) => it.startsWith(title))];
      if (label === undefined) return false;
      const row = this.page.locator(".quick-input-widget .monaco-list-row").filter({ has: this.page.getByText(label, { exact: true }) }).first();
      return row.click({ timeout: 30_000 }).then(() => true, () => false);
    });
  }

  /** Starts a loop with what the list offers: the command, then Enter. */
  async startLoop() {
    await this.palette("Ralph: Start Loop");
    await this.see("the start", () => this.rows(), (rows) => /^\s*Start/.test(rows[0]));
    await this.page.keyboard.press("Enter");
  }

  /** The palette's entries for a text. */
  async offered(text) {
    // For a moment the entries are those of the text before it.
    let [last, since] = ["", 0];
    const isSettled = (rows) => {
      const now = rows.join("\n");
      if (now !== last) [last, since] = [now, Date.now()];
      return rows.length > 0 && Date.now() - since > 500;
    };
    await this.type(`>${text}`, isSettled);
    await this.page.keyboard.press("Escape");
    return last.split("\n");
  }

  async type(text, fits, limit) {
    const input = this.page.locator(".quick-input-widget input[type='text'], .quick-input-widget input.input").first();
    // A key may be lost while the focus is moving between parts of the window, and the palette closes when it moves.
    await this.see("the palette", async () => {
      await this.page.keyboard.press("F1");
      return input.fill(text, { timeout: 3000 }).then(() => true, () => false);
    });
    return this.see(`the palette offers ${text}`, () => this.rows(), fits, limit);
  }

  rows() {
    return this.page.evaluate(() => {
      const widget = document.querySelector(".quick-input-widget");
      if (!widget || widget.style.display === "none") return [];
      // The list remains, hidden, while the widget asks for a text.
      const rows = [...widget.querySelectorAll(".monaco-list-row")].filter((it) => it.offsetParent !== null);
      return rows.map((it) => it.querySelector(".quick-input-list-label, .label-name")?.textContent ?? it.textContent);
    });
  }

  /** Labels of a list that are not drawn as a whole, although they say what a row does. */
  hiddenLabels() {
    return this.page.evaluate(() => [...document.querySelectorAll(".quick-input-widget .monaco-list-row")].map((it) => [it.textContent, it.querySelector(".label-name"), it.querySelector(".monaco-icon-label-container")])
      .filter(([, label, box]) => !label || label.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)
      .map(([text]) => text));
  }

  /** Lines of a list that the editor cuts. */
  cutLines() {
    return this.page.evaluate(() => [...document.querySelectorAll(".quick-input-widget .monaco-list-row .monaco-icon-label-container")].filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.textContent));
  }

  /** Picks from a list that a command opened. */
  async pick(label) {
    const row = this.page.locator(".quick-input-widget .monaco-list-row", { hasText: label }).first();
    // A list that is filled again replaces its rows.
    await this.see(`a row ${label} to click`, async () => (await row.isVisible()) && row.click({ timeout: 30_000 }).then(() => true, () => false));
  }

  async answer(text) {
    const input = this.page.locator(".quick-input-widget input").first();
    // The list from which the command was picked has an input, too.
    await this.see("an input without a list", async () => (await input.isVisible()) && (await this.rows()).length === 0);
    await input.fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** The toasts, or the list under the bell while it is open. */
  notifications() {
    return this.page.evaluate(() => [...document.querySelectorAll(":is(.notification-toast, .notifications-center.visible) .notification-list-item")].map((it) => ({
      text: it.querySelector(".notification-list-item-message")?.textContent ?? "",
      links: [...it.querySelectorAll(".notification-list-item-message a")].map((link) => link.textContent),
      buttons: [...it.querySelectorAll(".notification-list-item-buttons-container .monaco-button")].map((button) => button.textContent.trim()),
    })));
  }

  notification(text) {
    return this.listed(`a notification ${text}`, async () => (await this.notifications()).find((it) => (text instanceof RegExp ? text.test(it.text) : it.text.includes(text))));
  }

  /** Waits for something of a notification. A toast hides after ten seconds, and does not appear at all if others did shortly before: the bell keeps it. */
  listed(what, read) {
    const start = Date.now();
    const list = this.page.locator(".notifications-center.visible");
    return this.see(what, async () => {
      const found = await read();
      if (!found && Date.now() - start > 8000 && !(await list.isVisible())) await this.page.locator("[id='status.notifications'] a").click({ timeout: 3000 });
      return found;
    });
  }

  async press(button) {
    const it = this.page.locator(":is(.notification-toast, .notifications-center.visible, .monaco-dialog-box) .monaco-button", { hasText: new RegExp(`^${button}$`) }).first();
    // The toast may hide between the look and the click. On a busy machine a click takes seconds: repeated too soon, it would be
    // one on what comes after it.
    await this.listed(`the button ${button}`, async () => (await it.isVisible()) && it.click({ timeout: 30_000 }).then(() => true, () => false));
  }

  async dismiss() {
    await this.palette("Notifications: Clear All Notifications");
    await this.see("no notification", () => this.notifications(), (all) => all.length === 0);
  }

  /** Our actions in the title bar of the active editor. */
  titleActions() {
    return this.page.evaluate(() => [...document.querySelectorAll(".editor-group-container.active .editor-actions .action-label")].map((it) => it.getAttribute("aria-label") ?? "").filter((it) => it.includes("Trust")));
  }

  tabs() {
    return this.page.evaluate(() => [...document.querySelectorAll(".tabs-container .tab")].map((it) => it.getAttribute("aria-label") ?? it.textContent));
  }

  /** The text of the active editor, as far as it is drawn. */
  text() {
    return this.page.evaluate(() => {
      const lines = [...document.querySelectorAll(".editor-group-container.active .monaco-editor .view-line")];
      return lines
        .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
        .map((it) => it.textContent.replaceAll("\u00a0", " "))
        .join("\n");
    });
  }

  /** The icons of tests beside the lines of the active editor: `[{ line, state }]`. */
  testIcons() {
    return this.page.evaluate(() => {
      const editor = document.querySelector(".editor-group-container.active .monaco-editor");
      const lines = [...(editor?.querySelectorAll(".view-line") ?? [])].map((it) => ({ text: it.textContent.replaceAll("\u00a0", " "), box: it.getBoundingClientRect() }));
      const stateOf = (it) => {
        const names = [...it.classList].join(" ");
        if (/spin|loading/.test(names)) return "running";
        if (/failed/.test(names)) return "failed";
        if (/error/.test(names)) return "errored";
        if (/passed/.test(names)) return "passed";
        return /skipped/.test(names) ? "skipped" : "run";
      };
      return [...(editor?.querySelectorAll("[class*='testing-run-glyph']") ?? [])].map((it) => {
        const box = it.getBoundingClientRect();
        const middle = box.top + box.height / 2;
        return { line: lines.find((line) => line.box.top <= middle && middle <= line.box.bottom)?.text ?? "", state: stateOf(it), names: it.className, x: box.left + box.width / 2, y: middle };
      });
    });
  }

  /** Clicks the icon of a line. Lines move while lenses appear, and a click beside the icon has no effect: it is repeated. */
  async clickTestIcon(line) {
    const icon = async () => (await this.testIcons()).find((it) => it.line.startsWith(line));
    const { state } = await this.see(`the icon of ${line}`, icon);
    await this.see(`the icon of ${line} is clicked`, async () => {
      const { x, y } = await this.steady(`the icon of ${line}`, icon);
      await this.page.mouse.click(x, y);
      // Only the first result of a test is known to change its icon.
      return state !== "run" || until("another icon", async () => (await icon())?.state !== "run", undefined, 5000).catch(() => false);
    });
  }

  /** Opens the failure whose text is behind the line of its test. */
  async openFailure(text) {
    const place = () => this.page.evaluate((part) => {
      const it = [...document.querySelectorAll(".editor-group-container.active .test-error-content-widget")].find((one) => one.textContent.replaceAll("\u00a0", " ").includes(part));
      const { left, top, width, height } = it?.getBoundingClientRect() ?? {};
      return it && { x: left + width / 2, y: top + height / 2 };
    }, text);
    await this.see(`the failure ${text} is opened`, async () => {
      const { x, y } = await this.steady(`the failure ${text}`, place);
      await this.page.mouse.click(x, y);
      return until("the failure within the editor", async () => (await this.peek()) !== "", undefined, 5000).catch(() => false);
    });
  }

  /** Waits until two readings, 200 ms apart, are at the same place, and returns it. */
  steady(what, place) {
    let last;
    return this.see(`${what} at rest`, async () => {
      const before = last;
      last = await place();
      if (last && before?.x === last.x && before.y === last.y) return last;
      await this.page.waitForTimeout(200);
      return undefined;
    });
  }

  /** The text of the failure that is shown within the editor; empty if there is none. */
  peek() {
    return this.page.evaluate(() => [...document.querySelectorAll(".peekview-widget, .test-output-peek")].map((it) => it.innerText.replaceAll("\u00a0", " ")).join("\n"));
  }

  /** Labels of the rows of the Testing view, as screen readers get them. */
  tests() {
    return this.page.evaluate(() => [...document.querySelectorAll(".test-explorer .monaco-list-row")].map((it) => it.getAttribute("aria-label") ?? it.textContent));
  }

  /** Rows of the visible view of the side bar. */
  loops() {
    return this.page.evaluate(() => [...document.querySelectorAll(".part.sidebar .monaco-list-row")].map((it) => it.querySelector(".monaco-icon-label")?.textContent ?? it.textContent));
  }

  /** `label (level, expanded)` of each row of the Loops view, as a screen reader speaks it. */
  spokenLoops() {
    return this.page.evaluate(() => [...document.querySelectorAll(".part.sidebar .monaco-list-row")].map((it) => {
      const state = { true: ", expanded", false: ", collapsed" }[it.getAttribute("aria-expanded")] ?? "";
      return `${it.getAttribute("aria-label")} (level ${it.getAttribute("aria-level")}${state})`;
    }));
  }

  async expandLoop(text) {
    const row = this.page.locator(".part.sidebar .monaco-list-row", { hasText: text }).first();
    // The rows are replaced while the agent works, and a click on a replaced one has no effect.
    await this.see(`the row ${text} is expanded`, async () => {
      if ((await row.getAttribute("aria-expanded", { timeout: 5000 }).catch(() => undefined)) === "true") return true;
      await row.locator(".monaco-tl-twistie").click({ timeout: 30_000 }).catch(() => undefined);
      return until("it is expanded", async () => (await row.getAttribute("aria-expanded", { timeout: 1000 })) === "true", undefined, 15_000).catch(() => false);
    });
  }

  /** What an empty view says, with its buttons. */
  welcome() {
    return this.page.evaluate(() => document.querySelector(".part.sidebar .welcome-view-content")?.textContent ?? "");
  }

  panel() {
    return this.page.evaluate(() => [...document.querySelectorAll(".part.panel .view-line, .part.panel .monaco-list-row, .part.panel .xterm-rows > div")].map((it) => it.textContent.replaceAll("\u00a0", " ")).join("\n"));
  }

  async closePanel() {
    const panel = this.page.locator(".part.panel");
    await this.see("no panel", async () => {
      if (!(await panel.isVisible())) return true;
      await this.page.keyboard.press("Control+J");
      return until("no panel", async () => !(await panel.isVisible()), undefined, 5000).catch(() => false);
    });
  }

  async problems() {
    await this.page.keyboard.press("Control+Shift+M");
    await this.page.waitForSelector(".markers-panel");
    return this.page.evaluate(() => [...document.querySelectorAll(".markers-panel .monaco-list-row")].map((it) => it.textContent));
  }

  /** Executes the action whose title begins like this, at the problem with this text. */
  async fix(problem, action) {
    const row = this.page.locator(".action-widget .monaco-list-row", { hasText: new RegExp(`^\\s*${action}`) }).first();
    // A change of the problems replaces their rows and closes the list of actions.
    await this.see(`the action ${action} is clicked`, async () => {
      await this.see(`the problem ${problem}`, () => this.problems(), (all) => all.some((it) => it.includes(problem)));
      await this.page.locator(".markers-panel .monaco-list-row", { hasText: problem }).first().dblclick({ timeout: 30_000 });
      await this.page.waitForSelector(".editor-group-container.active .monaco-editor.focused", { timeout: 30_000 });
      await this.palette("Quick Fix...");
      await row.waitFor({ state: "visible", timeout: 30_000 });
      await this.picture(`actions ${action}`);
      return row.click({ timeout: 30_000 }).then(() => true);
    });
  }

  /** The text of all web views, each in a frame of its own. */
  async webviews() {
    const texts = this.page.frames().slice(1).map((it) => it.evaluate(() => document.body?.innerText ?? "").catch(() => ""));
    return (await Promise.all(texts)).join("\n");
  }

  /** The text of the page in a web view, without that of the frames around it. */
  async webviewPage() {
    const texts = this.page.frames().slice(1).map((it) => it.evaluate(() => (document.querySelector("h1") ? document.body.innerText : "")).catch(() => ""));
    return (await Promise.all(texts)).join("");
  }

  /** The fills of the first bar of a share in a web view: the whole, and the share. */
  async bars() {
    const read = () => [...(document.querySelector("svg.share")?.querySelectorAll("rect") ?? [])].map((it) => getComputedStyle(it).fill);
    return (await Promise.all(this.page.frames().slice(1).map((it) => it.evaluate(read).catch(() => [])))).find((it) => it.length > 0);
  }

  async picture(name) {
    const folder = process.env.LOOPKEEPER_TEST_PICTURES;
    if (!folder) return;
    fs.mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: path.join(folder, `${name.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase().slice(0, 60)}.png`) });
  }

  close() {
    return this.page.close();
  }
}
