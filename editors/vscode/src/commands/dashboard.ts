// The page about a loop in a webview. The server generates it; it contains no script and loads nothing.

import { Uri, ViewColumn, type WebviewPanel, window, workspace } from "vscode";

import { t } from "../l10n";
import { pickLoop } from "./pick";
import type { CommandContext, CommandTarget } from "../commandContext";
import { Commands, type EffectResult } from "../protocol";
import type { LoopStatus } from "../protocol/loop";

/** Minimum time between two pages of one loop, because each is generated from its whole history. */
const pause = 2000;

/** One panel for each loop. */
const panels = new Map<string, LoopPanel>();

export async function showDashboard({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Show the dashboard of which loop?"), () => true, t("No loop has run in this folder yet."), target);
  if (!it) return;
  const panel = panels.get(it.id) ?? new LoopPanel(server, it);
  panel.reveal();
  await panel.refresh();
}

class LoopPanel {
  private readonly panel: WebviewPanel;
  /** The newest record of the loop on the page. */
  private shown: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: CommandContext["server"], private readonly loop: LoopStatus) {
    const options = { enableScripts: false, localResourceRoots: [] };
    this.panel = window.createWebviewPanel("loopkeeper.dashboard", t("Ralph: {0}", loop.task.title), ViewColumn.Active, options);
    panels.set(loop.id, this);
    const changes = server.onChange(() => {
      this.follow();
    });
    // Later changes are shown when the panel becomes visible again.
    this.panel.onDidChangeViewState(() => {
      this.follow();
    });
    this.panel.onDidDispose(() => {
      clearTimeout(this.timer);
      changes.dispose();
      panels.delete(loop.id);
    });
  }

  reveal(): void {
    this.panel.reveal();
  }

  async refresh(): Promise<void> {
    this.shown = this.now();
    const result = await this.server.run<EffectResult & { uri?: string }>(Commands.report, { loopId: this.loop.id });
    if (!panels.has(this.loop.id) || !result?.uri) return;
    const page = new TextDecoder().decode(await workspace.fs.readFile(Uri.parse(result.uri)));
    if (panels.has(this.loop.id) && this.panel.webview.html !== page) this.panel.webview.html = page;
  }

  /** Replaces the page soon if the loop has advanced. The editor keeps the page's scroll position. */
  private follow(): void {
    if (this.timer || !this.panel.visible || this.now() === this.shown) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.panel.visible) void this.refresh().then(() => {
        this.follow();
      });
    }, pause);
  }

  private now(): number | undefined {
    return this.server.status?.loops.find((it) => it.id === this.loop.id)?.seq;
  }
}
