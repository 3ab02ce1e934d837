// Tests the names of commands in the server's hints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { withCommandNames } from "../src/commandNames";
import type { HintCommand } from "../src/protocol";

test("a hint names the command of the palette", () => {
  const check = (message: string, commands: HintCommand[] | undefined, expected: string): void => {
    assert.equal(withCommandNames(message, commands), expected);
  };
  check("Loop x has ended. `loopkeeper run` starts a new one.", [{ text: "loopkeeper run", name: "run" }], "Loop x has ended. `Ralph: Start Loop` starts a new one.");
  const two: HintCommand[] = [
    { text: "loopkeeper watch x", name: "watch" },
    { text: "loopkeeper stop x", name: "stop" },
  ];
  check("`loopkeeper watch x` shows it, `loopkeeper stop x` ends it.", two, "`Ralph: Show Status` shows it, `Ralph: Stop Loop` ends it.");
  // The palette has no such command.
  check("Read it with `loopkeeper trust`.", [{ text: "loopkeeper trust", name: "trust" }], "Read it with `loopkeeper trust`.");
  // Only what the server names is replaced.
  check("The agent said `loopkeeper run`.", [], "The agent said `loopkeeper run`.");
  check("The agent said `loopkeeper run`.", undefined, "The agent said `loopkeeper run`.");
});

test("the names are those of the palette", () => {
  const titles = Object.values(JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>);
  const names: HintCommand["name"][] = ["run", "status", "watch", "stop", "pause", "resume", "steer", "answer", "rollback"];
  for (const name of names) {
    const [, title] = /^`Ralph: (.*)`$/.exec(withCommandNames("`x`", [{ text: "x", name }])) ?? [];
    assert.ok(title !== undefined && titles.includes(title), `${name}: ${title ?? "no name"}`);
  }
});
