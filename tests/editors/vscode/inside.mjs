// Runs queries in the extension host of a real editor, through a test extension.

import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { Editor } from "./editor.mjs";
import { until } from "./until.mjs";

export class Inside {
  /** `ours`: whether the client is installed beside the test extension. */
  static async start({ ours = true, ...options } = {}) {
    const inside = new Inside();
    inside.folder = fs.mkdtempSync(path.join(os.tmpdir(), "loopkeeper-inside-"));
    inside.count = 0;
    const vsix = path.join(inside.folder, "inside.vsix");
    const { createVSIX } = createRequire(path.join(import.meta.dirname, "../../../editors/vscode/package.json"))("@vscode/vsce");
    await createVSIX({ cwd: path.join(import.meta.dirname, "inside"), packagePath: vsix, dependencies: false, allowMissingRepository: true, skipLicense: true });
    inside.editor = await Editor.start({ ...options, extensions: [...(ours ? [process.env.LOOPKEEPER_TEST_VSIX] : []), vsix], env: { LOOPKEEPER_INSIDE: inside.folder } });
    return inside;
  }

  /** Runs `code`, the body of an async function of `vscode`, and returns its result. */
  async ask(code) {
    this.count += 1;
    const file = path.join(this.folder, `${this.count}.js`);
    fs.writeFileSync(`${file}.new`, code);
    fs.renameSync(`${file}.new`, file);
    await until("the extension host answers", () => fs.existsSync(`${file}on`), () => this.editor.logs());
    const { value, error } = JSON.parse(fs.readFileSync(`${file}on`, "utf8"));
    if (error) throw new Error(error);
    return value;
  }

  /** Repeats the query until the result `fits`. */
  asks(what, code, fits) {
    let last;
    return until(what, async () => {
      last = await this.ask(code);
      return fits(last) && { last };
    }, () => JSON.stringify(last)).then((it) => it.last);
  }

  async close() {
    await this.editor?.close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
