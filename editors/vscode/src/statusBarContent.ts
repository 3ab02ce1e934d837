// The content of the status bar item.

export interface BarContent {
  icon: string;
  text: string;
  label: string;
  tooltip: string;
  tone: "normal" | "warning" | "error";
  /** Whether the text contains a countdown, which changes every second without a message from the server. */
  counts?: boolean;
}

/** Maximum number of characters of the text, without the icon. */
export const widest = 24;
