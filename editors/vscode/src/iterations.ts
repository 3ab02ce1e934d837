// Describes an iteration in a pick list. Pure: no editor.

import { plainLabel } from "./plain";
import type { IterationEntry } from "./protocol";

export interface IterationRow {
  label: string;
  description: string;
  detail?: string;
  value: number;
}

/** The changes of its files, and below that what it reached and when. */
export function iterationRow(it: IterationEntry): IterationRow {
  const detail = [...(it.milestones ?? []), ...kept(it), ...began(it)].map(plainLabel).join(" · ");
  const name = it.iteration === 0 ? "Start" : `Iteration ${it.iteration}`;
  return {
    label: it.takenBack ? `${name} (taken back)` : name,
    description: [...results(it), ...changes(it)].join(", "),
    ...(detail !== "" && { detail }),
    value: it.iteration,
  };
}

export function files(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function results(it: IterationEntry): string[] {
  return it.summary === undefined ? [] : [it.summary];
}

function changes(it: IterationEntry): string[] {
  if (it.iteration === 0 || it.changed === undefined) return [];
  if (it.changed === 0) return ["no file changed"];
  const lines = it.added === undefined || it.removed === undefined ? "" : ` (+${it.added} −${it.removed})`;
  return [`${files(it.changed)} changed${lines}`];
}

function kept(it: IterationEntry): string[] {
  return it.commit === undefined ? [] : [`commit ${it.commit.slice(0, 10)}`];
}

function began(it: IterationEntry): string[] {
  const at = new Date(it.startedAt);
  return Number.isNaN(at.getTime()) ? [] : [at.toLocaleString()];
}
