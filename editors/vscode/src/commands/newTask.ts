// New Task: a complete task for one sentence, in an unsaved document. Nothing is written before the user saves it.

import { window, workspace } from "vscode";

import { t } from "../l10n";
import type { CommandContext } from "../commandContext";
import { Commands } from "../protocol";
import { type ProposedDocument, showUnsaved } from "./import";
import { type Choice, pickFrom } from "./pick";

const kinds = (): Choice<string>[] => [
  { label: t("As the Sentence Says"), detail: t("Code, a text or a report, by its words"), value: "" },
  { label: t("Code"), detail: t("Tests, the project's own checks, documentation"), value: "code" },
  { label: t("Writing"), detail: t("Length, sections, links, a judge"), value: "writing" },
  { label: t("Research"), detail: t("Sources, sections of the report, a judge"), value: "research" },
];

export async function newTask({ server }: CommandContext): Promise<void> {
  const editor = window.activeTextEditor;
  const folder = (editor && workspace.getWorkspaceFolder(editor.document.uri)) ?? workspace.workspaceFolders?.[0];
  if (!folder) {
    void window.showInformationMessage(t("Ralph: open a folder first, the task is for a project."));
    return;
  }
  const sentence = await window.showInputBox({
    title: t("New Task"),
    prompt: t("What should be done, in one sentence?"),
    validateInput: (text) => (text.trim() === "" ? t("Say what should be done.") : undefined),
  });
  if (sentence === undefined) return;
  const kind = await pickFrom(t("What does the new task produce?"), kinds());
  if (kind === undefined) return;
  const argument = { folder: folder.uri.toString(), sentence, ...(kind === "" ? {} : { kind }) };
  await showUnsaved(await server.run<ProposedDocument>(Commands.newTask, argument));
}
