// The objects that commands use: one of each per window.

import type { Server } from "./client";
import type { OutputView } from "./output";
import type { StartChoices } from "./startChoices";
import type { StatusItem } from "./statusItem";
import type { TrustPages } from "./trustPage";

/** The loop or iteration of a row of the Loops view; absent when the palette runs a command. */
export interface CommandTarget { loopId: string; iteration?: number }

export interface CommandContext {
  server: Server;
  output: OutputView;
  status: StatusItem;
  trust: TrustPages;
  choices: StartChoices;
}
