// Tests the status bar's content in every state.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type BarContent, widest } from "../src/statusBarContent";
import type { ForeignLoop, LoopStatus } from "../src/protocol";
import { bar } from "../src/status";
import { counts, ended, loop, status, task } from "./samples";

const now = Date.parse("2026-11-20T14:00:00Z");

function shown(...loops: LoopStatus[]): BarContent | undefined {
  return bar({ server: "ready", now, status: status({ loops }), news: loops.map((it) => it.id) });
}

function check(name: string, actual: () => BarContent | undefined, icon: string, text: string, tone: BarContent["tone"] = "normal"): void {
  test(name, () => {
    const it = actual();
    assert.deepEqual([it?.icon, it?.text, it?.tone], [icon, text, tone]);
    assert.ok(text.length <= widest, "fits into the bar");
    assert.match(it?.label ?? "", /^Ralph/);
  });
}

const later = (seconds: number): string => new Date(now + seconds * 1000).toISOString();
const open = { state: "open" as const, reason: "nothing changed in 3 iterations", counts: { ...counts, noProgress: 3 }, trips: 1 };

check("a task without a loop", () => shown(), "circle-outline", "Ralph");
check("at work", () => shown(loop()), "sync~spin", "Ralph 7/30 · 3/5 pass");
check("at work without criteria", () => shown(loop({ criteria: { passed: 0, failed: 0, unverified: 0, total: 0, items: [] } })), "sync~spin", "Ralph 7/30");
check("the first checks", () => shown(loop({ phase: "baseline", iteration: 0 })), "sync~spin", "Ralph 0/30 · 3/5 pass");
check("stopping", () => shown(loop({ phase: "stopping" })), "sync~spin", "Ralph 7/30 · stopping");
for (const [seconds, text] of [[872, "14:32"], [871.4, "14:32"], [9, "0:09"], [4472, "1:14:32"], [86_400, "24:00:00"], [0, "0:00"], [-60, "0:00"]] as const) {
  check(`waiting for ${seconds} s`, () => shown(loop({ phase: "waiting", wait: { reason: "quota", resumesAt: later(seconds) } })), "clock", `Ralph 7/30 · ${text}`);
}
check("waiting for a time that is none", () => shown(loop({ phase: "waiting", wait: { reason: "quota", resumesAt: "soon" } })), "clock", "Ralph 7/30");
check("paused", () => shown(loop({ state: "paused", phase: "paused" })), "debug-pause", "Ralph 7/30");
check("a question", () => shown(loop({ state: "needsYou", phase: "needsAnswer" })), "bell-dot", "Ralph needs you", "warning");
const yours = (iteration: number, message: string): LoopStatus => loop({ agent: "claude", state: "needsYou", phase: "paused", iteration, pause: { reason: "session", message } });
check("waiting for the first message in one's own session", () => shown(yours(0, "waits for your session")), "comment", "Ralph: type in Claude");
check("waiting for the next message there", () => shown(yours(3, "send your session any prompt to continue")), "bell-dot", "Ralph 3/30 · your turn", "warning");
check("at work there", () => shown(loop({ session: { id: "s", startedAt: "", resets: 0, own: true } })), "sync~spin", "Ralph 7/30 · 3/5 pass");
check("interrupted while it waited there", () => shown({ ...yours(3, "send"), phase: "interrupted" }), "bell-dot", "Ralph needs you", "warning");
check("interrupted", () => shown(loop({ state: "needsYou", phase: "interrupted" })), "bell-dot", "Ralph needs you", "warning");
check("the breaker is open", () => shown(loop({ state: "needsYou", phase: "paused", breaker: open })), "error", "Ralph breaker open", "error");
check("the breaker is open and tries again", () => shown(loop({ phase: "waiting", wait: { reason: "breaker", resumesAt: later(872) }, breaker: { ...open, resumesAt: later(872) } })), "warning", "Ralph breaker · 14:32", "warning");
for (const reason of ["quota", "breaker"] as const) {
  const cooling = reason === "breaker" ? { breaker: { ...open, resumesAt: later(9) } } : {};
  const it = loop({ phase: "waiting", wait: { reason, resumesAt: later(9) }, ...cooling });
  test(`a wait counts down: ${reason}`, () => {
    assert.equal(bar({ server: "ready", now, status: status({ loops: [it] }), news: [] })?.counts, true);
  });
}
check("done", () => shown(ended("completed", true)), "pass", "Ralph done · 11");
check("done, then rolled back", () => shown({ ...ended("completed", true), stale: true, staleReason: "rolledBack" }), "history", "Ralph rolled back · 11");
check("done, then files changed", () => shown({ ...ended("completed", true), stale: true, staleReason: "filesChanged" }), "history", "Ralph outdated · 11");
check("stale for a reason that an older server does not name", () => shown({ ...ended("completed", true), stale: true }), "history", "Ralph outdated · 11");
check("only claimed", () => shown(ended("completed", false)), "unverified", "Ralph claims done · 11");
check("stopped by the user", () => shown(ended("stopped", false)), "debug-stop", "Ralph stopped · 11");
check("at its limit", () => shown(ended("limit", false)), "error", "Ralph stopped at 11/30", "error");
check("several", () => shown(loop(), loop({ id: "b" }), loop({ id: "c", state: "needsYou", phase: "needsAnswer" })), "sync~spin", "Ralph 3 · 1 needs you", "warning");
check("several at work", () => shown(loop(), loop({ id: "b" })), "sync~spin", "Ralph 2 loops");
check("checks without a loop", () => bar({ server: "ready", now, status: status({ tasks: [task({ checking: true })] }), news: [] }), "sync~spin", "Ralph checking");
check("no server", () => bar({ server: "failed", now, reason: "not found", news: [] }), "warning", "Ralph: no server", "warning");
check("the server can do nothing", () => bar({ server: "ready", now, status: status({ health: "error", message: "the state folder is open", tasks: [] }), news: [] }), "error", "Ralph: error", "error");
check("a question about trust", () => bar({ server: "ready", now, status: status(), question: "May these run?", news: [] }), "bell-dot", "Ralph needs you", "warning");
check("large numbers", () => shown(loop({ iteration: 12_345, limits: { iterations: 1_000_000, durationMs: 0, costMicros: 0, callsPerHour: 0 } })), "sync~spin", "Ralph 12345/1000000");
check("large numbers at the limit", () => shown({ ...ended("limit", false), iteration: 100_000, limits: { iterations: 100_000, durationMs: 0, costMicros: 0, callsPerHour: 0 } }), "error", "Ralph stopped · 100000", "error");

test("nothing to say where there is no task", () => {
  assert.equal(bar({ server: "ready", now, status: status({ tasks: [] }), news: [] }), undefined);
  assert.equal(bar({ server: "starting", now, news: [] }), undefined);
});

test("an error is told in the server's words", () => {
  const it = bar({ server: "ready", now, status: status({ health: "error", message: "the state folder is open" }), news: [] });
  assert.equal(it?.tooltip, "the state folder is open");
  assert.equal(it.label, "Ralph, error: the state folder is open");
});

test("an ended loop that is no news says nothing", () => {
  const done = ended("completed", true);
  assert.equal(bar({ server: "ready", now, status: status({ loops: [done] }), news: [] })?.text, "Ralph");
});

test("a loop that ended says nothing while another works", () => {
  assert.equal(shown(loop(), { ...ended("failed", false), id: "b" })?.text, "Ralph 7/30 · 3/5 pass");
});

test("the tooltip says what else is known, where there is something", () => {
  const quiet = shown(loop())?.tooltip.split("\n");
  assert.deepEqual(quiet, ["Parse dates", "iteration 7 of 30, 3 of 5 criteria pass: working", "Agent: mine"]);
  const it = loop({
    groups: [{ name: "core", state: "holds", passed: 2, total: 2 }, { name: "extra", state: "open", passed: 1, total: 3 }],
    plan: { done: 2, open: 5, total: 7 },
    branch: "ralph/dates",
    away: "HEAD is on `main`",
    weakened: [{ what: "a test was removed" }, { what: "a lint was turned off" }],
    breaker: { state: "closed", counts: { ...counts, noProgress: 1 }, trips: 0, preset: { name: "small", because: "3 criteria" } },
    warnings: ["`[on]` failed"],
  });
  assert.deepEqual(shown(it)?.tooltip.split("\n").slice(2), [
    "groups: core holds, extra 1 of 3",
    "plan: 2 of 7 done",
    "Agent: mine · branch ralph/dates",
    "not on its branch: HEAD is on `main`",
    "weakened by the agent: a test was removed, and 1 more",
    "breaker preset: 3 criteria",
    "note: `[on]` failed",
  ]);
});

test("the tooltip says that it is one's own session, and what to do there", () => {
  const unknown = "cost unknown: Claude does not report it in an interactive session";
  const first = shown(yours(0, "waits for your session"));
  assert.deepEqual(first?.tooltip.split("\n").slice(1), [
    "before the first iteration, 3 of 5 criteria pass: type your first message in Claude Code",
    "Agent: claude, in your own session",
    unknown,
  ]);
  assert.equal(first.label, "Ralph Parse dates, your turn: type your first message in Claude Code");
  assert.match(shown(yours(3, "send your session any prompt to continue"))?.tooltip ?? "", /pass: send your session any prompt to continue\n/);
  const at = shown(loop({ session: { id: "s", startedAt: "", resets: 0, own: true } }))?.tooltip.split("\n");
  assert.deepEqual(at?.slice(1), ["iteration 7 of 30, 3 of 5 criteria pass: working", "Agent: mine, in your own session", unknown]);
  assert.equal(shown(loop({ session: { id: "s", startedAt: "", resets: 0 } }))?.tooltip.includes("own session"), false);
});

test("the tooltip says what is waited for", () => {
  const waits = (reason: string): string | undefined => shown(loop({ phase: "waiting", wait: { reason, resumesAt: later(872) } }))?.tooltip;
  assert.match(waits("quota") ?? "", /waiting for the provider's usage limit until /);
  assert.match(waits("newer") ?? "", /: waiting until /);
  const unknown = shown(loop({ phase: "waiting", wait: { reason: "quota", resumesAt: "soon" } }))?.tooltip;
  assert.match(unknown ?? "", /waiting for the provider's usage limit\n/);
});

test("the text never holds words of a task, the label and the tooltip do", () => {
  const it = shown(loop({ task: { uri: "file:///w/PROMPT.md", title: "$(bell) <b>x</b>" }, activity: "editing [a](command:b)" }));
  assert.equal(it?.text, "Ralph 7/30 · 3/5 pass");
  assert.match(it.label, /\$\(bell\)/);
  assert.match(it.tooltip, /\[a\]\(command:b\)/);
});

const plugins = { uri: "file:///w/.claude/ralph-loop.local.md", root: "file:///w", iteration: 3, prompt: "Parse dates" };
const foreign = (changes: Partial<ForeignLoop>, ...loops: LoopStatus[]): BarContent | undefined =>
  bar({ server: "ready", now, status: status({ loops, foreign: [{ ...plugins, ...changes }] }), news: loops.map((it) => it.id) });

check("a loop of the plugin", () => foreign({ maxIterations: 20 }), "plug", "Ralph 3/20 (plugin)");
check("a loop of the plugin without a limit", () => foreign({}), "plug", "Ralph 3 (plugin)");
check("a loop of the plugin that says too much", () => foreign({ iteration: 4294967295, maxIterations: 4294967295 }), "plug", "Ralph 4294967295/4294967");
check("one of our own comes before that of the plugin", () => foreign({}, loop()), "sync~spin", "Ralph 7/30 · 3/5 pass");

test("subagents and who started them are in the tooltip", () => {
  const agents = [
    { id: "a", what: "look around", depth: 1, state: "started" as const },
    { id: "b", by: "a", call: "toolu_1", what: "read", depth: 2, state: "ended" as const },
  ];
  const spawns = { used: 2, budget: 12, depth: 2, inIteration: 2, refused: 1, agents };
  const lines = shown(loop({ spawns }))?.tooltip.split("\n") ?? [];
  const at = lines.indexOf("2 of 12 subagents, 2 deep, 1 refused");
  assert.deepEqual(lines.slice(at + 1, at + 3).map((it) => it.trim()), ["look around (started)", "read (ended)"]);
  assert.ok(at >= 0 && (lines[at + 2] ?? "").search(/\S/) > (lines[at + 1] ?? "").search(/\S/), "the one below the other is further in");
  assert.equal(shown(loop())?.tooltip.includes("subagents"), false, "without any nothing is said");
});

const counting = (summary: string, brief?: string): LoopStatus["criteria"] => ({ passed: 5, failed: 0, unverified: 0, total: 6, summary, ...(brief !== undefined && { brief }), items: [] });
check("optional criteria are not counted", () => shown(loop({ criteria: counting("all 5 required pass, 1 optional not checked", "5/5 pass") })), "sync~spin", "Ralph 7/30 · 5/5 pass");
check("criteria that were never run are not said to fail", () => shown(loop({ iteration: 0, criteria: counting("6 criteria, not checked yet", "not checked") })), "sync~spin", "Ralph 0/30 · not checked");
check("criteria without a check", () => shown(loop({ criteria: counting("2 criteria, none with a check") })), "sync~spin", "Ralph 7/30");

test("the counts are the server's words", () => {
  const said = "all 5 required pass, 1 optional not checked";
  assert.equal(shown(loop({ criteria: counting(said, "5/5 pass") }))?.label, `Ralph Parse dates, iteration 7 of 30, ${said}`);
});
