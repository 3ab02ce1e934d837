// Shows what an iteration changed in the editor's diff view. The server provides copies of the files; both sides are
// shown under the file's path in the project, so that the file does not appear to be moved.

import { Uri, commands, window, workspace } from "vscode";
import type { TextDocumentContentProvider } from "vscode";
import { t } from "./l10n";
import { escapeMessage } from "./escape";
import type { DiffResult, LoopStatus } from "./protocol";

export const copyScheme = "loopkeeper-copy";

/** `loopkeeper-copy:/path?copy`; without a copy the file does not exist on that side. */
export const copies: TextDocumentContentProvider = {
  async provideTextDocumentContent(uri) {
    if (uri.query === "") return "";
    const copy = Uri.parse(uri.query);
    if (copy.scheme !== "file") return "";
    return new TextDecoder().decode(await workspace.fs.readFile(copy));
  },
};

export async function showChanges(result: DiffResult, loop: LoopStatus | undefined, iteration: number | undefined): Promise<void> {
  const [first, ...others] = result.files;
  if (!first) {
    void window.showInformationMessage(escapeMessage(iteration === undefined ? t("The loop changed no file.") : t("Iteration {0} changed no file.", iteration)));
    return;
  }
  if (others.length === 0) {
    const name = first.path.split("/").at(-1) ?? first.path;
    await commands.executeCommand("vscode.diff", side(first.path, first.before), side(first.path, first.after), iteration === undefined ? t("{0} (the loop)", name) : t("{0} (iteration {1})", name, iteration));
    return;
  }
  const rows = result.files.map((it) => [side(it.path, undefined), it.before && side(it.path, it.before), it.after && side(it.path, it.after)]);
  const title = loop?.task.title ?? "Ralph";
  await commands.executeCommand("vscode.changes", iteration === undefined ? t("{0}: changes of the loop", title) : t("{0}: changes of iteration {1}", title, iteration), rows);
}

export function side(path: string, copy: string | undefined): Uri {
  return Uri.from({ scheme: copyScheme, path: `/${path}`, query: copy ?? "" });
}
