// Additional facts about a loop, one line each, for the tooltip: only unusual ones and those that the user asked for.

import { list, t } from "./l10n";
import { costUnknown, isAttachedSession } from "./attachedSession";
import type { LoopStatus } from "./protocol";

export function loopDetails(it: LoopStatus): string[] {
  return [...groups(it), ...plan(it), ...agent(it), ...branch(it), ...weakened(it), ...breaker(it), ...subagents(it)];
}

/** What a loop is waiting for, and until when if that is known. */
export function describeWait(reason: string | undefined, until: string | undefined): string {
  switch (reason) {
    case "quota":
      return until === undefined ? t("waiting for the provider's usage limit") : t("waiting for the provider's usage limit until {0}", until);
    case "backoff":
      return until === undefined ? t("waiting to try the agent again") : t("waiting to try the agent again until {0}", until);
    case "calls":
      return until === undefined ? t("the hourly call limit is reached") : t("the hourly call limit is reached, waiting until {0}", until);
    case undefined:
    default:
      return until === undefined ? t("waiting") : t("waiting until {0}", until);
  }
}

function groups({ groups = [] }: LoopStatus): string[] {
  const parts = groups.map((it) => (it.state === "holds" ? t("{0} holds", it.name) : t("{0} {1} of {2}", it.name, it.passed, it.total)));
  return parts.length > 0 ? [t("groups: {0}", list(...parts))] : [];
}

function plan({ plan }: LoopStatus): string[] {
  return plan.total > 0 ? [t("plan: {0} of {1} done", plan.done, plan.total)] : [];
}

function agent(it: LoopStatus): string[] {
  const who = isAttachedSession(it) ? t("Agent: {0}, in your own session", it.agent) : t("Agent: {0}", it.agent);
  const where = it.branch === undefined ? who : [who, t("branch {0}", it.branch)].join(" · ");
  return isAttachedSession(it) && it.spent.costMicros === undefined ? [where, costUnknown()] : [where];
}

function branch({ away }: LoopStatus): string[] {
  return away === undefined ? [] : [t("not on its branch: {0}", away)];
}

function weakened({ weakened = [] }: LoopStatus): string[] {
  const [first, ...others] = weakened;
  if (!first) return [];
  return [others.length > 0 ? t("weakened by the agent: {0}, and {1} more", first.what, others.length) : t("weakened by the agent: {0}", first.what)];
}

/** The number of subagents, and those of the last iteration, indented below the one that started them. */
function subagents({ spawns }: LoopStatus): string[] {
  const { used, budget, depth, refused, agents = [] } = spawns;
  if (used === 0 && refused === 0) return [];
  const counts = [t("{0} of {1} subagents", used, budget), ...(depth > 1 ? [t("{0} deep", depth)] : []), ...(refused > 0 ? [t("{0} refused", refused)] : [])];
  const indent = (by: number): string => "\u00a0\u00a0".repeat(Math.min(by, 8));
  return [list(...counts), ...agents.map((it) => indent(it.depth) + subagent(it.what, it.state))];
}

function subagent(what: string, state: "asked" | "started" | "ended"): string {
  switch (state) {
    case "asked":
      return t("{0} (about to start)", what);
    case "started":
      return t("{0} (started)", what);
    case "ended":
      return t("{0} (ended)", what);
  }
}

function breaker({ breaker }: LoopStatus): string[] {
  const lines = breaker.state === "half-open" ? [t("the breaker is trying again: one iteration with progress closes it")] : [];
  // The preset is relevant once a counter is not zero.
  const counts = breaker.state !== "closed" || Object.values(breaker.counts).some((it) => it > 0);
  if (breaker.preset && counts) lines.push(t("breaker preset: {0}", breaker.preset.because));
  return lines;
}
