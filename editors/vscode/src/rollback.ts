// Describes a rollback before and after it. Pure: no editor. The keeper of an older version does not report its changes.

import { files } from "./iterations";
import { list, t } from "./l10n";
import type { RollbackResult } from "./protocol";

type Restored = Omit<RollbackResult, "status">;

/** `3 files written, 1 file removed. Changed since the last snapshot: a.rs. …` */
export function planned({ written, removed, edited = [] }: Restored): string {
  const sum = written === undefined || removed === undefined ? [] : [t("{0} written, {1} removed.", files(written), files(removed))];
  const stored = t("The current files are kept, and Undo restores them.");
  if (edited.length === 0) return [...sum, stored].join(" ");
  const first = list(...edited.slice(0, 3));
  const changed = edited.length > 3 ? t("Changed since the last snapshot: {0} and {1} more.", first, edited.length - 3) : t("Changed since the last snapshot: {0}.", first);
  return [...sum, changed, stored].join(" ");
}

export interface RollbackMessage {
  text: string;
  /** Whether every file could be restored, as far as is known. */
  isComplete: boolean;
}

/** Without an iteration the rollback was undone. */
export function rollbackMessage(iteration: number | undefined, { written, removed, refused = [] }: Restored): RollbackMessage {
  const sum = written === undefined || removed === undefined ? restored(iteration) : counted(iteration, files(written), files(removed));
  const [first, ...others] = refused;
  return first ? { text: [sum, refusal(first, others.length)].join(" "), isComplete: false } : { text: sum, isComplete: true };
}

function restored(iteration: number | undefined): string {
  if (iteration === undefined) return t("The rollback is undone.");
  return iteration === 0 ? t("Rolled back to the start.") : t("Rolled back to iteration {0}.", iteration);
}

function counted(iteration: number | undefined, written: string, removed: string): string {
  if (iteration === undefined) return t("The rollback is undone: {0} written, {1} removed.", written, removed);
  if (iteration === 0) return t("Rolled back to the start: {0} written, {1} removed.", written, removed);
  return t("Rolled back to iteration {0}: {1} written, {2} removed.", iteration, written, removed);
}

function refusal({ path, why }: NonNullable<RollbackResult["refused"]>[number], others: number): string {
  return others > 0 ? t("Not changed: {0} ({1}), and {2} more.", path, why, others) : t("Not changed: {0} ({1}).", path, why);
}
