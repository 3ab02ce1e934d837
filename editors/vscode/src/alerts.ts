// Shows one notification for each alert of the server, with the server's buttons. Never modal, and never takes the
// focus.

import { commands, window, workspace } from "vscode";
import { plainMessage } from "./plain";
import type { AlertParams } from "./protocol";

export async function showAlert(alert: AlertParams): Promise<void> {
  if (!wanted(alert.kind)) return;
  const titles = alert.actions.map((it) => it.title);
  const chosen = await notify(alert.severity, plainMessage(alert.message), titles);
  const action = alert.actions.find((it) => it.title === chosen);
  // Only our own commands: a button must never run any other command of the editor.
  if (action?.command.startsWith("loopkeeper.")) await commands.executeCommand(action.command, ...(action.arguments ?? []));
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
