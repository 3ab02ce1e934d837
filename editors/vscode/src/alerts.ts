// Shows one notification for each alert of the server, with the server's buttons, and after a reaction to it the alert's
// further question. Never modal, and never takes the focus.

import { commands, window, workspace } from "vscode";
import { withCommandNames } from "./commandNames";
import { rollBackTo } from "./commands/history";
import type { RollbackTarget } from "./commands/history";
import type { CommandContext } from "./commandContext";
import { escapeMessage } from "./escape";
import { Commands } from "./protocol";
import type { AlertParams, Command } from "./protocol";

export async function showAlert(parts: Pick<CommandContext, "server">, alert: AlertParams): Promise<void> {
  if (!wanted(alert.kind)) return;
  const action = await choose(alert.severity, withCommandNames(alert.message, alert.commands), alert.actions);
  if (!action) return;
  await run(parts, action);
  // Only a user who reacted is asked, so that a closed notification stays the last one.
  const question = alert.followUp;
  const answer = question && await choose("info", question.message, question.actions);
  if (answer) await run(parts, answer);
}

async function run(parts: Pick<CommandContext, "server">, action: Command): Promise<void> {
  const [argument] = action.arguments ?? [];
  if (action.command === Commands.rollback) await rollBackTo(parts, argument as RollbackTarget);
  // Only our own commands: a button must never run any other command of the editor.
  else if (action.command.startsWith("loopkeeper.")) await commands.executeCommand(action.command, ...(action.arguments ?? []));
}

async function choose(severity: AlertParams["severity"], message: string, actions: Command[]): Promise<Command | undefined> {
  const chosen = await notify(severity, escapeMessage(message), actions.map((it) => it.title));
  return actions.find((it) => it.title === chosen);
}

function wanted(kind: AlertParams["kind"]): boolean {
  const when = workspace.getConfiguration("loopkeeper").get<string>(`notifications.${kind}`, "always");
  return when === "always" || (when === "unfocused" && !window.state.focused);
}

function notify(severity: AlertParams["severity"], message: string, titles: string[]): Thenable<string | undefined> {
  if (severity === "error") return window.showErrorMessage(message, ...titles);
  if (severity === "warning") return window.showWarningMessage(message, ...titles);
  return window.showInformationMessage(message, ...titles);
}
