// Finds places such as `src/a.rs:3:5` in a line of output. Pure: no editor. The output is of agents and checks, so a
// place never leaves the folder of its task.

export interface SourceLocation {
  /** Where it is in the line. */
  start: number;
  length: number;
  /** Relative to the root. */
  path: string;
  /** From 1. */
  line: number;
  column: number;
}

const pattern = /(?<![\w./:@-])((?:\/|\.{1,2}\/)?(?:[\w@.+-]+\/)*[\w@+.-]*[\w@+-]):(\d{1,7})(?::(\d{1,5}))?(?![\w/])/g;
/** Further places in one line add nothing. */
const most = 20;

/** `root`: absolute path of the task's folder. */
export function placesIn(text: string, root: string): SourceLocation[] {
  const found: SourceLocation[] = [];
  for (const match of text.matchAll(pattern)) {
    const [whole, file = "", line = "", column = "1"] = match;
    const path = relative(file, root);
    // A time or an address has no letter.
    if (path === undefined || Number(line) === 0 || !/[a-z]/i.test(file)) continue;
    found.push({ start: match.index, length: whole.length, path, line: Number(line), column: Math.max(1, Number(column)) });
    if (found.length === most) break;
  }
  return found;
}

function relative(file: string, root: string): string | undefined {
  const base = root.endsWith("/") ? root : `${root}/`;
  if (file.startsWith("/") && !file.startsWith(base)) return undefined;
  const parts: string[] = [];
  for (const part of (file.startsWith("/") ? file.slice(base.length) : file).split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? undefined : parts.join("/");
}
