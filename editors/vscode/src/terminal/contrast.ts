// Adapts text with escape sequences to themes of high contrast.

const dim = "\u001b[2m";

/** Without dim text, which the editor draws in half of its contrast, whatever the theme promises. */
export function withoutDim(text: string): string {
  return text.replaceAll(dim, "");
}
