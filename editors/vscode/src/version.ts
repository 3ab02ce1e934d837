// Compares the protocol version of a server with that of this client. Pure.

import type { InitializeResult } from "vscode-languageclient/node";
import { t } from "./l10n";
import { protocolVersion } from "./protocol";

/** Returns the fact and the remedy, or nothing if both versions are equal. */
export function findMismatch(program: string, server: InitializeResult | undefined, client = protocolVersion): string | undefined {
  const offered = server?.capabilities.experimental as { loopkeeper?: { version?: number } } | undefined;
  const version = offered?.loopkeeper?.version;
  if (version === client) return undefined;
  if (version === undefined) return t("{0} is not loopkeeper. Let loopkeeper.server.path name its program.", program);
  const name = server?.serverInfo?.version ?? t("of an unknown version");
  const fact = t("{0} is loopkeeper {1} with protocol version {2}, and this extension needs version {3}.", program, name, version, client);
  const remedy = version > client ? t("Update the extension.") : t("Update loopkeeper, or clear loopkeeper.server.path to use the one in the extension.");
  return [fact, remedy].join(" ");
}
