// Requests lenses again when the server reports that they changed, and repeats the request until the editor has asked for
// them: the editor drops a pending request when its text loses the focus, and would show the old lenses until the next
// change.

import { window } from "vscode";
import type { TextDocument } from "vscode";
import { CodeLensRefreshRequest, CodeLensRequest } from "vscode-languageclient/node";
import type { LanguageClient, StaticFeature } from "vscode-languageclient/node";

/** Milliseconds; longer than the editor delays a request. */
const retryDelay = 3000;
/** An editor without lenses never requests them. */
const maxTries = 20;

export class LensRefresh {
  /** The documents whose new lenses the editor has not requested. */
  private outdated = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private tries = 0;

  /** The editor requests the lenses of a document. */
  requested(document: TextDocument): void {
    this.outdated.delete(document.uri.toString());
  }

  /** Registered after the library's own feature, whose handler it replaces. */
  feature(client: LanguageClient): StaticFeature {
    return {
      fillClientCapabilities: () => undefined,
      initialize: () => {
        client.onRequest(CodeLensRefreshRequest.type, () => {
          this.outdated = new Set(window.visibleTextEditors.map((it) => it.document.uri.toString()));
          this.tries = 0;
          this.request(client);
          return null as never;
        });
      },
      getState: () => ({ kind: "static" }),
      clear: () => {
        this.outdated.clear();
        clearTimeout(this.timer);
        this.timer = undefined;
      },
    };
  }

  private request(client: LanguageClient): void {
    const feature = client.getFeature(CodeLensRequest.method);
    const editors = window.visibleTextEditors.filter((it) => this.outdated.has(it.document.uri.toString()));
    const providers = new Set(editors.flatMap((it) => feature.getProvider(it.document) ?? []));
    for (const it of providers) it.onDidChangeCodeLensEmitter.fire();
    if (providers.size === 0 || this.tries >= maxTries) return;
    // Not postponed by further changes, which may come faster than this.
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.tries += 1;
      this.request(client);
    }, retryDelay);
  }
}
