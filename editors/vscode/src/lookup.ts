// Finds the server's program. Pure except for the two file queries.
//
// The setting comes first because the user chose it. Next is the program that was installed with this extension: it
// uses exactly the protocol version of this client, while a program on PATH may be of any version. PATH is for packages
// without a program.

import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { t } from "./l10n";

export interface SearchPaths {
  /** `loopkeeper.server.path`; empty when not set. */
  setting: string;
  /** The extension's own folder. */
  extension: string;
  path: string;
}

export type ServerLookup = { program: string; from: "setting" | "extension" | "PATH" } | { missing: string };

export function findServer(places: SearchPaths, runnable: (file: string) => boolean = isRunnable): ServerLookup {
  const setting = places.setting.trim();
  if (setting !== "") return fromSetting(setting, runnable);
  const bundled = join(places.extension, "server", "loopkeeper");
  if (runnable(bundled)) return { program: bundled, from: "extension" };
  for (const folder of places.path.split(delimiter)) {
    // A relative entry would search whatever folder was opened.
    if (!isAbsolute(folder)) continue;
    const program = join(folder, "loopkeeper");
    if (runnable(program)) return { program, from: "PATH" };
  }
  return {
    missing: t("The program loopkeeper was not found: this package contains none and it is not on PATH. Set loopkeeper.server.path to where it is."),
  };
}

function fromSetting(setting: string, runnable: (file: string) => boolean): ServerLookup {
  const program = setting.startsWith("~/") ? join(homedir(), setting.slice(2)) : setting;
  if (!isAbsolute(program)) return { missing: t("loopkeeper.server.path must be an absolute path, not \"{0}\".", setting) };
  if (!runnable(program)) return { missing: t("loopkeeper.server.path names \"{0}\", which is not a program that can be run.", setting) };
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
