// Import Selection or Clipboard as Task: a task made of a text such as an issue or the log of a failed run, in an unsaved
// document. Nothing is written before the user saves it.

import { Position, Uri, WorkspaceEdit, commands, env, window, workspace } from "vscode";
import type { TextDocument } from "vscode";

import { t } from "../l10n";
import type { CommandContext } from "../commandContext";
import { Commands, type EffectResult } from "../protocol";
import { saveProposed } from "../save";

export async function importText({ server }: CommandContext): Promise<void> {
  const editor = window.activeTextEditor;
  const selected = editor?.document.getText(editor.selection);
  const text = selected?.trim() ? selected : await env.clipboard.readText();
  if (text.trim() === "") {
    void window.showInformationMessage(t("Ralph: nothing is selected, and the clipboard is empty."));
    return;
  }
  const folder = (editor && workspace.getWorkspaceFolder(editor.document.uri)) ?? workspace.workspaceFolders?.[0];
  const argument = { text, ...(folder && { folder: folder.uri.toString() }) };
  await showUnsaved(await server.run<ProposedDocument>(Commands.importLoop, argument));
}

/** A task that the server proposes, and where it can be saved. */
export type ProposedDocument = EffectResult & { uri?: string; document?: string };

/** Opens the task in an unsaved document. */
export async function showUnsaved(result: ProposedDocument | undefined): Promise<void> {
  if (result?.uri === undefined || result.document === undefined) return;
  const unsaved = Uri.parse(result.uri).with({ scheme: "untitled" });
  const document = await workspace.openTextDocument(unsaved);
  const edit = new WorkspaceEdit();
  edit.insert(unsaved, new Position(0, 0), result.document);
  await workspace.applyEdit(edit);
  await window.showTextDocument(document);
  void offerToSave(document);
}

async function offerToSave(document: TextDocument): Promise<void> {
  const [save, start] = [t("Save"), t("Start Loop")];
  const chosen = await window.showInformationMessage(t("Review the task, then save it or start it: until then it exists only here."), save, start);
  if (chosen === undefined) return;
  // It may have been saved or closed in the meantime.
  if (workspace.textDocuments.includes(document)) await saveProposed(document);
  if (chosen === start) await commands.executeCommand("loopkeeper.startLoop");
}
