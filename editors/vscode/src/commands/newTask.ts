// New Task: a complete task for one sentence, in an unsaved document. Nothing is written before the user saves it.

import { window, workspace } from "vscode";

import type { Parts } from "../parts";
import { Commands } from "../protocol";
import { type ProposedDocument, showUnsaved } from "./import";

const kinds = [
  { label: "Code", detail: "Tests, the project's own checks, documentation", kind: "code" },
  { label: "Writing", detail: "Length, sections, links, a judge", kind: "writing" },
  { label: "Research", detail: "Sources, sections of the report, a judge", kind: "research" },
];

export async function newTask({ server }: Parts): Promise<void> {
  const editor = window.activeTextEditor;
  const folder = (editor && workspace.getWorkspaceFolder(editor.document.uri)) ?? workspace.workspaceFolders?.[0];
  if (!folder) {
    void window.showInformationMessage("Ralph: open a folder first, the task is for a project.");
    return;
  }
  const sentence = await window.showInputBox({
    title: "New Task",
    prompt: "What should be done, in one sentence?",
    validateInput: (text) => (text.trim() === "" ? "Say what should be done." : undefined),
  });
  if (sentence === undefined) return;
  const chosen = await window.showQuickPick(kinds, { title: "New Task", placeHolder: "What does it produce?" });
  if (!chosen) return;
  const argument = { folder: folder.uri.toString(), sentence, kind: chosen.kind };
  await showUnsaved(await server.run<ProposedDocument>(Commands.newTask, argument));
}
