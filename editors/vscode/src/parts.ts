// The objects that commands use: one of each per window.

import type { Server } from "./client";
import type { OutputView } from "./output";
import type { StartChoices } from "./startChoices";
import type { StatusItem } from "./statusItem";
import type { TrustPages } from "./trustPage";

/** What a row of the Loops view stands for; absent when the palette runs a command. */
export interface Target { loopId: string; iteration?: number }

export interface Parts {
  server: Server;
  output: OutputView;
  status: StatusItem;
  trust: TrustPages;
  choices: StartChoices;
}
