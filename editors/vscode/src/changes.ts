// What an iteration changed, in the editor's own diff view.

import { Uri, commands, window } from "vscode";
import type { TextDocumentContentProvider } from "vscode";
import { plainMessage } from "./plain";
import type { DiffResult, LoopStatus } from "./protocol";

export const emptyScheme = "loopkeeper-empty";

/** The side of a file that is not there. */
export const emptyDocuments: TextDocumentContentProvider = { provideTextDocumentContent: () => "" };

export async function showChanges(result: DiffResult, loop: LoopStatus | undefined, root: string | undefined, iteration: number): Promise<void> {
  const title = `${loop?.task.title ?? "Ralph"}: changes of iteration ${iteration}`;
  const [first, ...others] = result.files;
  if (!first) {
    void window.showInformationMessage(plainMessage(`Iteration ${iteration} changed no file.`));
    return;
  }
  if (others.length === 0) {
    const name = first.path.split("/").at(-1) ?? first.path;
    await commands.executeCommand("vscode.diff", side(first.before, first.path), side(first.after, first.path), `${name} (iteration ${iteration})`);
    return;
  }
  const label = root === undefined ? Uri.from({ scheme: emptyScheme, path: "/" }) : Uri.parse(root);
  const rows = result.files.map((it) => [Uri.joinPath(label, it.path), it.before && Uri.parse(it.before), it.after && Uri.parse(it.after)]);
  await commands.executeCommand("vscode.changes", title, rows);
}

function side(uri: string | undefined, path: string): Uri {
  return uri === undefined ? Uri.from({ scheme: emptyScheme, path: `/${path}` }) : Uri.parse(uri);
}
