// Where the server's program is. Pure but for the two questions it asks about files.
//
// The setting comes first because it is the user's word. Then the program that came with this extension: it speaks
// exactly the protocol this client does, while what is on PATH may be of any age. PATH serves packages without a program.

import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

export interface Places {
  /** `loopkeeper.server.path`; empty when not set. */
  setting: string;
  /** The extension's own folder. */
  extension: string;
  path: string;
}

export type Found = { program: string; from: "setting" | "extension" | "PATH" } | { missing: string };

export function findServer(places: Places, runnable: (file: string) => boolean = isRunnable): Found {
  const setting = places.setting.trim();
  if (setting !== "") return fromSetting(setting, runnable);
  const bundled = join(places.extension, "server", "loopkeeper");
  if (runnable(bundled)) return { program: bundled, from: "extension" };
  for (const folder of places.path.split(delimiter)) {
    // A relative entry would look into whatever folder was opened.
    if (!isAbsolute(folder)) continue;
    const program = join(folder, "loopkeeper");
    if (runnable(program)) return { program, from: "PATH" };
  }
  return {
    missing: "The program loopkeeper was not found: this package holds none and it is not on PATH. Set loopkeeper.server.path to where it is.",
  };
}

function fromSetting(setting: string, runnable: (file: string) => boolean): Found {
  const program = setting.startsWith("~/") ? join(homedir(), setting.slice(2)) : setting;
  if (!isAbsolute(program)) return { missing: `loopkeeper.server.path must be an absolute path, not "${setting}".` };
  if (!runnable(program)) return { missing: `loopkeeper.server.path names "${setting}", which is not a program that can be run.` };
  return { program, from: "setting" };
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
