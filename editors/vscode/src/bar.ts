// What the status bar can hold.

export interface Bar {
  icon: string;
  text: string;
  label: string;
  tooltip: string;
  tone: "normal" | "warning" | "error";
  /** A countdown is part of the text: it changes every second without a word of the server. */
  counts?: boolean;
}

/** Characters of its text, besides the icon. */
export const widest = 24;
