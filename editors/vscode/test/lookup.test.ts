// Tests where the server is searched for, and the message when it is not found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findServer } from "../src/lookup";
import type { ServerLookup } from "../src/lookup";

function look(there: string[], places: { setting?: string; path?: string }): ServerLookup {
  return findServer({ setting: "", extension: "/ext", path: "", ...places }, (file) => there.includes(file));
}

const everywhere = ["/opt/lk", "/ext/server/loopkeeper", "/bin/loopkeeper"];

test("the setting comes first, then the package, then PATH", () => {
  assert.deepEqual(look(everywhere, { setting: "/opt/lk", path: "/bin" }), { program: "/opt/lk", from: "setting" });
  assert.deepEqual(look(everywhere, { path: "/bin" }), { program: "/ext/server/loopkeeper", from: "extension" });
  assert.deepEqual(look(["/bin/loopkeeper"], { path: "/usr/bin:/bin" }), { program: "/bin/loopkeeper", from: "PATH" });
});

test("a setting that leads nowhere is said, not passed over", () => {
  for (const setting of ["/gone/loopkeeper", "loopkeeper", "./loopkeeper"]) {
    const found = look(everywhere, { setting, path: "/bin" });
    assert.ok("missing" in found, setting);
    assert.match(found.missing, /loopkeeper\.server\.path/);
  }
});

test("nothing anywhere names the setting", () => {
  const found = look([], { path: "/bin" });
  assert.match("missing" in found ? found.missing : "", /loopkeeper\.server\.path/);
});

test("PATH entries that depend on the opened folder are passed over", () => {
  assert.ok("missing" in look(["loopkeeper", "bin/loopkeeper"], { path: ".::bin" }));
});

test("a folder is not a program", () => {
  assert.ok("missing" in findServer({ setting: "/", extension: "/ext", path: "" }));
});
