// Adapts text with escape sequences to themes of high contrast.

const dim = "\u001b[2m";

/** Removes dim text, which the editor draws with half of its contrast in every theme. */
export function withoutDim(text: string): string {
  return text.replaceAll(dim, "");
}
