// New Task: a complete task for one sentence, in an unsaved document. Nothing is written before the user saves it.

import { window, workspace } from "vscode";

import type { Parts } from "../parts";
import { Commands } from "../protocol";
import { type ProposedDocument, showUnsaved } from "./import";
import { pickFrom } from "./pick";

const kinds = [
  { label: "Code", detail: "Tests, the project's own checks, documentation", value: "code" },
  { label: "Writing", detail: "Length, sections, links, a judge", value: "writing" },
  { label: "Research", detail: "Sources, sections of the report, a judge", value: "research" },
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
  const kind = await pickFrom("What does the new task produce?", kinds);
  if (kind === undefined) return;
  const argument = { folder: folder.uri.toString(), sentence, kind };
  await showUnsaved(await server.run<ProposedDocument>(Commands.newTask, argument));
}
