// The status bar item. Its content is computed in status.ts and displayed here.

import { StatusBarAlignment, ThemeColor, window, workspace } from "vscode";
import type { Disposable, Memento } from "vscode";
import type { BarContent } from "./statusBarContent";
import type { Server } from "./client";
import { t } from "./l10n";
import { bar, isActive, unseen } from "./status";
import type { BarInput } from "./status";

/** How long an ended loop is shown, unless the user views it before. */
const news = 10 * 60_000;
const second = 1000;
const newsKey = "loopkeeper.news";

export class StatusItem implements Disposable {
  private readonly item = window.createStatusBarItem("loopkeeper.status", StatusBarAlignment.Left, 10);
  private timer: { loop: string; handle: NodeJS.Timeout } | undefined;
  private countdown: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: Server,
    private readonly memory: Memento,
  ) {
    this.item.name = "Ralph";
    this.item.command = "loopkeeper.showStatus";
  }

  /** Marks ended loops as seen by the user. */
  markSeen(): void {
    this.keep(this.active());
    this.update();
  }

  /** Records that a loop has ended, perhaps before it was ever shown as running. */
  ended(loop: string): void {
    this.keep([...this.news(), loop]);
    this.update();
  }

  update(): void {
    this.keep([...this.news(), ...this.active()]);
    const mode = workspace.getConfiguration("loopkeeper").get<string>("statusBar.mode", "auto");
    const shown = bar(this.input()) ?? (mode === "always" ? nothing() : undefined);
    this.ageNews();
    clearTimeout(this.countdown);
    if (!shown || mode === "off") {
      this.item.hide();
      return;
    }
    this.item.text = `$(${shown.icon}) ${shown.text}`;
    // A string is shown verbatim; in Markdown, a task's title could imitate our own text.
    this.item.tooltip = shown.tooltip;
    this.item.accessibilityInformation = { label: shown.label, role: "button" };
    this.item.backgroundColor = shown.tone === "normal" ? undefined : new ThemeColor(`statusBarItem.${shown.tone}Background`);
    this.item.show();
    if (shown.counts) this.countdown = setTimeout(() => {
      this.update();
    }, second);
  }

  dispose(): void {
    clearTimeout(this.timer?.handle);
    clearTimeout(this.countdown);
    this.item.dispose();
  }

  private input(): BarInput {
    const { state, reason, status } = this.server;
    const question = this.server.questions.first;
    return { server: state, now: Date.now(), news: this.news(), ...(reason !== undefined && { reason }), ...(status && { status }), ...(question !== undefined && { question }) };
  }

  private active(): string[] {
    return (this.server.status?.loops ?? []).filter(isActive).map((it) => it.id);
  }

  /** Stored per folder, so that a loop that ended while the window was closed is shown too. */
  private news(): string[] {
    return this.memory.get<string[]>(newsKey, []);
  }

  private keep(loops: string[]): void {
    const news = [...new Set(loops)].slice(-32);
    if (news.join() !== this.news().join()) void this.memory.update(newsKey, news);
  }

  private ageNews(): void {
    const loop = this.server.status && unseen(this.server.status, this.news());
    if (loop?.id === this.timer?.loop) return;
    clearTimeout(this.timer?.handle);
    this.timer = loop && { loop: loop.id, handle: setTimeout(() => {
      this.markSeen();
    }, news) };
  }
}

const nothing = (): BarContent => ({ icon: "circle-outline", text: "Ralph", label: t("Ralph, no task"), tooltip: t("No task in this folder."), tone: "normal" });
