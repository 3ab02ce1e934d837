// Tests what themes of high contrast do to the text of a terminal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutDim } from "../src/terminal/contrast";

test("no text is dim, and other styles stay", () => {
  const text = "\u001b[1mShop\u001b[0m \u001b[2m· mine\u001b[0m \u001b[22m \u001b[32m✓\u001b[0m";
  assert.equal(withoutDim(text), "\u001b[1mShop\u001b[0m · mine\u001b[0m \u001b[22m \u001b[32m✓\u001b[0m");
});
