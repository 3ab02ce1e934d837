// The output of loops: one terminal for each loop that the user opened. It is searched, scrolled and coloured like any other
// terminal, and remains after the loop has ended, until the user closes it.

import { ThemeIcon, Uri, window } from "vscode";
import type { Disposable, Terminal } from "vscode";
import type { Server } from "./client";
import { t } from "./l10n";
import { escapeLabel } from "./escape";
import { Requests } from "./protocol";
import type { LoopStatus, OutputParams, SubscribeParams, SubscribeResult } from "./protocol";
import { isActive } from "./status";
import { LoopTerminal } from "./terminal/loopTerminal";
import { PlaceLinks } from "./terminal/links";

interface ShownLoop {
  terminal: Terminal;
  content: LoopTerminal;
  root: Uri;
}

export class OutputView implements Disposable {
  private readonly shown = new Map<string, ShownLoop>();
  private readonly links = window.registerTerminalLinkProvider(new PlaceLinks((terminal) => this.rootOf(terminal)));

  constructor(private readonly server: Server) {}

  async show(it: LoopStatus): Promise<void> {
    const known = this.shown.get(it.id) ?? this.open(it);
    known.terminal.show(true);
    if (!isActive(it)) return;
    await this.subscribe(it.id, true);
    // Output printed between the first read and the subscription causes no notification.
    await known.content.refresh();
  }

  /** A new server has no subscriptions. */
  async renew(): Promise<void> {
    for (const [id, { content }] of this.shown) {
      await this.subscribe(id, true);
      await content.refresh();
    }
  }

  /** The text of the message is also in the stored output, at its place. */
  append(it: OutputParams): void {
    void this.shown.get(it.loopId)?.content.refresh();
  }

  update(): void {
    for (const it of this.server.status?.loops ?? []) this.shown.get(it.id)?.content.observe(it.seq);
  }

  dispose(): void {
    this.links.dispose();
    for (const { terminal } of this.shown.values()) terminal.dispose();
  }

  private open(it: LoopStatus): ShownLoop {
    const content = new LoopTerminal(this.server, it.id, () => {
      this.shown.delete(it.id);
      if (isActive(it)) void this.subscribe(it.id, false);
    });
    const name = escapeLabel(t("Ralph: {0}", it.task.title));
    const terminal = window.createTerminal({ name, pty: content, iconPath: new ThemeIcon("sync"), isTransient: true });
    const task = this.server.status?.tasks.find((task) => task.uri === it.task.uri);
    const opened = { terminal, content, root: task ? Uri.parse(task.root) : Uri.joinPath(Uri.parse(it.task.uri), "..") };
    this.shown.set(it.id, opened);
    return opened;
  }

  private rootOf(terminal: Terminal): Uri | undefined {
    return [...this.shown.values()].find((it) => it.terminal === terminal)?.root;
  }

  private subscribe(loopId: string, on: boolean): Promise<SubscribeResult | undefined> {
    const params: SubscribeParams = { loopId, on };
    return this.server.tryAsk<SubscribeResult>(Requests.subscribe, params);
  }
}
