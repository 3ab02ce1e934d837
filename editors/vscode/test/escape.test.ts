// Tests the text of agents and files that is passed to the editor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeLabel, escapeMessage, shortened } from "../src/escape";

test("a message holds no link that the editor would make one of", () => {
  assert.doesNotMatch(escapeMessage("[ok](command:workbench.action.quit) [b](https://x)"), /\]\(/);
  assert.equal(escapeMessage("3 of 5 pass"), "3 of 5 pass");
});

test("a label is one line and holds no icon", () => {
  assert.equal(escapeLabel("a $(bell)\n b"), "a \\$(bell) b");
});

test("a long text ends in an ellipsis, and no character is split", () => {
  assert.equal(shortened("Parse dates", 11), "Parse dates");
  assert.equal(shortened("Parse the dates", 11), "Parse the…");
  assert.equal(shortened("🙂🙂🙂", 2), "🙂…");
});
