// Resolves the task or loop of a command: the only one, that of the active document, or else the one that the user
// picks.

import { QuickPickItemKind, Uri, commands, window, workspace } from "vscode";
import type { QuickPickItem } from "vscode";
import { t } from "../l10n";
import type { CommandTarget } from "../commandContext";
import { escapeLabel } from "../escape";
import type { LoopStatus, StatusParams, TaskEntry } from "../protocol";
import { progress, situation } from "../status";

export async function pickTask(status: StatusParams | undefined, title: string): Promise<TaskEntry | undefined> {
  const tasks = status?.tasks ?? [];
  if (tasks.length === 0) {
    noTask();
    return undefined;
  }
  return choose(tasks, title, (it) => it.uri, taskRow);
}

/** With the folder where several are open: each may have a `PROMPT.md`. */
export function taskRow(it: TaskEntry): QuickPickItem {
  const folders = (workspace.workspaceFolders ?? []).length;
  return { label: escapeLabel(it.title), description: escapeLabel(folders > 1 ? workspace.asRelativePath(Uri.parse(it.uri)) : it.id) };
}

/** Reports that there is no task, and offers the commands that create one. */
export function noTask(): void {
  const offers = new Map([[t("New Task…"), "loopkeeper.newTask"], [t("Import Selection or Clipboard…"), "loopkeeper.importText"]]);
  const message = t("There is no task in this folder. A task is a file such as PROMPT.md with criteria under a heading such as \"Done when\".");
  void window.showInformationMessage(message, ...offers.keys()).then((chosen) => {
    const command = chosen === undefined ? undefined : offers.get(chosen);
    if (command !== undefined) void commands.executeCommand(command);
  });
}

export async function pickLoop(
  status: StatusParams | undefined,
  title: string,
  fits: (it: LoopStatus) => boolean,
  none: string,
  target?: CommandTarget,
): Promise<LoopStatus | undefined> {
  const loops = (status?.loops ?? []).filter((it) => fits(it) && (target?.loopId === undefined || it.id === target.loopId));
  if (loops.length === 0) {
    void window.showInformationMessage(none);
    return undefined;
  }
  return choose(loops, title, (it) => it.task.uri, describe);
}

function describe(it: LoopStatus): QuickPickItem {
  return { label: escapeLabel(it.task.title), description: escapeLabel(progress(it)), detail: escapeLabel(t("{0} ({1})", situation(it), it.id)) };
}

export interface Choice<T> extends QuickPickItem {
  value: T;
}

/** A list with a title; `undefined` when the user cancels it. */
export async function pickFrom<T>(title: string, choices: (Choice<T> | string)[]): Promise<T | undefined> {
  const rows = choices.map((it) => (typeof it === "string" ? { label: it, kind: QuickPickItemKind.Separator } : it));
  const picked = await window.showQuickPick<QuickPickItem>(rows, { title: escapeLabel(title), matchOnDescription: true, matchOnDetail: true });
  return picked && "value" in picked ? (picked as Choice<T>).value : undefined;
}

async function choose<T>(all: T[], title: string, uri: (it: T) => string, row: (it: T) => QuickPickItem): Promise<T | undefined> {
  const [only, another] = all;
  if (!another) return only;
  const front = window.activeTextEditor?.document.uri;
  const here = all.filter((it) => front?.scheme === "file" && Uri.parse(uri(it)).fsPath === front.fsPath);
  if (here.length === 1) return here[0];
  return pickFrom(title, all.map((it) => ({ ...row(it), value: it })));
}
