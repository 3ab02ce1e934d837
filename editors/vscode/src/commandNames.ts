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
    const title = restoresFiles(command, rest) ? undefined : names[command];
    // As in the palette, in which the category is not translated.
    return title === undefined ? whole : ["Ralph", title].join(": ");
  });
}

/** `rollback ID 0 PATH`: the command of the palette would restore the whole tree. */
function restoresFiles(command: string, rest: string): boolean {
  return command === "rollback" && /^ \S+ \d/.test(rest);
}
