// Asks the user for the answer to a loop's question. The extension does not interpret the answer; the loop does.

import { window } from "vscode";
import { t } from "./l10n";
import { plainLabel } from "./plain";
import type { LoopStatus, StatusParams } from "./protocol";

/**
 * The argument of the server's command; `undefined` if the user cancelled. An argument that contains a text is returned
 * unchanged.
 */
export async function answered(argument: object, status: StatusParams | undefined): Promise<object | undefined> {
  const { loopId, text } = argument as { loopId?: string; text?: string };
  if (text !== undefined) return argument;
  const loop = status?.loops.find((it) => it.id === loopId);
  // The id of the question that is shown, so that the answer does not apply to a later one.
  const question = loop?.question?.id;
  const typed = await typedAnswer(loop);
  return typed === undefined ? undefined : { loopId, text: typed, ...(question !== undefined && { question }) };
}

async function typedAnswer(loop: LoopStatus | undefined): Promise<string | undefined> {
  const text = await window.showInputBox({
    title: plainLabel(t("Answer \"{0}\"", loop?.task.title ?? "Ralph")),
    prompt: plainLabel(loop?.question?.text ?? t("The agent reads this at the start of its next iteration.")),
    ignoreFocusOut: true,
  });
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
