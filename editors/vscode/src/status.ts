// Computes the status bar's content from the server's last status. Pure: no editor, no clock. The text contains only
// our own words and numbers, never text of a task or an agent; at most 24 characters without the icon.

import { type Bar, widest } from "./bar";
import { facts, waiting } from "./facts";
import { foreignBar } from "./foreign";
import { awaitsSession, firstMessage, yourTurn } from "./own";
import type { LoopStatus, StatusParams } from "./protocol";
import { clock, left } from "./time";

export type ServerState = "starting" | "ready" | "failed";

export interface BarInput {
  server: ServerState;
  /** The reason why the server failed. */
  reason?: string;
  status?: StatusParams;
  /** Milliseconds since 1970: the current time for countdowns, which continue without messages from the server. */
  now: number;
  /** The question that the server is asking the user. */
  question?: string;
  /** Loops that were seen running here and whose end the user has not seen yet. */
  news: string[];
}

/** `undefined` if there is no task here. */
export function bar(input: BarInput): Bar | undefined {
  if (input.server === "failed") return failed(input.reason ?? "The server does not run.");
  const { status } = input;
  if (!status) return undefined;
  const active = status.loops.filter(isActive);
  const [first, second] = active;
  if (first && second) return several(active);
  if (first) return one(first, input.now);
  if (status.health === "error") return unable(status.message ?? "The server reports an error.");
  if (input.question !== undefined) return asked(input.question);
  if (status.tasks.some((it) => it.checking)) return plain("sync~spin", "Ralph checking", "Ralph, running checks", tasks(status));
  const [plugins] = status.foreign ?? [];
  if (plugins) return foreignBar(plugins);
  const ended = unseen(status, input.news);
  if (ended) return one(ended, input.now);
  if (status.tasks.length === 0) return undefined;
  return plain("circle-outline", "Ralph", "Ralph, idle", tasks(status));
}

/** Working, paused or waiting for the user: the loop can be stopped. */
export function isActive(it: LoopStatus): boolean {
  return it.state === "working" || it.state === "needsYou" || it.state === "paused";
}

/** The latest ended loop, if its end was not seen. An older end has no relation to the current files. */
export function unseen(status: StatusParams, news: string[]): LoopStatus | undefined {
  const latest = status.loops.find((it) => it.state === "done");
  return latest && news.includes(latest.id) ? latest : undefined;
}

/** Whether it asks its user a question. */
export function asks(it: LoopStatus): boolean {
  return isActive(it) && it.question !== undefined;
}

export function isTripped(it: LoopStatus): boolean {
  return isActive(it) && it.breaker.state === "open";
}

/** Whether an iteration is running or comes next, so that it can be paused. */
export function isWorking(it: LoopStatus): boolean {
  return it.state === "working" && !isTripped(it);
}

/** Whether its breaker is open and admits an iteration automatically at that time. */
export function isCooling(it: LoopStatus): boolean {
  return isTripped(it) && it.phase === "waiting";
}

/** `iteration 7 of 25, 3 of 5 criteria pass`. */
export function progress(it: LoopStatus): string {
  const parts = [it.iteration === 0 ? "before the first iteration" : `iteration ${it.iteration} of ${it.limits.iterations}`];
  if (it.criteria.total > 0 && it.criteria.summary !== undefined) parts.push(it.criteria.summary);
  return parts.join(", ");
}

/** The activity of a loop or how it ended, in a few words. */
export function situation(it: LoopStatus): string {
  if (it.outcome) return it.outcome.sentence;
  if (isTripped(it)) {
    const why = `breaker open: ${it.breaker.reason ?? "no progress"}`;
    return isCooling(it) ? `${why}, one more try at ${clock(it.wait?.resumesAt) ?? "its time"}, or now by Resume` : why;
  }
  switch (it.phase) {
    case "waiting":
      return `${waiting(it.wait?.reason)} until ${clock(it.wait?.resumesAt) ?? "it may go on"}`;
    case "paused":
      return firstMessage(it) ?? (it.pause && it.pause.reason !== "user" ? it.pause.message : "paused");
    case "untrusted":
      return "its commands are not trusted";
    case "needsAnswer":
      return it.question?.text ?? "the agent asks a question";
    case "interrupted":
      return "interrupted; it can be resumed";
    case "damaged":
      return "its journal is damaged";
    case "baseline":
      return "checks before iteration 1";
    case "checking":
      return "running checks";
    case "stopping":
      return "stopping";
    case "iterating":
    case "ended":
      return it.activity ?? "working";
  }
}

function one(it: LoopStatus, now: number): Bar {
  const count = `${it.iteration}/${it.limits.iterations}`;
  const label = (words: string): string => `Ralph ${it.task.title}, ${words}`;
  const tooltip = about(it);
  const as = (icon: string, text: string, words: string, tone: Bar["tone"] = "normal"): Bar => ({ icon, text, label: label(words), tooltip, tone });
  switch (it.state) {
    case "needsYou":
      if (isTripped(it) && it.phase === "paused") return as("error", "Ralph breaker open", situation(it), "error");
      if (awaitsSession(it)) return { ...as("", "", `your turn: ${situation(it)}`), ...yourTurn(it) };
      return as("bell-dot", "Ralph needs you", `needs you: ${situation(it)}`, "warning");
    case "paused":
      return as("debug-pause", `Ralph ${count}`, `paused, ${progress(it)}`);
    case "done":
      return ended(it, as);
    case "working":
    case "idle":
      return working(it, count, now, as);
  }
}

type Make = (icon: string, text: string, words: string, tone?: Bar["tone"]) => Bar;

function working(it: LoopStatus, count: string, now: number, as: Make): Bar {
  if (isCooling(it)) return { ...as("warning", fit("Ralph breaker", left(it.wait?.resumesAt, now)), situation(it), "warning"), counts: true };
  if (it.phase === "waiting") return { ...as("clock", fit(`Ralph ${count}`, left(it.wait?.resumesAt, now)), situation(it)), counts: true };
  if (it.phase === "stopping") return as("sync~spin", fit(`Ralph ${count}`, "stopping"), `stopping, ${progress(it)}`);
  return as("sync~spin", fit(`Ralph ${count}`, it.criteria.brief), progress(it));
}

function ended(it: LoopStatus, as: Make): Bar {
  const words = situation(it);
  if (it.stale) return as("history", `Ralph rolled back · ${it.iteration}`, "files were rolled back since the checks ran");
  switch (it.outcome?.kind) {
    case "completed":
      return it.outcome.verified
        ? as("pass", `Ralph done · ${it.iteration}`, words)
        : as("unverified", `Ralph claims done · ${it.iteration}`, words);
    case "stopped":
      return as("debug-stop", `Ralph stopped · ${it.iteration}`, words);
    case "limit":
    case "breaker":
    case "failed":
    case undefined:
      return as("error", stoppedAt(it), words, "error");
  }
}

function stoppedAt(it: LoopStatus): string {
  const text = `Ralph stopped at ${it.iteration}/${it.limits.iterations}`;
  return text.length <= widest ? text : `Ralph stopped · ${it.iteration}`;
}

function several(loops: LoopStatus[]): Bar {
  const needing = loops.filter((it) => it.state === "needsYou" || isTripped(it)).length;
  const icon = loops.some((it) => it.state === "working") ? "sync~spin" : needing > 0 ? "bell-dot" : "debug-pause";
  return {
    icon,
    text: needing > 0 ? `Ralph ${loops.length} · ${needing} ${needing === 1 ? "needs" : "need"} you` : `Ralph ${loops.length} loops`,
    label: `Ralph, ${loops.length} loops${needing > 0 ? `, ${needing} ${needing === 1 ? "needs" : "need"} you` : ""}`,
    tooltip: loops.map(about).join("\n\n"),
    tone: needing > 0 ? "warning" : "normal",
  };
}

function failed(reason: string): Bar {
  return { icon: "warning", text: "Ralph: no server", label: `Ralph, no server: ${reason}`, tooltip: reason, tone: "warning" };
}

/** The server runs but reports why nothing can be done, such as a state folder that others may read. */
function unable(why: string): Bar {
  return { icon: "error", text: "Ralph: error", label: `Ralph, error: ${why}`, tooltip: why, tone: "error" };
}

function asked(question: string): Bar {
  const tooltip = `${question}\nOpen the notification to answer.`;
  return { icon: "bell-dot", text: "Ralph needs you", label: `Ralph needs you: ${question}`, tooltip, tone: "warning" };
}

function plain(icon: string, text: string, label: string, tooltip: string): Bar {
  return { icon, text, label, tooltip, tone: "normal" };
}

/** Drops the second part if both are too wide. */
function fit(text: string, more: string | undefined): string {
  const whole = more === undefined ? text : `${text} · ${more}`;
  return whole.length <= widest ? whole : text.slice(0, widest);
}

function about(it: LoopStatus): string {
  const lines = [it.task.title, it.outcome ? situation(it) : `${progress(it)}: ${situation(it)}`];
  for (const item of it.criteria.items.slice(0, 12)) lines.push(`${mark(item.status)} ${item.name}${item.fact ? `: ${item.fact}` : ""}${item.stale ? ", files changed since" : ""}`);
  if (it.criteria.items.length > 12) lines.push(`and ${it.criteria.items.length - 12} more`);
  lines.push(...facts(it));
  const { costMicros } = it.spent;
  if (costMicros !== undefined) lines.push(`$${dollars(costMicros)} of $${dollars(it.limits.costMicros)} spent`);
  if (it.warnings && it.warnings.length > 0) lines.push(`note: ${it.warnings.join(", ")}`);
  else if (it.forecast && !it.outcome) lines.push(it.forecast);
  return lines.join("\n");
}

function mark(status: string | undefined): string {
  if (status === undefined) return "·";
  return status === "pass" ? "✓" : status === "unverified" ? "?" : "✗";
}

function dollars(micros: number): string {
  return (micros / 1e6).toFixed(2);
}

function tasks(status: StatusParams): string {
  const lines = status.tasks.slice(0, 8).map((it) => `${it.title}: ${it.criteria.summary ?? it.state}`);
  if (status.message) lines.push(status.message);
  if (!status.trusted) lines.push("This folder is not trusted: nothing is run.");
  return lines.join("\n");
}
