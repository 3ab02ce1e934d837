// What the commands work with: one of each for a window.

import type { Server } from "./client";
import type { OutputView } from "./output";
import type { StatusItem } from "./statusItem";
import type { TrustPages } from "./trustPage";

export interface Parts {
  server: Server;
  output: OutputView;
  status: StatusItem;
  trust: TrustPages;
}
