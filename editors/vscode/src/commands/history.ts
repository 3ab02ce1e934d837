// Commands about iterations: their changes, a rollback to one of them, their output.

import { window } from "vscode";
import { showChanges } from "../changes";
import { iterationRow } from "../iterations";
import { t } from "../l10n";
import type { CommandContext, CommandTarget } from "../commandContext";
import { escapeLabel, escapeMessage } from "../escape";
import { Commands, Requests } from "../protocol";
import type { DiffResult, IterationEntry, IterationsParams, IterationsResult, LoopStatus, EffectResult, OutputResult, RollbackResult, StatusParams } from "../protocol";
import { planned, rollbackMessage } from "../rollback";
import { isActive } from "../status";
import { pickFrom, pickLoop } from "./pick";

const noLoop = (): string => t("No loop has run in this folder yet.");
const noEnded = (): string => t("No loop has ended in this folder yet.");
const moreIterations = 10;

export async function showIterationChanges({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Show changes of which loop?"), () => true, noLoop(), target);
  if (!it) return;
  const iteration = target?.iteration ?? await pickIteration({ server }, it, t("Show changes of which iteration?"), (entry) => entry.iteration > 0);
  if (iteration === undefined) return;
  const argument = { loopId: it.id, iteration };
  const result = await server.run<DiffResult>(Commands.diff, argument);
  if (result) await presentResult({ server }, Commands.diff, argument, result);
}

export async function rollback({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Roll back which loop?"), () => true, noLoop(), target);
  if (!it) return;
  const iteration = target?.iteration ?? await pickIteration({ server }, it, t("Roll the files back to which iteration?"), () => true);
  if (iteration === undefined) return;
  const argument = { loopId: it.id, iteration };
  const preview = await server.run<RollbackResult>(Commands.rollback, { ...argument, preview: true });
  if (!preview) return;
  const yes = await pickFrom(rollbackQuestion(iteration), [
    { label: iteration === 0 ? t("Roll Back to the Start") : t("Roll Back to Iteration {0}", iteration), detail: escapeLabel(planned(preview)), value: true },
    { label: t("Leave the Files as They Are"), value: false },
  ]);
  if (!yes) return;
  const result = await server.run<RollbackResult>(Commands.rollback, argument);
  if (result) await presentResult({ server }, Commands.rollback, argument, result);
}

export async function undoRollback({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Undo the last rollback of which loop?"), () => true, noLoop());
  if (it) await undo({ server }, it.id);
}

function undo(context: Pick<CommandContext, "server">, loopId: string): Promise<void> {
  return putBack(context, Commands.undoRollback, { loopId }, t("Undo the last rollback?"), t("Undo the Rollback"));
}

/** Argument of a rollback. */
export interface RollbackTarget { loopId: string; iteration: number; paths?: string[] }

/** A rollback that a button of the server offers. */
export function rollBackTo(context: Pick<CommandContext, "server">, argument: RollbackTarget): Promise<void> {
  return putBack(context, Commands.rollback, argument, rollbackQuestion(argument.iteration), t("Roll Back"));
}

function rollbackQuestion(iteration: number): string {
  return iteration === 0 ? t("Roll the files back to the start?") : t("Roll the files back to iteration {0}?", iteration);
}

/** Asks only if files that the user changed since the last snapshot would be overwritten or removed. */
async function putBack({ server }: Pick<CommandContext, "server">, command: string, argument: object, question: string, button: string): Promise<void> {
  const preview = await server.run<RollbackResult>(command, { ...argument, preview: true });
  if (!preview) return;
  if (preview.edited && preview.edited.length > 0) {
    const options = { modal: true, detail: escapeMessage(planned(preview)) };
    if ((await window.showWarningMessage(question, options, button)) !== button) return;
  }
  const result = await server.run<RollbackResult>(command, argument);
  if (result) await presentResult({ server }, command, argument, result);
}

export async function showOutput({ server, output }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Show the output of which loop?"), () => true, noLoop(), target);
  if (!it) return;
  // The server opens the file.
  if (target?.iteration !== undefined) await server.run<OutputResult>(Commands.output, { task: it.task.uri, iteration: target.iteration });
  else await output.show(it);
}

const verdicts = (): { label: string; value: string }[] => [
  { label: t("At the Right Moment"), value: "right" },
  { label: t("Too Early"), value: "tooEarly" },
  { label: t("Too Late"), value: "tooLate" },
];

export async function giveFeedback({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Give feedback on the end of which loop?"), (loop) => loop.state === "done", noEnded());
  if (!it) return;
  const verdict = await pickFrom(t("When did \"{0}\" stop?", it.task.title), verdicts());
  if (verdict !== undefined) await server.run<EffectResult>(Commands.feedback, { loopId: it.id, verdict });
}

export async function reviewChanges({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Review the changes of which loop?"), () => true, noLoop(), target);
  if (!it) return;
  const result = await server.run<DiffResult>(Commands.diff, { loopId: it.id });
  if (result) await presentResult({ server }, Commands.diff, { loopId: it.id }, result);
}

export async function continueLoop({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Continue the task of which loop?"), (loop) => loop.state === "done", noEnded());
  if (it) await server.run<EffectResult>(Commands.resume, { loopId: it.id, more: moreIterations });
}

export async function showReceipt({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Show the receipt of which loop?"), (loop) => !isActive(loop), noEnded());
  // The server opens the page.
  if (it) await server.run<EffectResult>(Commands.receipt, { loopId: it.id });
}

/** Shows the result of a command, also if a lens or a button ran it. */
export async function presentResult({ server }: Pick<CommandContext, "server">, command: string, argument: unknown, result: unknown): Promise<void> {
  const { loopId, iteration } = (argument ?? {}) as { loopId?: string; iteration?: number };
  const loop = server.status?.loops.find((it) => it.id === loopId);
  sayEffect(server.status, loop?.task.title, result as EffectResult | null);
  if (command === Commands.diff) await showChanges(result as DiffResult, loop, iteration);
  const rolledBack = (result ?? {}) as Omit<RollbackResult, "status">;
  if (command === Commands.rollback) void sayRollback({ server }, rolledBack, iteration ?? 0, loopId);
  if (command === Commands.undoRollback) void sayRollback({ server }, rolledBack, undefined, loopId);
}

/**
 * Shows that the command was accepted, and when it takes effect, because the loop may be busy for a long time. The editor
 * cuts a message without buttons after one line, so it names the task only where several loops are running.
 */
export function sayEffect(status: StatusParams | undefined, title: string | undefined, result: EffectResult | null | undefined): void {
  if (!result?.effect) return;
  const several = (status?.loops ?? []).filter(isActive).length > 1;
  void window.showInformationMessage(escapeMessage(title && several ? t("\"{0}\": {1}", title, result.effect) : result.effect));
}

/** The button undoes this: undoing an undo repeats the rollback. */
async function sayRollback(
  context: Pick<CommandContext, "server">,
  result: Omit<RollbackResult, "status">,
  iteration: number | undefined,
  loopId: string | undefined,
): Promise<void> {
  const button = iteration === undefined ? t("Roll Back Again") : t("Undo");
  const { text, isComplete } = rollbackMessage(iteration, result);
  const pressed = isComplete
    ? await window.showInformationMessage(text, button)
    : await window.showWarningMessage(escapeMessage(text), button);
  if (pressed === button && loopId) await undo(context, loopId);
}

async function pickIteration(
  { server }: Pick<CommandContext, "server">,
  loop: LoopStatus,
  title: string,
  fits: (it: IterationEntry) => boolean,
): Promise<number | undefined> {
  const params: IterationsParams = { loopId: loop.id };
  const history = await server.ask<IterationsResult>(Requests.iterations, params);
  if (!history) return undefined;
  // The state at the start can always be restored, even without an entry for it.
  const start: IterationEntry = { iteration: 0, startedAt: loop.startedAt, passed: 0, total: 0 };
  const known = history.iterations.some((it) => it.iteration === 0) ? history.iterations : [start, ...history.iterations];
  const rows = known.filter(fits).reverse().map(iterationRow);
  if (rows.length === 0) {
    void window.showInformationMessage(t("This loop has finished no iteration yet."));
    return undefined;
  }
  return pickFrom(title, rows);
}
