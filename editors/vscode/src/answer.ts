// Asks the user for the answer to a loop's question. What to answer, and what becomes of it, is between them and the loop.

import { window } from "vscode";
import { plainLabel } from "./plain";
import type { LoopStatus, StatusParams } from "./protocol";

/** The argument of the server's command; `undefined`: the user left it. One that has its text is taken as it is. */
export async function answered(argument: object, status: StatusParams | undefined): Promise<object | undefined> {
  const { loopId, text } = argument as { loopId?: string; text?: string };
  if (text !== undefined) return argument;
  const loop = status?.loops.find((it) => it.id === loopId);
  // The question that is shown: another one that came meanwhile is not answered by it.
  const question = loop?.question?.id;
  const typed = await typedAnswer(loop);
  return typed === undefined ? undefined : { loopId, text: typed, ...(question !== undefined && { question }) };
}

async function typedAnswer(loop: LoopStatus | undefined): Promise<string | undefined> {
  const text = await window.showInputBox({
    title: plainLabel(`Answer "${loop?.task.title ?? "Ralph"}"`),
    prompt: plainLabel(loop?.question?.text ?? "The agent reads this at the start of its next iteration."),
    ignoreFocusOut: true,
  });
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
