// A loop in a Claude Code session that its user opened: how it is recognized, and its texts while it waits for the
// user.

import { type BarContent, widest } from "./statusBarContent";
import { t } from "./l10n";
import type { LoopStatus } from "./protocol";

export const costUnknown = (): string => t("cost unknown: Claude does not report it in an interactive session");

/** Whether such a session works for the loop, or the loop waits for one. */
export function isAttachedSession(it: LoopStatus): boolean {
  return it.session?.own === true || awaitsSession(it);
}

/** Whether the loop waits until its user sends a prompt to that session. */
export function awaitsSession(it: LoopStatus): boolean {
  return it.state === "needsYou" && it.phase === "paused" && it.pause?.reason === "session";
}

/** The instruction for the session, if it differs from the server's message. */
export function firstMessage(it: LoopStatus): string | undefined {
  return awaitsSession(it) && it.iteration === 0 ? t("type your first message in Claude Code") : undefined;
}

/** The status bar's text. A user who has just started the loop is about to type; later they may be elsewhere. */
export function yourTurn(it: LoopStatus): Pick<BarContent, "icon" | "text" | "tone"> {
  if (it.iteration === 0) return { icon: "comment", text: t("Ralph: type in Claude"), tone: "normal" };
  const count = `Ralph ${it.iteration}/${it.limits.iterations}`;
  const whole = t("{0} · your turn", count);
  return { icon: "bell-dot", text: whole.length <= widest ? whole : count.slice(0, widest), tone: "warning" };
}
