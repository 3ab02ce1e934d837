// One loop and the state of its criteria, as defined in server/PROTOCOL.md: shapes, nothing else.

export type State = "working" | "needsYou" | "paused" | "done" | "idle";
export type Phase =
  | "baseline"
  | "iterating"
  | "checking"
  | "waiting"
  | "stopping"
  | "untrusted"
  | "needsAnswer"
  | "interrupted"
  | "damaged"
  | "paused"
  | "ended";

export interface LoopStatus {
  id: string;
  seq: number;
  task: { uri: string; title: string };
  agent: string;
  state: State;
  phase: Phase;
  iteration: number;
  limits: { iterations: number; durationMs: number; costMicros: number; tokens?: number; callsPerHour: number };
  criteria: CriteriaStatus;
  groups?: { name: string; state: "holds" | "open"; passed: number; total: number }[];
  plan: { done: number; open: number; total: number };
  breaker: BreakerStatus;
  session?: { id: string; startedAt: string; resets: number; own?: boolean };
  spawns: SpawnStatus;
  wait?: { reason: string; resumesAt: string };
  question?: { id: string; kind: "agent" | "usage-limit" | "denied" | "permission"; text: string; expiresAt?: string };
  pause?: { reason: string; message: string };
  spent: { costMicros?: number; tokens?: number; calls: number; callsThisHour: number };
  startedAt: string;
  pausedMs: number;
  activity?: string;
  stale?: boolean;
  staleReason?: "rolledBack" | "filesChanged";
  warnings?: string[];
  forecast?: string;
  drift?: { iteration: number; off: number; total: number; paths?: string[]; streak?: number };
  outcome?: { kind: "completed" | "stopped" | "limit" | "breaker" | "failed"; verified: boolean; sentence: string; cause?: string };
  branch?: string;
  away?: string;
  weakened?: { path?: string; what: string }[];
  keeper: { pid?: number; alive: boolean; stopped?: true };
}

export interface SpawnStatus { used: number; budget: number; depth: number; inIteration: number; refused: number; agents?: SubagentStatus[] }

export interface SubagentStatus {
  id?: string;
  by?: string;
  call?: string;
  what: string;
  depth: number;
  state: "asked" | "started" | "ended";
}

export interface BreakerStatus {
  state: "closed" | "open" | "half-open";
  reason?: string;
  counts: BreakerCounts;
  resumesAt?: string;
  trips: number;
  preset?: { name: "small" | "large" | "adaptive"; because: string };
}

export interface BreakerCounts { noProgress: number; sameError: number; outputDecline: number; permissionDenials: number; oscillation: number; fastFailures: number }

export interface CriteriaStatus {
  passed: number;
  failed: number;
  unverified: number;
  total: number;
  summary?: string;
  brief?: string;
  items: CriterionStatus[];
}

export interface CriterionStatus {
  id: string;
  name: string;
  required: boolean;
  role?: "goal" | "guard" | "open";
  status?: "pass" | "fail" | "timed-out" | "could-not-run" | "no-tests-ran" | "unstable" | "unverified";
  fact?: string;
  expected?: string;
  actual?: string;
  durationMs: number;
  regressed: boolean;
  ticked?: boolean;
  stale: boolean;
  place: { file: string; start: number; length: number };
}
