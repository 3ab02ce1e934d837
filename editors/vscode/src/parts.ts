// The objects that commands use: one of each per window.

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
