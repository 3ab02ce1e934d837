// The server's hints name commands of the terminal. In this editor the commands of the palette do the same. Pure.

import { t } from "./l10n";
import type { HintCommand } from "./protocol";

/** Titles of our commands, as in `package.nls.json`. */
const titles = (): Partial<Record<HintCommand["name"], string>> => ({
  run: t("Start Loop"),
  status: t("Show Status"),
  watch: t("Show Status"),
  stop: t("Stop Loop"),
  pause: t("Pause After This Iteration"),
  resume: t("Resume"),
  steer: t("Steer…"),
  answer: t("Answer…"),
  rollback: t("Roll Back to Iteration…"),
});

/** ``loopkeeper run`` becomes ``Ralph: Start Loop``; a command without a counterpart in the palette stays. */
export function withCommandNames(message: string, commands: readonly HintCommand[] = []): string {
  const names = titles();
  return commands.reduce((text, it) => {
    const title = names[it.name];
    // As in the palette, in which the category is not translated.
    return title === undefined ? text : text.replaceAll(`\x60${it.text}\x60`, () => `\x60${["Ralph", title].join(": ")}\x60`);
  }, message);
}
