// Additional facts about a loop, one line each, for the tooltip: only unusual ones and those that the user asked for.

import { costUnknown, isOwn } from "./own";
import type { LoopStatus } from "./protocol";

export function facts(it: LoopStatus): string[] {
  return [...groups(it), ...plan(it), ...agent(it), ...branch(it), ...weakened(it), ...breaker(it), ...subagents(it)];
}

/** What a loop is waiting for. */
export function waiting(reason: string | undefined): string {
  switch (reason) {
    case "quota":
      return "waiting for the provider's usage limit";
    case "backoff":
      return "waiting to try the agent again";
    case "calls":
      return "the calls of this hour are used up, waiting";
    case undefined:
    default:
      return "waiting";
  }
}

function groups({ groups = [] }: LoopStatus): string[] {
  const parts = groups.map((it) => (it.state === "holds" ? `${it.name} holds` : `${it.name} ${it.passed} of ${it.total}`));
  return parts.length > 0 ? [`groups: ${parts.join(", ")}`] : [];
}

function plan({ plan }: LoopStatus): string[] {
  return plan.total > 0 ? [`plan: ${plan.done} of ${plan.total} done`] : [];
}

function agent(it: LoopStatus): string[] {
  const who = isOwn(it) ? `Agent: ${it.agent}, in your own session` : `Agent: ${it.agent}`;
  const where = it.branch === undefined ? who : `${who} · branch ${it.branch}`;
  return isOwn(it) && it.spent.costMicros === undefined ? [where, costUnknown] : [where];
}

function branch({ away }: LoopStatus): string[] {
  return away === undefined ? [] : [`not on its branch: ${away}`];
}

function weakened({ weakened = [] }: LoopStatus): string[] {
  const [first, ...others] = weakened;
  if (!first) return [];
  const rest = others.length > 0 ? `, and ${others.length} more` : "";
  return [`made easier by the agent: ${first.what}${rest}`];
}

/** The number of subagents, and those of the last iteration, indented below the one that started them. */
function subagents({ spawns }: LoopStatus): string[] {
  const { used, budget, depth, refused, agents = [] } = spawns;
  if (used === 0 && refused === 0) return [];
  const deep = depth > 1 ? `, ${depth} deep` : "";
  const some = refused > 0 ? `, ${refused} refused` : "";
  const indent = (by: number): string => "\u00a0\u00a0".repeat(Math.min(by, 8));
  return [`${used} of ${budget} subagents${deep}${some}`, ...agents.map((it) => `${indent(it.depth)}${it.what} (${states[it.state]})`)];
}

const states = { asked: "about to start", started: "started", ended: "ended" };

function breaker({ breaker }: LoopStatus): string[] {
  const lines = breaker.state === "half-open" ? ["the breaker is trying again: one iteration that gets on closes it"] : [];
  // The preset is relevant once a counter is not zero.
  const counts = breaker.state !== "closed" || Object.values(breaker.counts).some((it) => it > 0);
  if (breaker.preset && counts) lines.push(`breaker preset: ${breaker.preset.because}`);
  return lines;
}
