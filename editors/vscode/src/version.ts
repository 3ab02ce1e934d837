// Compares the protocol version of a server with that of this client. Pure.

import type { InitializeResult } from "vscode-languageclient/node";
import { protocolVersion } from "./protocol";

/** Returns the end of a sentence that begins with the program's path, or nothing if both versions are equal. */
export function findMismatch(server: InitializeResult | undefined, client = protocolVersion): string | undefined {
  const offered = server?.capabilities.experimental as { loopkeeper?: { version?: number } } | undefined;
  const version = offered?.loopkeeper?.version;
  if (version === client) return undefined;
  if (version === undefined) return "is not loopkeeper. Let loopkeeper.server.path name its program.";
  const name = `loopkeeper ${server?.serverInfo?.version ?? "of an unknown version"}`;
  const remedy = version > client ? "Update the extension." : "Update loopkeeper, or clear loopkeeper.server.path to use the one in the extension.";
  return `is ${name} with protocol version ${String(version)}, and this extension needs version ${String(client)}. ${remedy}`;
}
