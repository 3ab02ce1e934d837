// Computes the status bar's content from the server's last status. Pure: no editor, no clock. The text contains only
// our own words and numbers, never text of a task or an agent; at most 24 characters without the icon.

import { type BarContent, widest } from "./statusBarContent";
import { describeWait, loopDetails } from "./loopDetails";
import { pluginLoopBar } from "./pluginLoop";
import { list, t } from "./l10n";
import { awaitsSession, firstMessage, yourTurn } from "./attachedSession";
import type { CriterionStatus, LoopStatus, StatusParams } from "./protocol";
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
export function bar(input: BarInput): BarContent | undefined {
  if (input.server === "failed") return failed(input.reason ?? t("The server is not running."));
  const { status } = input;
  if (!status) return undefined;
  const active = status.loops.filter(isActive);
  const [first, second] = active;
  if (first && second) return several(active);
  if (first) return one(first, input.now);
  if (status.health === "error") return unable(status.message ?? t("The server reports an error."));
  if (input.question !== undefined) return asked(input.question);
  if (status.tasks.some((it) => it.checking)) return plain("sync~spin", t("Ralph checking"), t("Ralph, running checks"), tasks(status));
  const [plugins] = status.foreign ?? [];
  if (plugins) return pluginLoopBar(plugins);
  const ended = unseen(status, input.news);
  if (ended) return one(ended, input.now);
  if (status.tasks.length === 0) return undefined;
  return plain("circle-outline", "Ralph", t("Ralph, idle"), tasks(status));
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

/** Whether a question to the user is open. */
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
  const parts = [it.iteration === 0 ? t("before the first iteration") : t("iteration {0} of {1}", it.iteration, it.limits.iterations)];
  if (it.criteria.total > 0 && it.criteria.summary !== undefined) parts.push(it.criteria.summary);
  return list(...parts);
}

/** The activity of a loop or how it ended, in a few words. */
export function situation(it: LoopStatus): string {
  if (it.outcome) return it.outcome.sentence;
  if (isTripped(it)) {
    const why = it.breaker.reason ?? t("no progress");
    const time = clock(it.wait?.resumesAt) ?? t("its time");
    return isCooling(it) ? t("breaker open: {0}, one more try at {1}, or now by Resume", why, time) : t("breaker open: {0}", why);
  }
  switch (it.phase) {
    case "waiting":
      return describeWait(it.wait?.reason, clock(it.wait?.resumesAt));
    case "paused":
      return firstMessage(it) ?? (it.pause && it.pause.reason !== "user" ? it.pause.message : t("paused"));
    case "untrusted":
      return t("its commands are not trusted");
    case "needsAnswer":
      return it.question?.text ?? t("the agent asks a question");
    case "interrupted":
      return t("interrupted; it can be resumed");
    case "damaged":
      return t("its journal is damaged");
    case "baseline":
      return t("checks before iteration 1");
    case "checking":
      return t("running checks");
    case "stopping":
      return t("stopping");
    case "iterating":
    case "ended":
      return it.activity ?? t("working");
  }
}

function one(it: LoopStatus, now: number): BarContent {
  const count = `${it.iteration}/${it.limits.iterations}`;
  const label = (words: string): string => t("Ralph {0}, {1}", it.task.title, words);
  const tooltip = about(it);
  const as = (icon: string, text: string, words: string, tone: BarContent["tone"] = "normal"): BarContent => ({ icon, text, label: label(words), tooltip, tone });
  switch (it.state) {
    case "needsYou":
      if (isTripped(it) && it.phase === "paused") return as("error", t("Ralph breaker open"), situation(it), "error");
      if (awaitsSession(it)) return { ...as("", "", t("your turn: {0}", situation(it))), ...yourTurn(it) };
      return as("bell-dot", t("Ralph needs you"), t("needs you: {0}", situation(it)), "warning");
    case "paused":
      return as("debug-pause", `Ralph ${count}`, t("paused, {0}", progress(it)));
    case "done":
      return ended(it, as);
    case "working":
    case "idle":
      return working(it, count, now, as);
  }
}

type ContentBuilder = (icon: string, text: string, words: string, tone?: BarContent["tone"]) => BarContent;

function working(it: LoopStatus, count: string, now: number, as: ContentBuilder): BarContent {
  if (isCooling(it)) return { ...as("warning", fit(t("Ralph breaker"), left(it.wait?.resumesAt, now)), situation(it), "warning"), counts: true };
  if (it.phase === "waiting") return { ...as("clock", fit(`Ralph ${count}`, left(it.wait?.resumesAt, now)), situation(it)), counts: true };
  if (it.phase === "stopping") return as("sync~spin", fit(`Ralph ${count}`, t("stopping")), t("stopping, {0}", progress(it)));
  return as("sync~spin", fit(`Ralph ${count}`, it.criteria.brief), progress(it));
}

function ended(it: LoopStatus, as: ContentBuilder): BarContent {
  const words = situation(it);
  if (it.stale && it.staleReason === "rolledBack") return as("history", t("Ralph rolled back · {0}", it.iteration), t("files were rolled back since the checks ran"));
  if (it.stale) return as("history", t("Ralph outdated · {0}", it.iteration), t("files changed since the checks ran"));
  switch (it.outcome?.kind) {
    case "completed":
      return it.outcome.verified
        ? as("pass", t("Ralph done · {0}", it.iteration), words)
        : as("unverified", t("Ralph claims done · {0}", it.iteration), words);
    case "stopped":
      return as("debug-stop", t("Ralph stopped · {0}", it.iteration), words);
    case "limit":
    case "breaker":
    case "failed":
    case undefined:
      return as("error", stoppedAt(it), words, "error");
  }
}

function stoppedAt(it: LoopStatus): string {
  const text = t("Ralph stopped at {0}/{1}", it.iteration, it.limits.iterations);
  return text.length <= widest ? text : t("Ralph stopped · {0}", it.iteration);
}

function several(loops: LoopStatus[]): BarContent {
  const needing = loops.filter((it) => it.state === "needsYou" || isTripped(it)).length;
  const icon = loops.some((it) => it.state === "working") ? "sync~spin" : needing > 0 ? "bell-dot" : "debug-pause";
  return {
    icon,
    text: manyText(loops.length, needing),
    label: manyLabel(loops.length, needing),
    tooltip: loops.map(about).join("\n\n"),
    tone: needing > 0 ? "warning" : "normal",
  };
}

function manyText(loops: number, needing: number): string {
  if (needing === 0) return t("Ralph {0} loops", loops);
  return needing === 1 ? t("Ralph {0} · 1 needs you", loops) : t("Ralph {0} · {1} need you", loops, needing);
}

function manyLabel(loops: number, needing: number): string {
  if (needing === 0) return t("Ralph, {0} loops", loops);
  return needing === 1 ? t("Ralph, {0} loops, 1 needs you", loops) : t("Ralph, {0} loops, {1} need you", loops, needing);
}

function failed(reason: string): BarContent {
  return { icon: "warning", text: t("Ralph: no server"), label: t("Ralph, no server: {0}", reason), tooltip: reason, tone: "warning" };
}

/** The server runs but reports a problem that prevents all work, such as a state folder that others may read. */
function unable(why: string): BarContent {
  return { icon: "error", text: t("Ralph: error"), label: t("Ralph, error: {0}", why), tooltip: why, tone: "error" };
}

function asked(question: string): BarContent {
  const tooltip = [question, t("Open the notification to answer.")].join("\n");
  return { icon: "bell-dot", text: t("Ralph needs you"), label: t("Ralph needs you: {0}", question), tooltip, tone: "warning" };
}

function plain(icon: string, text: string, label: string, tooltip: string): BarContent {
  return { icon, text, label, tooltip, tone: "normal" };
}

/** Drops the second part if both are too wide. */
function fit(text: string, more: string | undefined): string {
  const whole = more === undefined ? text : `${text} · ${more}`;
  return whole.length <= widest ? whole : text.slice(0, widest);
}

function about(it: LoopStatus): string {
  const lines = [it.task.title, it.outcome ? situation(it) : t("{0}: {1}", progress(it), situation(it))];
  for (const item of it.criteria.items.slice(0, 12)) lines.push(criterionLine(item));
  if (it.criteria.items.length > 12) lines.push(t("and {0} more", it.criteria.items.length - 12));
  lines.push(...loopDetails(it));
  const { costMicros } = it.spent;
  if (costMicros !== undefined) lines.push(t("${0} of ${1} spent", dollars(costMicros), dollars(it.limits.costMicros)));
  if (it.warnings && it.warnings.length > 0) lines.push(t("note: {0}", list(...it.warnings)));
  else if (it.forecast && !it.outcome) lines.push(it.forecast);
  return lines.join("\n");
}

function criterionLine({ status, name, fact, stale }: CriterionStatus): string {
  const result = fact ? t("{0}: {1}", name, fact) : name;
  return `${mark(status)} ${stale ? t("{0}, files changed since", result) : result}`;
}

function mark(status: string | undefined): string {
  if (status === undefined) return "·";
  return status === "pass" ? "✓" : status === "unverified" ? "?" : "✗";
}

function dollars(micros: number): string {
  return (micros / 1e6).toFixed(2);
}

function tasks(status: StatusParams): string {
  const lines = status.tasks.slice(0, 8).map((it) => t("{0}: {1}", it.title, it.criteria.summary ?? it.state));
  if (status.message) lines.push(status.message);
  if (!status.trusted) lines.push(t("This folder is not trusted: nothing is run."));
  return lines.join("\n");
}
