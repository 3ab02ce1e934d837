// The status bar item. What it says is computed in status.ts; here it is put on the screen.

import { StatusBarAlignment, ThemeColor, window, workspace } from "vscode";
import type { Disposable, Memento } from "vscode";
import type { Server } from "./client";
import { bar, unseen } from "./status";
import type { Bar, BarInput } from "./status";

/** An ended loop is news for this long, unless it is looked at before. */
const news = 10 * 60_000;
const seenKey = "loopkeeper.seenLoop";

export class StatusItem implements Disposable {
  private readonly item = window.createStatusBarItem("loopkeeper.status", StatusBarAlignment.Left, 10);
  private timer: { loop: string; handle: NodeJS.Timeout } | undefined;

  constructor(
    private readonly server: Server,
    private readonly memory: Memento,
  ) {
    this.item.name = "Ralph";
    this.item.command = "loopkeeper.showStatus";
  }

  /** The user has looked: an ended loop is no news any more. */
  async markSeen(): Promise<void> {
    const loop = this.server.status && unseen(this.server.status, this.seen());
    if (!loop) return;
    await this.memory.update(seenKey, loop.id);
    this.update();
  }

  update(): void {
    const mode = workspace.getConfiguration("loopkeeper").get<string>("statusBar.mode", "auto");
    const shown = bar(this.input()) ?? (mode === "always" ? nothing : undefined);
    this.ageNews();
    if (!shown || mode === "off") {
      this.item.hide();
      return;
    }
    this.item.text = `$(${shown.icon}) ${shown.text}`;
    // A string is shown as it is; Markdown could be made to look like ours by a task's title.
    this.item.tooltip = shown.tooltip;
    this.item.accessibilityInformation = { label: shown.label, role: "button" };
    this.item.backgroundColor = shown.tone === "normal" ? undefined : new ThemeColor(`statusBarItem.${shown.tone}Background`);
    this.item.show();
  }

  dispose(): void {
    clearTimeout(this.timer?.handle);
    this.item.dispose();
  }

  private input(): BarInput {
    const { state, reason, status } = this.server;
    const seen = this.seen();
    return { server: state, ...(reason !== undefined && { reason }), ...(status && { status }), ...(seen !== undefined && { seen }) };
  }

  private seen(): string | undefined {
    return this.memory.get<string>(seenKey);
  }

  private ageNews(): void {
    const loop = this.server.status && unseen(this.server.status, this.seen());
    if (loop?.id === this.timer?.loop) return;
    clearTimeout(this.timer?.handle);
    this.timer = loop && { loop: loop.id, handle: setTimeout(() => void this.markSeen(), news) };
  }
}

const nothing: Bar = { icon: "circle-outline", text: "Ralph", label: "Ralph, no task", tooltip: "No task in this folder.", tone: "normal" };
