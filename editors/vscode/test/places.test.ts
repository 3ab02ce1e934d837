// Links in the output of loops.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placesIn } from "../src/terminal/places";

test("places are links to files below the root", () => {
  const check = (text: string, ...expect: [string, number, number][]): void => {
    assert.deepEqual(placesIn(text, "/w/app").map((it) => [it.path, it.line, it.column]), expect, text);
  };
  check("src/a.rs:3:5: what is wrong", ["src/a.rs", 3, 5]);
  check("  --> ./src/a.rs:3", ["src/a.rs", 3, 1]);
  check("(/w/app/src/b.ts:10:2)", ["src/b.ts", 10, 2]);
  check("Makefile:7: and a.c:8:", ["Makefile", 7, 1], ["a.c", 8, 1]);
  check("src/../a.rs:1", ["a.rs", 1, 1]);
  check("File \"tests/test_sum.py:12\", in x", ["tests/test_sum.py", 12, 1]);
  // Not below the root, not a place, not a line.
  check("/etc/passwd:1");
  check("/w/apple/a.rs:1");
  check("../secret.txt:1 a/../../b.txt:2");
  check("/w/app/../../etc/passwd:1");
  check("at 12:30:05, http://127.0.0.1:8080/x");
  check("src/a.rs:0");
  check("file:///w/app/a.rs:3");
  check("");
});

test("the position of a place is that in the line", () => {
  const text = "✗ see src/a.rs:3 now";
  const [place] = placesIn(text, "/w");
  assert.ok(place);
  assert.equal(text.slice(place.start, place.start + place.length), "src/a.rs:3");
});

test("a hostile line takes no time", () => {
  const before = Date.now();
  for (const part of ["a/", "../", "a.", "a:1", "a/b.c:1 "]) placesIn(part.repeat(50_000), "/w");
  assert.ok(Date.now() - before < 2000);
});
