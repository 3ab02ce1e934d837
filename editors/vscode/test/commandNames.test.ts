// Tests the names of commands in the server's hints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { withCommandNames } from "../src/commandNames";

test("a hint names the command of the palette", () => {
  assert.equal(withCommandNames("Loop x has ended. `loopkeeper run` starts a new one."), "Loop x has ended. `Ralph: Start Loop` starts a new one.");
  assert.equal(withCommandNames("`loopkeeper watch` shows it, `loopkeeper stop` ends it."), "`Ralph: Show Status` shows it, `Ralph: Stop Loop` ends it.");
  assert.equal(withCommandNames("`loopkeeper rollback x --list` shows the iterations"), "`Ralph: Roll Back to Iteration…` shows the iterations");
  // No command of this editor does exactly these.
  for (const it of ["`loopkeeper rollback x 0 calc.py` restores it", "`loopkeeper resume x --more 10` continues", "`loopkeeper doctor` shows it", "`claude login`, then again", "loopkeeper run"]) assert.equal(withCommandNames(it), it);
});

test("the names are those of the palette", () => {
  const titles = Object.values(JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>);
  for (const it of ["run", "status", "watch", "stop", "pause", "resume", "steer", "answer", "rollback"]) {
    const [, title] = /^`Ralph: (.*)`$/.exec(withCommandNames(`\`loopkeeper ${it}\``)) ?? [];
    assert.ok(title !== undefined && titles.includes(title), `${it}: ${title ?? "no name"}`);
  }
});
