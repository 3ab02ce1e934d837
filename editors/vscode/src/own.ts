// A loop in a session of Claude Code that its user opened: how it is known, and what it says while it waits for them.

import { type Bar, widest } from "./bar";
import type { LoopStatus } from "./protocol";

export const costUnknown = "cost unknown: Claude does not report it in an interactive session";

/** Such a session works for it, or is waited for. */
export function isOwn(it: LoopStatus): boolean {
  return it.session?.own === true || awaitsSession(it);
}

/** Nothing goes on until its user says something to that session. */
export function awaitsSession(it: LoopStatus): boolean {
  return it.state === "needsYou" && it.phase === "paused" && it.pause?.reason === "session";
}

/** What to do there, where that is not what the server says of it. */
export function firstMessage(it: LoopStatus): string | undefined {
  return awaitsSession(it) && it.iteration === 0 ? "type your first message in Claude Code" : undefined;
}

/** For the status bar. Whoever has just started it is about to speak; in the middle of it they may be elsewhere. */
export function yourTurn(it: LoopStatus): Pick<Bar, "icon" | "text" | "tone"> {
  if (it.iteration === 0) return { icon: "comment", text: "Ralph: type in Claude", tone: "normal" };
  const count = `Ralph ${it.iteration}/${it.limits.iterations}`;
  const whole = `${count} · your turn`;
  return { icon: "bell-dot", text: whole.length <= widest ? whole : count.slice(0, widest), tone: "warning" };
}
