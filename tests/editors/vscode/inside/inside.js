// Runs in the extension host: every `N.js` that appears in the folder LOOPKEEPER_INSIDE is run there with `vscode`, and
// its result is written next to it. Part of the tests only.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = () => {
  const folder = process.env.LOOPKEEPER_INSIDE;
  const done = new Set();
  setInterval(() => {
    for (const name of fs.readdirSync(folder)) {
      if (!/^\d+\.js$/.test(name) || done.has(name)) continue;
      done.add(name);
      void answer(path.join(folder, name));
    }
  }, 50);
};

async function answer(file) {
  let result;
  try {
    const run = new Function("vscode", `return (async () => { ${fs.readFileSync(file, "utf8")} })()`);
    result = { value: (await run(vscode)) ?? null };
  } catch (error) {
    result = { error: String(error?.stack ?? error) };
  }
  fs.writeFileSync(`${file}.new`, JSON.stringify(result));
  fs.renameSync(`${file}.new`, `${file}on`);
}
