// Saves the task's document before a loop or its checks start, because they use the file on disk.

import { Uri, window, workspace } from "vscode";
import type { Event, TextDocument } from "vscode";
import type { StatusParams, TaskEntry } from "./protocol";
import { waitForChange } from "./waitForChange";

/** `argument.task` is a file URI or a task's id. */
export async function saveTask(argument: object, status: StatusParams | undefined): Promise<void> {
  const { task } = argument as { task?: unknown };
  if (typeof task !== "string") return;
  const entry = status?.tasks.find((it) => it.id === task || it.uri === task);
  const uri = entry?.uri ?? task;
  if (uri.startsWith("file:")) await saveDocument(Uri.parse(uri));
}

/** How long the server may take to see a task that was just saved. */
const seen = 10_000;

/** Saves the proposed task of the active editor, which has no other copy; `undefined` if it contains none. */
export async function saveNewTask(server: { status: StatusParams | undefined; onChange: Event<void> }): Promise<TaskEntry | undefined> {
  const document = window.activeTextEditor?.document;
  if (document?.uri.scheme !== "untitled" || !document.uri.path.startsWith("/") || !(await saveProposed(document))) return undefined;
  const entry = (): TaskEntry | undefined => server.status?.tasks.find((it) => Uri.parse(it.uri).path === document.uri.path);
  await waitForChange(server.onChange, () => entry() !== undefined, seen);
  return entry();
}

/** Saves a document that has a path but no file yet. The editor closes the document, so the file is opened. */
export async function saveProposed(document: TextDocument): Promise<boolean> {
  if (!(await document.save())) return false;
  // Not as a preview, which the next file that is shown would replace.
  await window.showTextDocument(document.uri.with({ scheme: "file" }), { preview: false });
  return true;
}

/** `false` if it is not open, or cannot be saved. */
export async function saveDocument(uri: Uri): Promise<boolean> {
  const document = workspace.textDocuments.find((it) => it.uri.fsPath === uri.fsPath && it.uri.scheme === "file");
  // The extension host learns of changes later than the window does, so a save is always requested; the window ignores it
  // if there are none.
  return (await document?.save()) ?? false;
}
