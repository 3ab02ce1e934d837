// Escapes text of agents, checks and files for the editor's own UI, so that it is never a link, an icon or several
// lines. Pure; the server has already removed control and bidirectional characters.

/** For notifications, which turn `[text](command:…)` into a link that runs the command. */
export function escapeMessage(text: string): string {
  return text.replaceAll("](", "] (");
}

/** For labels of pick lists and the status bar, which turn `$(name)` into an icon. */
export function escapeLabel(text: string): string {
  return text.replaceAll("$(", "\\$(").replaceAll(/\s+/g, " ").trim();
}

/** At most `most` characters, with an ellipsis if the text was longer. */
export function shortened(text: string, most: number): string {
  const all = Array.from(text);
  return all.length <= most ? text : `${all.slice(0, most - 1).join("").trimEnd()}…`;
}
