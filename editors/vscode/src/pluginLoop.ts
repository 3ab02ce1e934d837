// A loop of Claude Code's own plugin: shown, never controlled. Pure, as status.ts is.

import { type BarContent, widest } from "./statusBarContent";
import { t } from "./l10n";
import type { ForeignLoop } from "./protocol";

/** `iteration 3 of 20`; without a limit `iteration 3`. */
export function pluginLoopProgress(it: ForeignLoop): string {
  return it.maxIterations === undefined ? t("iteration {0}", it.iteration) : t("iteration {0} of {1}", it.iteration, it.maxIterations);
}

export function pluginLoopBar(it: ForeignLoop): BarContent {
  const count = it.maxIterations === undefined ? `${it.iteration}` : `${it.iteration}/${it.maxIterations}`;
  const progress = it.promise === undefined ? t("A loop of Claude Code's plugin: {0}", pluginLoopProgress(it)) : t("A loop of Claude Code's plugin: {0}, until <promise>{1}</promise>", pluginLoopProgress(it), it.promise);
  return {
    icon: "plug",
    text: t("Ralph {0} (plugin)", count).slice(0, widest),
    label: t("Ralph, a loop of Claude Code's plugin, {0}", pluginLoopProgress(it)),
    tooltip: [progress, it.prompt, t("Ralph does not drive it. A click continues it under loopkeeper, or stops it.")].join("\n"),
    tone: "normal",
  };
}
