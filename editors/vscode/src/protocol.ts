// The messages between server and clients beyond LSP, as defined in server/PROTOCOL.md: names and shapes, nothing else.
// Readers ignore unknown fields; an absent field means unknown or none.

import type { CriteriaStatus, LoopStatus, State } from "./protocol/loop";

export type * from "./protocol/loop";

export const protocolVersion = 1;

export const Notifications = {
  status: "loopkeeper/status",
  output: "loopkeeper/output",
  alert: "loopkeeper/alert",
} as const;

export const Requests = {
  loops: "loopkeeper/loops",
  subscribe: "loopkeeper/subscribe",
  iterations: "loopkeeper/iterations",
  trustPage: "loopkeeper/trustPage",
  transcript: "loopkeeper/transcript",
  startPreview: "loopkeeper/startPreview",
} as const;

export const Commands = {
  start: "loopkeeper.server.start",
  stop: "loopkeeper.server.stop",
  pause: "loopkeeper.server.pause",
  resume: "loopkeeper.server.resume",
  check: "loopkeeper.server.check",
  cancelChecks: "loopkeeper.server.cancelChecks",
  output: "loopkeeper.server.output",
  resetBreaker: "loopkeeper.server.resetBreaker",
  acceptWeakening: "loopkeeper.server.acceptWeakening",
  resetSession: "loopkeeper.server.resetSession",
  steer: "loopkeeper.server.steer",
  answer: "loopkeeper.server.answer",
  rollback: "loopkeeper.server.rollback",
  undoRollback: "loopkeeper.server.undoRollback",
  diff: "loopkeeper.server.diff",
  receipt: "loopkeeper.server.receipt",
  report: "loopkeeper.server.report",
  feedback: "loopkeeper.server.feedback",
  skip: "loopkeeper.server.skip",
  prioritize: "loopkeeper.server.prioritize",
  export: "loopkeeper.server.export",
  trust: "loopkeeper.server.trust",
  untrust: "loopkeeper.server.untrust",
  importLoop: "loopkeeper.server.import",
  newTask: "loopkeeper.server.newTask",
} as const;

export interface StatusParams {
  version: number;
  seq: number;
  health: "ok" | "warning" | "error";
  message?: string;
  trusted: boolean;
  loops: LoopStatus[];
  tasks: TaskEntry[];
  foreign?: ForeignLoop[];
  alerts?: AlertParams[];
}

export interface ForeignLoop {
  uri: string;
  root: string;
  iteration: number;
  maxIterations?: number;
  promise?: string;
  startedAt?: string;
  prompt: string;
}

export interface TaskEntry {
  id: string;
  uri: string;
  root: string;
  title: string;
  state: State;
  loopId?: string;
  checking: boolean;
  rounds?: number;
  unknownCommands: number;
  criteria: CriteriaStatus;
}

export interface OutputParams {
  loopId: string;
  iteration: number;
  text: string;
}

export interface AlertParams {
  loopId: string;
  kind: "ended" | "needsYou" | "warning";
  severity: "info" | "warning" | "error";
  message: string;
  actions: Command[];
  followUp?: AlertQuestion;
  commands?: HintCommand[];
}

/** Of `window/showMessage`. */
export interface HintedMessageParams {
  type: 1 | 2 | 3 | 4 | 5;
  message: string;
  commands?: HintCommand[];
}

/** A command of the terminal in the hint of a message. */
export interface HintCommand {
  text: string;
  name: "run" | "status" | "watch" | "stop" | "pause" | "resume" | "steer" | "answer" | "rollback" | "trust";
}

/** Asked once the user chose one of the actions of the alert. */
export interface AlertQuestion {
  message: string;
  actions: Command[];
}

/** As defined by LSP. */
export interface Command {
  title: string;
  command: string;
  arguments?: unknown[];
}

export interface LoopsParams { all?: boolean }

export interface LoopsResult { loops: LoopStatus[] }

export interface SubscribeParams { loopId: string; on: boolean }

export interface SubscribeResult { subscribed: boolean }

export interface IterationsParams { loopId: string; last?: number }

export interface IterationsResult {
  loopId: string;
  criteria: { id: string; name: string; row: string }[];
  iterations: IterationEntry[];
}

export interface IterationEntry {
  iteration: number;
  startedAt: string;
  durationMs?: number;
  costMicros?: number;
  changed?: number;
  added?: number;
  removed?: number;
  milestones?: string[];
  commit?: string;
  takenBack?: boolean;
  passed: number;
  total: number;
  summary?: string;
}

export interface TranscriptParams { loopId: string; after?: TranscriptCursor }

export interface TranscriptCursor { seq: number; iteration: number; offset: number }

export interface TranscriptResult { loopId: string; text: string; cursor: TranscriptCursor; ended: boolean }

export interface StartPreviewParams {
  task: string;
  agent?: string;
  limits?: { iterations?: number; duration?: string; costUsd?: number };
}

export interface StartPreviewResult {
  agent: string;
  agents: string[];
  iterations: number;
  durationMs: number;
  costMicros: number;
  upperBound: string;
  history?: string;
  grade?: string;
  problem?: string;
}

export interface TrustPageParams { task: string }

export interface TrustPageResult {
  hash: string;
  trusted: boolean;
  commands: { kind: string; title: string; lines: string[]; trusted: boolean }[];
  text: string;
}

export interface OutputResult {
  uri: string;
  status: StatusParams;
}

export interface RollbackResult {
  status: StatusParams;
  written?: number;
  removed?: number;
  refused?: { path: string; why: string }[];
  edited?: string[];
}

export interface EffectResult {
  status: StatusParams;
  effect?: string;
}

export interface DiffResult {
  status: StatusParams;
  patch: string;
  files: { path: string; kind: "added" | "changed" | "removed"; before?: string; after?: string }[];
}

export type ErrorCode =
  | "untrusted"
  | "unsaved"
  | "treeBusy"
  | "noTask"
  | "agentMissing"
  | "conflict"
  | "unsupported"
  | "badArgument";

/** The `data` of an error with code -32803. */
export interface ErrorData {
  code: ErrorCode;
  task?: string;
  hash?: string;
  count?: number;
  asked?: boolean;
  uri?: string;
  holder?: string;
  line?: number;
  commands?: HintCommand[];
}
