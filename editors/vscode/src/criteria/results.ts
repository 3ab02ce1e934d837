// Maps the results of criteria to results of tests. Pure: no editor.

import { t } from "../l10n";
import type { CriterionStatus, StatusParams, TaskEntry } from "../protocol";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

export interface TestResult {
  kind: "passed" | "failed" | "errored" | "skipped";
  message: string;
  expected?: string;
  actual?: string;
  durationMs: number;
}

/** A check that could not decide is an error: the criterion may hold. */
export function testResult(it: CriterionStatus): TestResult {
  const message = it.fact ?? "";
  const { durationMs } = it;
  switch (it.status ?? "unverified") {
    case "pass":
      return { kind: "passed", message, durationMs };
    case "could-not-run":
    case "timed-out":
      return { kind: "errored", message: message === "" ? t("The check could not run.") : message, durationMs };
    case "fail":
    case "no-tests-ran":
    case "unstable": {
      const compared = it.expected !== undefined && it.actual !== undefined ? { expected: expectation(it.expected), actual: it.actual } : {};
      return { kind: "failed", message: message === "" ? t("The criterion does not hold.") : message, durationMs, ...compared };
    }
    case "unverified":
      return { kind: "skipped", message, durationMs };
  }
}

/** The editor puts `6 != …` before it, which an operator would make unreadable. */
function expectation(expected: string): string {
  return /^(?:==|!=|>=|<=|>|<) /.test(expected) ? t("a number {0}", expected) : expected;
}

/** Changes whenever a result of the task changes. */
export function resultsKey(task: TaskEntry): string {
  return JSON.stringify([task.rounds ?? 0, task.criteria.items.map((it) => [it.id, it.status, it.fact, it.durationMs])]);
}

export function hasResult(it: CriterionStatus): boolean {
  return it.status !== undefined && it.status !== "unverified";
}

/**
 * `Parse dates #7` if a loop made the results. While an iteration is running, they are those of the one before it.
 */
export function runName(task: TaskEntry, status: StatusParams, alone: boolean): string {
  const loop = status.loops.find((it) => it.id === task.loopId);
  if (!loop || alone) return task.title;
  const iteration = loop.phase === "iterating" ? loop.iteration - 1 : loop.iteration;
  return `${task.title} #${Math.max(0, iteration)}`;
}

/** Whether the path is that of a file such as `0007.CRITERION.out`, in which the server stores the output of a check. */
export function isOutputOf(criterion: string, path: string): boolean {
  return /^\d+\.(.+)\.out$/.exec(path.slice(path.lastIndexOf("/") + 1))?.[1] === criterion;
}

export interface TextPosition { line: number; character: number }

/** Finds positions in one document from offsets in bytes. Lines end as in editors: CRLF, LF, or CR alone. */
export class LineIndex {
  private readonly starts = [0];

  constructor(private readonly bytes: Uint8Array) {
    for (const [index, byte] of bytes.entries()) {
      const endsLine = byte === lineFeed || (byte === carriageReturn && bytes[index + 1] !== lineFeed);
      if (endsLine) this.starts.push(index + 1);
    }
  }

  /** The position of a byte, in lines and UTF-16 units as editors count. */
  positionOf(offset: number): TextPosition {
    const line = this.lineOf(offset);
    const before = this.bytes.subarray(this.starts[line], offset);
    // Editors hide a byte order mark only at the start of the document.
    const text = new TextDecoder("utf-8", { ignoreBOM: line > 0 }).decode(before);
    return { line, character: text.replace(/\r$/, "").length };
  }

  /** The last line that starts at or before the byte. */
  private lineOf(offset: number): number {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export interface Selection { task: string; criteria: string[] | "all" }

/** One entry for each request: a whole task, or single criteria of it. */
export function checkRequests(chosen: Selection[]): { task: string; criterion?: string }[] {
  return chosen.flatMap(({ task, criteria }) => (criteria === "all" ? [{ task }] : criteria.map((criterion) => ({ task, criterion }))));
}

/** The state of a round of checks that was requested at `before`. */
export type RoundState = "waiting" | "running" | "finished" | "lost";

export function roundState(before: number, seenRunning: boolean, now: TaskEntry | undefined): RoundState {
  if (!now) return "lost";
  if (now.checking) return "running";
  if ((now.rounds ?? 0) > before) return "finished";
  return seenRunning ? "lost" : "waiting";
}
