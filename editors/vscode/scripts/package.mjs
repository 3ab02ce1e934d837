// Builds loopkeeper.vsix. Bundles the server if there is one: the program that LOOPKEEPER_BINARY names, else the
// release build of this checkout. Without a bundled server the extension searches PATH. LOOPKEEPER_VSIX_TARGET names the
// platform of the program if it is not this one.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createVSIX } from "@vscode/vsce";

const named = process.env.LOOPKEEPER_BINARY;
const program = resolve(named || "../../target/release/loopkeeper");
if (named && !existsSync(program)) throw new Error(`LOOPKEEPER_BINARY names ${program}, which does not exist`);

rmSync("server", { recursive: true, force: true });
const parts = ["loopkeeper-keeper", "loopkeeper-warden", "loopkeeper-request"].map((name) => [name, join(dirname(program), name)]);
const packed = [["loopkeeper", program], ...parts].filter(([, from]) => existsSync(from));
for (const [name, from] of packed) {
  mkdirSync("server", { recursive: true });
  copyFileSync(from, join("server", name));
  chmodSync(join("server", name), 0o755);
}
copyFileSync("../../LICENSE", "LICENSE");
// Pages of the repository are not in the package, so links to them become text.
writeFileSync("CHANGELOG.md", readFileSync("../../server/CHANGELOG.md", "utf8").replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1"));
await import("./build.mjs");
const packagePath = process.env.LOOPKEEPER_VSIX || "loopkeeper.vsix";
await createVSIX({ packagePath, dependencies: false, allowMissingRepository: true, ...target() });
console.log(`${packagePath}: ${packed.length > 0 ? `with ${packed.map(([name]) => name).join(" and ")}` : "without a server"}`);

// With a program inside, the package is for the platform it was built on.
function target() {
  return packed.length > 0 ? { target: process.env.LOOPKEEPER_VSIX_TARGET || `${process.platform}-${process.arch}` } : {};
}
