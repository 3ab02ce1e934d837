// Commands on what iterations did: their changes, the way back to one, their output.

import { window } from "vscode";
import { showChanges } from "../changes";
import { files, iterationRow } from "../iterations";
import type { Parts } from "../parts";
import { plainMessage } from "../plain";
import { Commands, Requests } from "../protocol";
import type { DiffResult, IterationEntry, IterationsParams, IterationsResult, LoopStatus, OutputResult, RollbackResult } from "../protocol";
import { isActive } from "../status";
import { pickFrom, pickLoop } from "./pick";

const noLoop = "No loop has worked in this folder yet.";

export async function showIterationChanges({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Show changes of which loop?", () => true, noLoop);
  if (!it) return;
  const iteration = await pickIteration({ server }, it, "Show changes of which iteration?", (entry) => entry.iteration > 0);
  if (iteration === undefined) return;
  const argument = { loopId: it.id, iteration };
  const result = await server.run<DiffResult>(Commands.diff, argument);
  if (result) await presentResult({ server }, Commands.diff, argument, result);
}

export async function rollback({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Roll back which loop?", () => true, noLoop);
  if (!it) return;
  const iteration = await pickIteration({ server }, it, "Roll the files back to which iteration?", () => true);
  if (iteration === undefined) return;
  const place = iteration === 0 ? "the start" : `iteration ${iteration}`;
  const yes = await pickFrom(`Roll the files back to ${place}?`, [
    { label: `Roll Back to ${iteration === 0 ? "the Start" : `Iteration ${iteration}`}`, detail: "The files as they are now are kept and can be brought back.", value: true },
    { label: "Leave the Files as They Are", value: false },
  ]);
  if (!yes) return;
  const argument = { loopId: it.id, iteration };
  const result = await server.run<RollbackResult>(Commands.rollback, argument);
  if (result) await presentResult({ server }, Commands.rollback, argument, result);
}

export async function showOutput({ server, output }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Show the output of which loop?", () => true, noLoop);
  if (!it) return;
  if (isActive(it)) await output.show(it);
  // The server opens the file.
  else await server.run<OutputResult>(Commands.output, { task: it.task.uri });
}

/** What a command came to, also when a lens or a button asked for it. */
export async function presentResult({ server }: Pick<Parts, "server">, command: string, argument: unknown, result: unknown): Promise<void> {
  const { loopId, iteration } = (argument ?? {}) as { loopId?: string; iteration?: number };
  if (command === Commands.diff) {
    const loop = server.status?.loops.find((it) => it.id === loopId);
    await showChanges(result as DiffResult, loop, iteration ?? 0);
  }
  if (command === Commands.rollback) sayRollback(result as RollbackResult, iteration ?? 0);
}

function sayRollback(result: RollbackResult, iteration: number): void {
  const place = iteration === 0 ? "the start" : `iteration ${iteration}`;
  const sum = `Rolled back to ${place}: ${files(result.written)} written, ${files(result.removed)} removed.`;
  const [refused, ...others] = result.refused;
  if (!refused) {
    void window.showInformationMessage(sum);
    return;
  }
  const rest = others.length > 0 ? `, and ${others.length} more` : "";
  void window.showWarningMessage(plainMessage(`${sum} Left alone: ${refused.path} (${refused.why})${rest}.`));
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
  // The start can always be gone back to, also while nothing is known about it.
  const start: IterationEntry = { iteration: 0, startedAt: loop.startedAt, passed: 0, total: 0 };
  const known = history.iterations.some((it) => it.iteration === 0) ? history.iterations : [start, ...history.iterations];
  const rows = known.filter(fits).reverse().map(iterationRow);
  if (rows.length === 0) {
    void window.showInformationMessage("This loop has finished no iteration yet.");
    return undefined;
  }
  return pickFrom(title, rows);
}
