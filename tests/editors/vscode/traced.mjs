// The server under strace, started by the editor as `loopkeeper.server.path`, and the trace.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const program = process.env.LOOPKEEPER_BINARY;

/** Why strace cannot be used on this machine. */
export function missing() {
  const tried = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "true"], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `strace: ${(tried.error?.message ?? tried.stderr).trim()}`;
}

/** A program that runs the server under strace; `first` is shell code that runs before the server. */
export function traced(folder, name, first = "") {
  const file = path.join(folder, name);
  const strace = `strace -f -qq -s 4096 -e trace=execve,execveat,connect -e signal=none -o '${file}.'$$.trace`;
  const inner = first === "" ? `'${program}'` : `/bin/sh -c '${first}; exec "${program}" "$@"' sh`;
  fs.writeFileSync(file, `#!/bin/sh\nexec ${strace} ${inner} "$@"\n`, { mode: 0o755 });
  return file;
}

/** One for each start of the program by the editor. */
export function traces(wrapper) {
  const folder = path.dirname(wrapper);
  const files = fs.readdirSync(folder).filter((it) => it.startsWith(`${path.basename(wrapper)}.`) && it.endsWith(".trace"));
  return files.map((it) => fs.readFileSync(path.join(folder, it), "utf8").split("\n").filter(Boolean));
}

export function isServer(line) {
  return /execve\("/.test(line) && line.split('"')[1] === program;
}

/** Started or attempted programs other than the server, and connections to anything except the sockets in `state`. */
export function faults(lines, state) {
  // Unlike `<... execve resumed>`, a line with the name and its bracket is one call.
  const programs = lines.filter((it) => /\bexecve(at)?\(/.test(it) && !isServer(it));
  const connections = lines.filter((it) => /\bconnect\(/.test(it) && !(it.includes("AF_UNIX") && it.includes(`"${state}/`)));
  return [...programs, ...connections];
}
