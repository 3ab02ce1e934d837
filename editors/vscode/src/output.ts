// The output view: shows what the agent and the checks of one loop print, as it arrives. Earlier output is in files,
// which the server opens.

import { window } from "vscode";
import type { Disposable } from "vscode";
import type { Server } from "./client";
import { Requests } from "./protocol";
import type { LoopStatus, OutputParams, SubscribeParams, SubscribeResult } from "./protocol";
import { progress } from "./status";

export class OutputView implements Disposable {
  private readonly channel = window.createOutputChannel("Ralph");
  private shown: { loop: string; iteration: number } | undefined;

  constructor(private readonly server: Server) {}

  async show(it: LoopStatus): Promise<void> {
    if (this.shown?.loop !== it.id) {
      const before = this.shown;
      this.shown = { loop: it.id, iteration: it.iteration };
      this.channel.clear();
      this.channel.appendLine(`${it.task.title}: ${progress(it)}. Output from here on.`);
      if (before) await this.subscribe(before.loop, false);
      if (!(await this.subscribe(it.id, true))?.subscribed) this.shown = undefined;
    }
    this.channel.show(true);
  }

  /** A new server has no subscriptions. */
  async renew(): Promise<void> {
    if (this.shown) await this.subscribe(this.shown.loop, true);
  }

  append(it: OutputParams): void {
    if (this.shown?.loop !== it.loopId) return;
    if (it.iteration !== this.shown.iteration) {
      this.shown.iteration = it.iteration;
      this.channel.appendLine(`\n── iteration ${it.iteration} ──`);
    }
    this.channel.append(it.text);
  }

  dispose(): void {
    this.channel.dispose();
  }

  private subscribe(loopId: string, on: boolean): Promise<SubscribeResult | undefined> {
    const params: SubscribeParams = { loopId, on };
    return this.server.ask<SubscribeResult>(Requests.subscribe, params);
  }
}
