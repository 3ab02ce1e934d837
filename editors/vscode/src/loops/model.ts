// The rows of the Loops view. Pure: no editor. Text of tasks and agents is escaped by the caller.

import { files } from "../iterations";
import { list, t } from "../l10n";
import { shortened } from "../escape";
import type { IterationEntry, IterationsResult, LoopStatus, StatusParams } from "../protocol";
import { asks, isActive, isTripped, situation } from "../status";

export type GroupId = "needsYou" | "working" | "waiting" | "done";

export interface LoopGroup { id: GroupId; title: string; loops: LoopStatus[] }

export interface TreeRow {
  label: string;
  description: string;
  icon: string;
  /** Decides about the actions of the row. */
  context: string;
  /** For screen readers: everything that an icon shows is in it. */
  spoken: string;
  /** Nothing is below it. */
  leaf?: boolean;
}

const titles = (): [GroupId, string][] => [
  ["needsYou", t("Needs you")],
  ["working", t("Working")],
  ["waiting", t("Waiting")],
  ["done", t("Done")],
];
/** A longer title leaves no room for the state in a side bar of the usual width. Screen readers get the whole title. */
const longestLabel = 26;
/** The number of iterations shown at first, and added by each "more". */
export const pageSize = 50;

export function groupOf(it: LoopStatus): GroupId {
  if (needsUser(it)) return "needsYou";
  if (!isActive(it)) return "done";
  return it.state === "paused" || it.phase === "waiting" ? "waiting" : "working";
}

/** Empty groups are left out. */
export function groups(status: StatusParams | undefined): LoopGroup[] {
  const loops = status?.loops ?? [];
  return titles().map(([id, title]) => ({ id, title, loops: loops.filter((it) => groupOf(it) === id) })).filter((it) => it.loops.length > 0);
}

/** The number on the view's icon. */
export function needing(status: StatusParams | undefined): number {
  return (status?.loops ?? []).filter(needsUser).length;
}

export function loopRow(it: LoopStatus): TreeRow {
  const words = [shortState(it), t("{0} of {1} pass", it.criteria.passed, it.criteria.total), ...cost(it.spent.costMicros)];
  const spoken = [it.task.title, stateName(it), t("{0} of {1} criteria pass", it.criteria.passed, it.criteria.total), situation(it)];
  return { label: shortened(it.task.title, longestLabel), description: words.join(" · "), icon: loopIcon(it), context: contextOf(it), spoken: list(...spoken) };
}

/** Newest first. The baseline is not an iteration. `current`: the running iteration. */
export function iterationRows(history: IterationsResult, shown: number, current?: number): { rows: { iteration: number; row: TreeRow }[]; more: number } {
  const all = history.iterations.filter((it) => it.iteration > 0).reverse();
  const rows = all.slice(0, shown).map((it) => ({ iteration: it.iteration, row: it.changed === undefined ? openRow(it, current) : iterationRow(it, history) }));
  return { rows, more: Math.max(0, all.length - shown) };
}

/** Names of the criteria that began to pass in this iteration, and of those that no longer pass. */
export function changesOf(history: IterationsResult, iteration: number): { turned: string[]; broke: string[] } {
  const at = history.iterations.findIndex((it) => it.iteration === iteration);
  const pick = (fits: (before: string | undefined, now: string | undefined) => boolean): string[] =>
    at < 1 ? [] : history.criteria.filter(({ row }) => { const marks = Array.from(row); return fits(marks[at - 1], marks[at]); }).map((it) => it.name);
  return { turned: pick((before, now) => now === "✓" && before !== "✓"), broke: pick((before, now) => before === "✓" && now === "✗") };
}

/** The iteration that the agent works on. */
export function currentIteration(it: LoopStatus | undefined): number | undefined {
  return it && groupOf(it) === "working" ? it.iteration : undefined;
}

/** An iteration that has not ended, or was cut off: it has no difference to show, and no snapshot to roll back to. */
function openRow(it: IterationEntry, current: number | undefined): TreeRow {
  const label = t("Iteration {0}", it.iteration);
  const [state, icon] = it.iteration === current ? [t("at work"), "sync"] : [t("not finished"), "circle-outline"];
  return { label, description: state, icon, context: "", spoken: list(label, state), leaf: true };
}

function iterationRow(it: IterationEntry, history: IterationsResult): TreeRow {
  const { turned, broke } = changesOf(history, it.iteration);
  const parts = [
    ...(it.takenBack ? [t("rolled back")] : []),
    ...(turned.length > 0 ? [`✓ ${list(...turned)}`] : []),
    ...(broke.length > 0 ? [`✗ ${list(...broke)}`] : []),
    ...(it.changed === undefined ? [] : [files(it.changed)]),
    ...cost(it.costMicros),
  ];
  const label = t("Iteration {0}", it.iteration);
  const spoken = [label, ...(turned.length > 0 ? [t("now passing: {0}", list(...turned))] : []), ...(broke.length > 0 ? [t("now failing: {0}", list(...broke))] : []), ...(it.changed === undefined ? [] : [t("{0} changed", files(it.changed))])];
  const icon = broke.length > 0 ? "error" : turned.length > 0 ? "pass" : "circle-outline";
  return { label, description: parts.join(" · "), icon, context: "loopkeeper.iteration", spoken: list(...spoken) };
}

function needsUser(it: LoopStatus): boolean {
  return it.state === "needsYou" || isTripped(it);
}

function stateName(it: LoopStatus): string {
  if (it.outcome) return outcomeName(it.outcome);
  if (isTripped(it)) return t("breaker open");
  switch (groupOf(it)) {
    case "needsYou":
      return t("needs you");
    case "waiting":
      return it.state === "paused" ? t("paused") : t("waiting");
    case "working":
    case "done":
      return t("iteration {0}/{1}", it.iteration, it.limits.iterations);
  }
}

/** The state, which a narrow side bar shows alone. The icon shows that the loop is running. */
function shortState(it: LoopStatus): string {
  return groupOf(it) === "working" ? `${it.iteration}/${it.limits.iterations}` : stateName(it);
}

function outcomeName({ kind, verified }: NonNullable<LoopStatus["outcome"]>): string {
  switch (kind) {
    case "completed":
      return verified ? t("completed") : t("claimed");
    case "stopped":
      return t("stopped");
    case "limit":
      return t("limit");
    case "breaker":
      return t("breaker");
    case "failed":
      return t("failed");
  }
}

function loopIcon(it: LoopStatus): string {
  switch (groupOf(it)) {
    case "needsYou":
      return isTripped(it) ? "error" : "bell-dot";
    case "working":
      return "sync";
    case "waiting":
      return it.state === "paused" ? "debug-pause" : "clock";
    case "done":
      if (it.outcome?.kind === "completed") return it.outcome.verified ? "pass" : "unverified";
      return it.outcome?.kind === "stopped" ? "debug-stop" : "error";
  }
}

/** `loopkeeper.loop.active.asks`: the manifest's conditions test its words. */
function contextOf(it: LoopStatus): string {
  return ["loopkeeper.loop", isActive(it) ? "active" : "ended", ...(asks(it) ? ["asks"] : [])].join(".");
}

function cost(micros: number | undefined): string[] {
  return micros === undefined ? [] : [`$${(micros / 1e6).toFixed(2)}`];
}
