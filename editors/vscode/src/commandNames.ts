// The server's hints name commands of the terminal. In this editor the commands of the palette do the same. Pure.

import { t } from "./l10n";

/** Titles of our commands, as in `package.nls.json`. */
const titles = (): Record<string, string> => ({
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

/** ``loopkeeper run`` becomes ``Ralph: Start Loop``; other commands have no counterpart and stay. */
export function withCommandNames(message: string): string {
  const names = titles();
  return message.replaceAll(/(?<=\x60)loopkeeper (\w+)([^\x60]*)(?=\x60)/g, (whole, command: string, rest: string) => {
    const title = doesMore(command, rest) ? undefined : names[command];
    // As in the palette, in which the category is not translated.
    return title === undefined ? whole : ["Ralph", title].join(": ");
  });
}

/** With an option, or of single files: the command of the palette would do something else. */
function doesMore(command: string, rest: string): boolean {
  return / --(?!list\b)/.test(rest) || (command === "rollback" && /^ \S+ \d/.test(rest));
}
