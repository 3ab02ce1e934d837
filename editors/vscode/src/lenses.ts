// Requests lenses again when the server says that they changed, and once more a little later: the editor forgets a
// pending request when its text loses the focus, and would show the old lenses until the next change.

import { window } from "vscode";
import { CodeLensRefreshRequest, CodeLensRequest } from "vscode-languageclient/node";
import type { LanguageClient, StaticFeature } from "vscode-languageclient/node";

/** Longer than the editor delays a request. */
const settled = 3000;

/** Registered after the library's own feature, whose handler it replaces. */
export function lensRefresh(client: LanguageClient): StaticFeature {
  let timer: NodeJS.Timeout | undefined;
  return {
    fillClientCapabilities: () => undefined,
    initialize: () => {
      client.onRequest(CodeLensRefreshRequest.type, () => {
        requestLenses(client);
        // Not postponed by further changes, which may come faster than this.
        timer ??= setTimeout(() => {
          timer = undefined;
          requestLenses(client);
        }, settled);
        return null as never;
      });
    },
    getState: () => ({ kind: "static" }),
    clear: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function requestLenses(client: LanguageClient): void {
  const feature = client.getFeature(CodeLensRequest.method);
  const providers = window.visibleTextEditors.map((it) => feature.getProvider(it.document));
  for (const it of new Set(providers)) it?.onDidChangeCodeLensEmitter.fire();
}
