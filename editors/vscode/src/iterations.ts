// Describes an iteration in a pick list. Pure: no editor.

import { t } from "./l10n";
import { escapeLabel } from "./escape";
import type { IterationEntry } from "./protocol";

export interface IterationRow {
  label: string;
  description: string;
  detail?: string;
  value: number;
}

/** The changes of its files, and below that what it reached and when. */
export function iterationRow(it: IterationEntry): IterationRow {
  const detail = [...(it.milestones ?? []), ...kept(it), ...began(it)].map(escapeLabel).join(" · ");
  const name = it.iteration === 0 ? t("Start") : t("Iteration {0}", it.iteration);
  return {
    label: it.takenBack ? t("{0} (rolled back)", name) : name,
    description: [...results(it), ...changes(it)].join(", "),
    ...(detail !== "" && { detail }),
    value: it.iteration,
  };
}

export function files(count: number): string {
  return count === 1 ? t("1 file") : t("{0} files", count);
}

function results(it: IterationEntry): string[] {
  return it.summary === undefined ? [] : [it.summary];
}

function changes(it: IterationEntry): string[] {
  if (it.iteration === 0 || it.changed === undefined) return [];
  if (it.changed === 0) return [t("no file changed")];
  const changed = t("{0} changed", files(it.changed));
  return [it.added === undefined || it.removed === undefined ? changed : `${changed} (+${it.added} −${it.removed})`];
}

function kept(it: IterationEntry): string[] {
  return it.commit === undefined ? [] : [t("commit {0}", it.commit.slice(0, 10))];
}

function began(it: IterationEntry): string[] {
  const at = new Date(it.startedAt);
  return Number.isNaN(at.getTime()) ? [] : [at.toLocaleString()];
}
