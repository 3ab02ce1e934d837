// A server that sends what a test specifies: every `NNNN.json` in the folder LOOPKEEPER_FAKE_SERVER is sent when it
// appears, and the client's messages are appended to `received.jsonl` there. For messages that a real server cannot be
// made to send.

import fs from "node:fs";
import path from "node:path";

const folder = process.env.LOOPKEEPER_FAKE_SERVER;
/** The answers to requests for which a test specifies none. */
const usual = {
  "loopkeeper/startPreview": { agent: "mine", agents: ["mine", "claude"], iterations: 30, durationMs: 28_800_000, costMicros: 25_000_000, upperBound: "At most 30 iterations, 8 h and $25.00" },
};
const sent = new Set();
let buffer = Buffer.alloc(0);

process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (let message = take(); message; message = take()) receive(message);
});
process.stdin.on("end", () => process.exit(0));

function take() {
  const head = buffer.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(/content-length: *(\d+)/i.exec(buffer.subarray(0, head).toString())[1]);
  if (buffer.length < head + 4 + length) return undefined;
  const body = buffer.subarray(head + 4, head + 4 + length).toString();
  buffer = buffer.subarray(head + 4 + length);
  return JSON.parse(body);
}

function send(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
}

function receive(message) {
  fs.appendFileSync(path.join(folder, "received.jsonl"), `${JSON.stringify(message)}\n`);
  if (message.method === "initialize") {
    const commands = ["stop", "start", "check", "answer", "resume", "rollback", "feedback"].map((it) => `loopkeeper.server.${it}`);
    send({ id: message.id, result: { capabilities: { textDocumentSync: 1, codeLensProvider: {}, executeCommandProvider: { commands }, experimental: { loopkeeper: { version: 1 } } } } });
  } else if (message.method === "initialized") {
    setInterval(sendNew, 50);
  } else if (message.method === "exit") {
    process.exit(0);
  } else if (message.id !== undefined && message.method) {
    const planned = path.join(folder, `${message.params?.command ?? message.method.replace("/", ".")}.answer`);
    const answer = fs.existsSync(planned) && JSON.parse(fs.readFileSync(planned, "utf8"));
    if (answer?.never) return;
    if (answer) send({ id: message.id, ...answer });
    else send({ id: message.id, result: usual[message.method] ?? null });
  }
}

function sendNew() {
  for (const name of fs.readdirSync(folder).sort()) {
    if (!/^\d+\.json$/.test(name) || sent.has(name)) continue;
    sent.add(name);
    send(JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")));
  }
}
