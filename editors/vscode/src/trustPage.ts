// The page with every command of a task, verbatim and read-only, and the question that follows it.
// A yes is a yes to the page that was shown: its hash goes back to the server, which refuses any other.

import { EventEmitter, Uri, window, workspace } from "vscode";
import type { Disposable, TextDocumentContentProvider } from "vscode";
import type { Server } from "./client";
import { plainMessage } from "./plain";
import { Commands, Requests } from "./protocol";
import type { TaskEntry, TrustPageParams, TrustPageResult } from "./protocol";

export const trustScheme = "loopkeeper-trust";

export class TrustPages implements TextDocumentContentProvider, Disposable {
  private readonly pages = new Map<string, { task: TaskEntry; page: TrustPageResult }>();
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {}

  provideTextDocumentContent(uri: Uri): string {
    return this.pages.get(uri.toString())?.page.text ?? "This page was of an earlier window. Open it again from the palette.\n";
  }

  async show(task: TaskEntry): Promise<void> {
    const params: TrustPageParams = { task: task.uri };
    const page = await this.server.ask<TrustPageResult>(Requests.trustPage, params);
    if (!page) return;
    const uri = Uri.from({ scheme: trustScheme, path: "/Commands to trust", query: task.uri });
    this.pages.set(uri.toString(), { task, page });
    this.changed.fire(uri);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
    await this.question(uri);
  }

  /** Asks about a page that is open; the button in its title does so again. */
  async question(uri: Uri): Promise<void> {
    const shown = this.pages.get(uri.toString());
    if (!shown) return;
    const { task, page } = shown;
    const unknown = page.commands.filter((it) => !it.trusted).length;
    if (page.trusted || unknown === 0) {
      void window.showInformationMessage(plainMessage(`Every command of "${task.title}" is trusted already.`));
      return;
    }
    const button = `Trust ${count(unknown)}`;
    const text = `"${task.title}" runs ${count(unknown)} that ${unknown === 1 ? "is" : "are"} not trusted yet. Read the page before you say yes.`;
    const chosen = await window.showWarningMessage(plainMessage(text), button);
    if (chosen !== button) return;
    const done = await this.server.run(Commands.trust, { task: task.uri, hash: page.hash });
    if (done) shown.page = { ...page, trusted: true };
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function count(commands: number): string {
  return commands === 1 ? "1 command" : `${commands} commands`;
}
