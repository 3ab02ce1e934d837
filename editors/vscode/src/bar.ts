// What the status bar can hold.

export interface Bar {
  icon: string;
  text: string;
  label: string;
  tooltip: string;
  tone: "normal" | "warning" | "error";
}

/** Characters of its text, besides the icon. */
export const widest = 24;
