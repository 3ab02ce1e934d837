// Asks a question about a page, such as every command that a task would run: the page is a read-only document, and the
// answers are above and below its text and in its title bar while it is open. Closing it means no.

import { CodeLens, EventEmitter, Range, TabInputText, Uri, window, workspace } from "vscode";
import type { CodeLensProvider, Disposable, Tab, TextDocument, TextDocumentContentProvider } from "vscode";
import type { MessageActionItem } from "vscode-languageclient/node";
import { t } from "./l10n";

export const trustScheme = "loopkeeper-trust";

export const closedQuestion = (): string => t("This question is closed. Start the loop or its checks again.");

interface OpenPage {
  text: string;
  actions: MessageActionItem[];
  answer: (action: MessageActionItem | undefined) => void;
}

export class TrustPages implements TextDocumentContentProvider, CodeLensProvider, Disposable {
  private readonly open = new Map<string, OpenPage>();
  private readonly changed = new EventEmitter<Uri>();
  private readonly lensesChanged = new EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lensesChanged.event;
  private readonly closing = window.tabGroups.onDidChangeTabs((it) => {
    for (const tab of it.closed) this.answer(pageOf(tab), undefined);
  });

  provideTextDocumentContent(uri: Uri): string {
    return this.open.get(uri.toString())?.text ?? `${closedQuestion()}\n`;
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const page = this.open.get(document.uri.toString());
    const [yes, no] = page?.actions ?? [];
    if (!yes) return [];
    const ends = [...new Set([0, document.lineCount - 1])].map((line) => new Range(line, 0, line, 0));
    return ends.flatMap((at) => [
      new CodeLens(at, { title: `$(verified)\u00a0${yes.title}`, command: "loopkeeper.trustShownPage" }),
      new CodeLens(at, { title: `$(close)\u00a0${no?.title ?? t("Cancel")}`, command: "loopkeeper.cancelShownPage" }),
    ]);
  }

  /** Shows the page and waits for the answer. `page` is the URI of its text. */
  async ask(actions: MessageActionItem[], page: string): Promise<MessageActionItem | undefined> {
    const file = Uri.parse(page);
    if (file.scheme !== "file") return undefined;
    const text = new TextDecoder().decode(await workspace.fs.readFile(file));
    const uri = pageUri(page);
    this.open.get(uri.toString())?.answer(undefined);
    const answered = new Promise<MessageActionItem | undefined>((answer) => {
      this.open.set(uri.toString(), { text, actions, answer });
    });
    this.changed.fire(uri);
    await this.reveal(page);
    this.lensesChanged.fire();
    return answered;
  }

  /** Brings the page of an open question to the front. */
  async reveal(page: string): Promise<void> {
    const uri = pageUri(page);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  /** Closes the page of a question that the server withdrew. */
  async close(page: string): Promise<void> {
    const uri = pageUri(page);
    this.answer(uri, undefined);
    await closeTabs(uri);
  }

  /** Chooses the first answer of the active page. */
  trust(): Promise<void> {
    return this.answerFront(([yes]) => yes);
  }

  cancel(): Promise<void> {
    return this.answerFront(([, no]) => no);
  }

  dispose(): void {
    this.closing.dispose();
    this.changed.dispose();
    this.lensesChanged.dispose();
  }

  private async answerFront(choose: (actions: MessageActionItem[]) => MessageActionItem | undefined): Promise<void> {
    const uri = window.activeTextEditor?.document.uri;
    const page = uri && this.open.get(uri.toString());
    if (!uri || !page) return;
    this.answer(uri, choose(page.actions));
    await closeTabs(uri);
  }

  private answer(uri: Uri | undefined, action: MessageActionItem | undefined): void {
    const key = uri?.toString();
    const page = key === undefined ? undefined : this.open.get(key);
    if (key === undefined || !page) return;
    this.open.delete(key);
    page.answer(action);
  }
}

function pageUri(page: string): Uri {
  return Uri.from({ scheme: trustScheme, path: `/${t("Commands to trust")}`, query: page });
}

async function closeTabs(uri: Uri): Promise<void> {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => pageOf(tab)?.toString() === uri.toString());
  await window.tabGroups.close(tabs);
}

function pageOf(tab: Tab): Uri | undefined {
  return tab.input instanceof TabInputText && tab.input.uri.scheme === trustScheme ? tab.input.uri : undefined;
}
