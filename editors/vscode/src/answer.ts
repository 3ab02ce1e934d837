// Asks the user for the answer to a loop's question. The extension does not interpret the answer; the loop does.

import { window } from "vscode";
import type { Event } from "vscode";
import { t } from "./l10n";
import { escapeLabel, escapeMessage } from "./escape";
import type { LoopStatus, StatusParams } from "./protocol";
import { waitForChange } from "./waitForChange";
import { asks, situation } from "./status";

/** Milliseconds by which the status may arrive later than the notification of a question. */
const statusDelay = 2000;

/**
 * The argument of the server's command; `undefined` if the user cancelled, or the question is closed. An argument that
 * contains a text is returned unchanged.
 */
export async function completeAnswer(argument: object, server: { status: StatusParams | undefined; onChange: Event<void> }): Promise<object | undefined> {
  const { loopId, text } = argument as { loopId?: string; text?: string };
  if (text !== undefined) return argument;
  const find = (): LoopStatus | undefined => server.status?.loops.find((it) => it.id === loopId);
  await waitForChange(server.onChange, () => !isClosed(find()), statusDelay);
  const loop = find();
  if (loop && isClosed(loop)) {
    void window.showInformationMessage(escapeMessage(t("\"{0}\" no longer waits for an answer: {1}", loop.task.title, situation(loop))));
    return undefined;
  }
  // The id of the question that is shown, so that the answer does not apply to a later one.
  const question = loop?.question?.id;
  const typed = await typedAnswer(loop);
  return typed === undefined ? undefined : { loopId, text: typed, ...(question !== undefined && { question }) };
}

/** The editor keeps the notification of a question under its bell after the question is closed. */
function isClosed(loop: LoopStatus | undefined): boolean {
  return loop !== undefined && !asks(loop);
}

async function typedAnswer(loop: LoopStatus | undefined): Promise<string | undefined> {
  const text = await window.showInputBox({
    title: escapeLabel(t("Answer \"{0}\"", loop?.task.title ?? "Ralph")),
    prompt: escapeLabel(loop?.question?.text ?? t("The agent reads this at the start of its next iteration.")),
    ignoreFocusOut: true,
  });
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
