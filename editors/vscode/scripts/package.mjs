// Builds loopkeeper.vsix. The server comes along when there is one: the program that LOOPKEEPER_BINARY names, else the
// release build of this checkout. Without one the extension looks on PATH.
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createVSIX } from "@vscode/vsce";

const named = process.env.LOOPKEEPER_BINARY;
const program = resolve(named || "../../target/release/loopkeeper");
if (named && !existsSync(program)) throw new Error(`LOOPKEEPER_BINARY names ${program}, which does not exist`);

rmSync("server", { recursive: true, force: true });
const programs = [program, join(dirname(program), "loopkeeper-warden")].filter((it) => existsSync(it));
for (const from of programs) {
  mkdirSync("server", { recursive: true });
  const to = join("server", basename(from));
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}
copyFileSync("../../LICENSE", "LICENSE");
await import("./build.mjs");
const packagePath = process.env.LOOPKEEPER_VSIX || "loopkeeper.vsix";
await createVSIX({ packagePath, dependencies: false, allowMissingRepository: true, ...target() });
console.log(`${packagePath}: ${programs.length > 0 ? `with ${programs.map((it) => basename(it)).join(" and ")}` : "without a server"}`);

// With a program inside, the package is for the platform it was built on.
function target() {
  return programs.length > 0 ? { target: `${process.platform}-${process.arch}` } : {};
}
