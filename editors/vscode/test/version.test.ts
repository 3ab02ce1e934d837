import assert from "node:assert/strict";
import { test } from "node:test";
import { findMismatch } from "../src/version";

const server = (version: number | undefined, release?: string) => ({
  capabilities: { experimental: version === undefined ? {} : { loopkeeper: { version } } },
  ...(release === undefined ? {} : { serverInfo: { name: "loopkeeper", version: release } }),
});

test("a server of the same protocol version is accepted", () => {
  assert.equal(findMismatch("/bin/lk", server(2, "0.9.0"), 2), undefined);
});

test("a server of another protocol version is refused, with the side that must be updated", () => {
  const newer = findMismatch("/bin/lk", server(3, "0.9.0"), 2);
  assert.equal(newer, "/bin/lk is loopkeeper 0.9.0 with protocol version 3, and this extension needs version 2. Update the extension.");
  assert.match(findMismatch("/bin/lk", server(1), 2) ?? "", /of an unknown version with protocol version 1, .* Update loopkeeper, or clear/);
});

test("another program is refused", () => {
  assert.match(findMismatch("/bin/lk", server(undefined), 2) ?? "", /is not loopkeeper\./);
  assert.match(findMismatch("/bin/lk", undefined, 2) ?? "", /is not loopkeeper\./);
});
