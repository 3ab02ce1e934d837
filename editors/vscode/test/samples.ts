// Sample statuses of the server, to be modified by tests.

import type { LoopStatus, StatusParams, TaskEntry } from "../src/protocol";

const criteria = { passed: 3, failed: 2, unverified: 0, total: 5, summary: "3 of 5 criteria pass", brief: "3/5 pass", items: [] };

export const counts = { noProgress: 0, sameError: 0, outputDecline: 0, permissionDenials: 0, oscillation: 0, fastFailures: 0 };

export function loop(changes: Partial<LoopStatus> = {}): LoopStatus {
  return {
    id: "20261120-aaaaaa",
    seq: 12,
    task: { uri: "file:///w/PROMPT.md", title: "Parse dates" },
    agent: "mine",
    state: "working",
    phase: "iterating",
    iteration: 7,
    limits: { iterations: 30, durationMs: 28_800_000, costMicros: 25_000_000, callsPerHour: 100 },
    criteria,
    plan: { done: 0, open: 0, total: 0 },
    breaker: { state: "closed", counts, trips: 0 },
    spawns: { used: 0, budget: 12, depth: 0, inIteration: 0, refused: 0 },
    spent: { calls: 7, callsThisHour: 7 },
    startedAt: "2026-11-20T14:00:00Z",
    pausedMs: 0,
    keeper: { pid: 1, alive: true },
    ...changes,
  };
}

export function task(changes: Partial<TaskEntry> = {}): TaskEntry {
  return {
    id: "PROMPT.md",
    uri: "file:///w/PROMPT.md",
    root: "file:///w",
    title: "Parse dates",
    state: "idle",
    checking: false,
    unknownCommands: 0,
    criteria,
    ...changes,
  };
}

export function status(changes: Partial<StatusParams> = {}): StatusParams {
  return { version: 1, seq: 1, health: "ok", trusted: true, loops: [], tasks: [task()], ...changes };
}

export function ended(kind: NonNullable<LoopStatus["outcome"]>["kind"], verified: boolean): LoopStatus {
  return loop({ state: "done", phase: "ended", iteration: 11, outcome: { kind, verified, sentence: `${kind}, as it is` } });
}
