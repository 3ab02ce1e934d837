// A loop of Claude Code's own plugin: shown, never controlled. Pure, as status.ts is.

import { type Bar, widest } from "./bar";
import type { ForeignLoop } from "./protocol";

/** `iteration 3 of 20`; without a limit `iteration 3`. */
export function foreignProgress(it: ForeignLoop): string {
  return it.maxIterations === undefined ? `iteration ${it.iteration}` : `iteration ${it.iteration} of ${it.maxIterations}`;
}

export function foreignBar(it: ForeignLoop): Bar {
  const count = it.maxIterations === undefined ? `${it.iteration}` : `${it.iteration}/${it.maxIterations}`;
  const until = it.promise === undefined ? "" : `, until <promise>${it.promise}</promise>`;
  return {
    icon: "plug",
    text: `Ralph ${count} (plugin)`.slice(0, widest),
    label: `Ralph, a loop of Claude Code's plugin, ${foreignProgress(it)}`,
    tooltip: `A loop of Claude Code's plugin: ${foreignProgress(it)}${until}\n${it.prompt}\nRalph does not drive it. A click continues it under loopkeeper, or stops it.`,
    tone: "normal",
  };
}
