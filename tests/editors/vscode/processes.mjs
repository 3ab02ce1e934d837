// Processes according to /proc. Only finds those that a test's own editor started.

import fs from "node:fs";

function all() {
  return fs.readdirSync("/proc").filter((it) => /^\d+$/.test(it)).map(Number);
}

export function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
  } catch {
    return 0;
  }
}

/** The language servers that run from this editor's own extension folder. */
export function serversOf(editor) {
  return all().filter((pid) => {
    try {
      const [program, ...args] = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return program.startsWith(editor.extensions) && args.includes("--stdio") && !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  });
}

/** Sends a signal to a process, or with a negative number to its group; returns whether there was one. */
export function kill(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
    return false;
  }
}

export function descendants(pid) {
  const children = all().filter((it) => parentOf(it) === pid);
  return children.flatMap((it) => [it, ...descendants(it)]);
}
