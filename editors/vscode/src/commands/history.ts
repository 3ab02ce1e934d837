// Commands about iterations: their changes, a rollback to one of them, their output.

import { window } from "vscode";
import { showChanges } from "../changes";
import { files, iterationRow } from "../iterations";
import type { Parts, Target } from "../parts";
import { plainLabel, plainMessage } from "../plain";
import { Commands, Requests } from "../protocol";
import type { DiffResult, IterationEntry, IterationsParams, IterationsResult, LoopStatus, OrderResult, OutputResult, RollbackResult } from "../protocol";
import { isActive } from "../status";
import { pickFrom, pickLoop } from "./pick";

const noLoop = "No loop has worked in this folder yet.";
const noEnded = "No loop has ended in this folder yet.";
const moreIterations = 10;

export async function showIterationChanges({ server }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, "Show changes of which loop?", () => true, noLoop, target);
  if (!it) return;
  const iteration = target?.iteration ?? await pickIteration({ server }, it, "Show changes of which iteration?", (entry) => entry.iteration > 0);
  if (iteration === undefined) return;
  const argument = { loopId: it.id, iteration };
  const result = await server.run<DiffResult>(Commands.diff, argument);
  if (result) await presentResult({ server }, Commands.diff, argument, result);
}

export async function rollback({ server }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, "Roll back which loop?", () => true, noLoop, target);
  if (!it) return;
  const iteration = target?.iteration ?? await pickIteration({ server }, it, "Roll the files back to which iteration?", () => true);
  if (iteration === undefined) return;
  const place = iteration === 0 ? "the start" : `iteration ${iteration}`;
  const argument = { loopId: it.id, iteration };
  const preview = await server.run<RollbackResult>(Commands.rollback, { ...argument, preview: true });
  if (!preview) return;
  const yes = await pickFrom(`Roll the files back to ${place}?`, [
    { label: `Roll Back to ${iteration === 0 ? "the Start" : `Iteration ${iteration}`}`, detail: plainLabel(planned(preview)), value: true },
    { label: "Leave the Files as They Are", value: false },
  ]);
  if (!yes) return;
  const result = await server.run<RollbackResult>(Commands.rollback, argument);
  if (result) await presentResult({ server }, Commands.rollback, argument, result);
}

export async function undoRollback({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Undo the last rollback of which loop?", () => true, noLoop);
  if (it) await undo({ server }, it.id);
}

function undo(parts: Pick<Parts, "server">, loopId: string): Promise<void> {
  return putBack(parts, Commands.undoRollback, { loopId }, "Undo the last rollback?", "Undo the Rollback");
}

/** Argument of a rollback. */
export interface RollbackTarget { loopId: string; iteration: number; paths?: string[] }

/** A rollback that a button of the server offers. */
export function rollBackTo(parts: Pick<Parts, "server">, argument: RollbackTarget): Promise<void> {
  const place = argument.iteration === 0 ? "the start" : `iteration ${argument.iteration}`;
  return putBack(parts, Commands.rollback, argument, `Roll the files back to ${place}?`, "Roll Back");
}

/** Asks only if files that the user changed since the last snapshot would be overwritten or removed. */
async function putBack({ server }: Pick<Parts, "server">, command: string, argument: object, question: string, button: string): Promise<void> {
  const preview = await server.run<RollbackResult>(command, { ...argument, preview: true });
  if (!preview) return;
  if (preview.edited && preview.edited.length > 0) {
    const options = { modal: true, detail: plainMessage(planned(preview)) };
    if ((await window.showWarningMessage(question, options, button)) !== button) return;
  }
  const result = await server.run<RollbackResult>(command, argument);
  if (result) await presentResult({ server }, command, argument, result);
}

/** `3 files written, 1 file removed. Changed since the last snapshot: a.rs. …` */
function planned(preview: RollbackResult): string {
  const sum = `${files(preview.written)} written, ${files(preview.removed)} removed.`;
  const kept = "The files as they are now are kept, and Undo brings them back.";
  const edited = preview.edited ?? [];
  if (edited.length === 0) return `${sum} ${kept}`;
  const rest = edited.length > 3 ? ` and ${edited.length - 3} more` : "";
  return `${sum} Changed since the last snapshot: ${edited.slice(0, 3).join(", ")}${rest}. ${kept}`;
}

export async function showOutput({ server, output }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, "Show the output of which loop?", () => true, noLoop, target);
  if (!it) return;
  if (target?.iteration !== undefined) await server.run<OutputResult>(Commands.output, { task: it.task.uri, iteration: target.iteration });
  else if (isActive(it)) await output.show(it);
  // The server opens the file.
  else await server.run<OutputResult>(Commands.output, { task: it.task.uri });
}

const verdicts = [
  { label: "At the Right Moment", verdict: "right" },
  { label: "Too Early", verdict: "tooEarly" },
  { label: "Too Late", verdict: "tooLate" },
];

export async function giveFeedback({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Give feedback on the end of which loop?", (loop) => loop.state === "done", noEnded);
  if (!it) return;
  const verdict = await pickFrom(`When did "${it.task.title}" stop?`, verdicts.map(({ label, verdict }) => ({ label, value: verdict })));
  if (verdict !== undefined) await server.run<OrderResult>(Commands.feedback, { loopId: it.id, verdict });
}

export async function reviewChanges({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Review the changes of which loop?", () => true, noLoop);
  if (!it) return;
  const result = await server.run<DiffResult>(Commands.diff, { loopId: it.id });
  if (result) await presentResult({ server }, Commands.diff, { loopId: it.id }, result);
}

export async function continueLoop({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Continue the task of which loop?", (loop) => loop.state === "done", noEnded);
  if (it) await server.run<OrderResult>(Commands.resume, { loopId: it.id, more: moreIterations });
}

export async function showReceipt({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Show the receipt of which loop?", (loop) => !isActive(loop), noEnded);
  // The server opens the page.
  if (it) await server.run<OrderResult>(Commands.receipt, { loopId: it.id });
}

/** Shows the result of a command, also if a lens or a button ran it. */
export async function presentResult({ server }: Pick<Parts, "server">, command: string, argument: unknown, result: unknown): Promise<void> {
  const { loopId, iteration } = (argument ?? {}) as { loopId?: string; iteration?: number };
  const loop = server.status?.loops.find((it) => it.id === loopId);
  sayEffect(loop?.task.title, result as OrderResult | null);
  if (command === Commands.diff) await showChanges(result as DiffResult, loop, iteration);
  const place = iteration === 0 ? "the start" : `iteration ${iteration ?? 0}`;
  const rolledBack = result as RollbackResult;
  if (command === Commands.rollback) void sayRollback({ server }, rolledBack, `Rolled back to ${place}`, "Undo", loopId);
  if (command === Commands.undoRollback) void sayRollback({ server }, rolledBack, "The rollback is undone", "Roll Back Again", loopId);
}

/** Shows that the command was accepted, and when it takes effect, because the loop may be busy for a long time. */
export function sayEffect(title: string | undefined, result: OrderResult | null | undefined): void {
  if (result?.effect) void window.showInformationMessage(plainMessage(title ? `"${title}": ${result.effect}` : result.effect));
}

/** The button undoes this: undoing an undo repeats the rollback. */
async function sayRollback(
  parts: Pick<Parts, "server">,
  result: RollbackResult,
  what: string,
  button: string,
  loopId: string | undefined,
): Promise<void> {
  const sum = `${what}: ${files(result.written)} written, ${files(result.removed)} removed.`;
  const [refused, ...others] = result.refused;
  const rest = others.length > 0 ? `, and ${others.length} more` : "";
  const pressed = refused
    ? await window.showWarningMessage(plainMessage(`${sum} Left alone: ${refused.path} (${refused.why})${rest}.`), button)
    : await window.showInformationMessage(sum, button);
  if (pressed === button && loopId) await undo(parts, loopId);
}

async function pickIteration(
  { server }: Pick<Parts, "server">,
  loop: LoopStatus,
  title: string,
  fits: (it: IterationEntry) => boolean,
): Promise<number | undefined> {
  const params: IterationsParams = { loopId: loop.id };
  const history = await server.ask<IterationsResult>(Requests.iterations, params);
  if (!history) return undefined;
  // The start can always be restored, even if nothing is known about it.
  const start: IterationEntry = { iteration: 0, startedAt: loop.startedAt, passed: 0, total: 0 };
  const known = history.iterations.some((it) => it.iteration === 0) ? history.iterations : [start, ...history.iterations];
  const rows = known.filter(fits).reverse().map(iterationRow);
  if (rows.length === 0) {
    void window.showInformationMessage("This loop has finished no iteration yet.");
    return undefined;
  }
  return pickFrom(title, rows);
}
