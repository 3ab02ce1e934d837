// Saves the task's document before a loop or its checks start, because they use the file on disk.

import { Uri, workspace } from "vscode";
import type { StatusParams } from "./protocol";

/** `argument.task` is a file URI or a task's id. */
export async function saveTask(argument: object, status: StatusParams | undefined): Promise<void> {
  const { task } = argument as { task?: unknown };
  if (typeof task !== "string") return;
  const entry = status?.tasks.find((it) => it.id === task || it.uri === task);
  const uri = entry?.uri ?? task;
  if (uri.startsWith("file:")) await saveDocument(Uri.parse(uri));
}

/** `false` if it is not open, or cannot be saved. */
export async function saveDocument(uri: Uri): Promise<boolean> {
  const document = workspace.textDocuments.find((it) => it.uri.fsPath === uri.fsPath && it.uri.scheme === "file");
  if (!document) return false;
  return !document.isDirty || document.save();
}
