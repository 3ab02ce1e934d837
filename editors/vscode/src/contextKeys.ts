// Sets the context keys, which decide what the palette offers.

import { commands } from "vscode";
import type { Server } from "./client";
import { asks, isActive, isTripped, isWorking } from "./status";

export class ContextKeys {
  private readonly values = new Map<string, unknown>();

  update(server: Server): void {
    const loops = server.status?.loops ?? [];
    const { status } = server;
    this.put("serverState", server.state === "ready" && !status ? "starting" : server.state);
    this.put("anyTask", (status?.tasks.length ?? 0) > 0);
    this.put("anyLoop", loops.length > 0);
    this.put("anyActive", loops.some(isActive));
    this.put("anyWorking", loops.some(isWorking));
    this.put("anyResting", loops.some((it) => it.state === "paused" || it.state === "needsYou" || isTripped(it)));
    this.put("anyTripped", loops.some(isTripped));
    this.put("anyAsking", loops.some(asks));
  }

  private put(name: string, value: unknown): void {
    if (this.values.get(name) === value) return;
    this.values.set(name, value);
    void commands.executeCommand("setContext", `loopkeeper.${name}`, value);
  }
}
