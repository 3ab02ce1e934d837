// Show Status: lists every loop and task with its available actions.

import { commands } from "vscode";
import { openServerSetting } from "../failure";
import { foreignProgress } from "../foreign";
import type { Parts } from "../parts";
import { plainLabel } from "../plain";
import { Commands } from "../protocol";
import type { AlertParams, ForeignLoop, LoopStatus, TaskEntry } from "../protocol";
import { asks, isActive, isCooling, isTripped, progress, situation } from "../status";
import { answerLoop } from "./loops";
import { pickFrom } from "./pick";
import type { Choice } from "./pick";

type Act = () => Promise<unknown>;
type Row = Choice<Act> | string;

export async function showStatus(parts: Parts): Promise<void> {
  const { server, status } = parts;
  status.markSeen();
  const { loops, tasks, foreign = [] } = server.status ?? { loops: [], tasks: [] };
  const active = loops.filter(isActive);
  const rows = [...questionRows(parts), ...active.flatMap((it) => loopRows(parts, it)), ...foreign.flatMap((it) => foreignRows(parts, it)), ...tasks.flatMap((it) => taskRows(parts, it, active)), ...serverRows(parts)];
  const act = await pickFrom(title(parts, active), rows);
  await act?.();
}

function title({ server }: Parts, active: LoopStatus[]): string {
  if (server.state === "failed") return `Ralph: ${server.reason ?? "the server does not run"}`;
  if (server.state === "starting" && !server.status) return "Ralph: the server is starting";
  const [alert] = server.status?.alerts ?? [];
  if (alert) return alert.message;
  const [first, second] = active;
  if (first && !second) return `Ralph: ${progress(first)}, ${situation(first)}`;
  return first ? `Ralph: ${active.length} loops` : "Ralph: no loop running";
}

function questionRows({ server }: Parts): Row[] {
  const question = server.questions.first;
  const rows = (server.status?.alerts ?? []).flatMap(alertRows);
  if (question === undefined) return rows;
  const value = (): Promise<unknown> => server.questions.reveal();
  return [...rows, "Needs you", { label: "$(bell-dot) Show the Question", description: plainLabel(question), value }];
}

/** The alert of a loop, with the actions of its notification. */
function alertRows(it: AlertParams): Row[] {
  const ours = it.actions.filter((action) => action.command.startsWith("loopkeeper."));
  const rows = ours.map((action) => ({
    label: plainLabel(action.title),
    value: (): Promise<unknown> => Promise.resolve(commands.executeCommand(action.command, ...(action.arguments ?? []))),
  }));
  return [plainLabel(it.message), ...rows];
}

function loopRows({ server, output }: Parts, it: LoopStatus): Row[] {
  const order = (label: string, icon: string, command: string): Choice<Act> => ({
    label: `$(${icon}) ${label}`,
    value: () => server.run(command, { loopId: it.id }),
  });
  const rows: Choice<Act>[] = [];
  if (asks(it)) rows.push({ label: "$(comment) Answer…", value: () => answerLoop(server, it) });
  if (isTripped(it)) rows.push(order("Reset Breaker", "debug-restart", Commands.resetBreaker));
  if (isCooling(it)) rows.push(order("Try Once More Now", "debug-continue", Commands.resume));
  else if (it.state === "working") rows.push(order("Pause After This Iteration", "debug-pause", Commands.pause));
  else rows.push(order("Resume", "debug-continue", Commands.resume));
  rows.push(order("Stop Loop", "debug-stop", Commands.stop));
  rows.push({ label: "$(output) Show Output", value: () => output.show(it) });
  // On a line of its own: a question or a reason is longer than what fits beside the label.
  return [plainLabel(`${it.task.title}, ${progress(it)}`), ...rows.map((row, at) => (at === 0 ? { ...row, detail: plainLabel(situation(it)) } : row))];
}

/** A loop that Claude Code's plugin runs. */
function foreignRows({ server }: Parts, it: ForeignLoop): Row[] {
  const description = plainLabel(`${foreignProgress(it)}: ${it.prompt}`);
  return [
    "Claude Code's plugin",
    { label: "$(debug-continue) Continue Under loopkeeper", description, value: () => server.run(Commands.importLoop, { file: it.uri }) },
    { label: "$(debug-stop) Stop the Plugin's Loop", description, value: () => server.run(Commands.stop, { loopId: it.uri }) },
  ];
}

function taskRows({ server }: Parts, it: TaskEntry, active: LoopStatus[]): Row[] {
  if (active.some((loop) => loop.id === it.loopId)) return [];
  const known = it.criteria.summary ?? it.state;
  const last = server.status?.loops.find((loop) => loop.id === it.loopId)?.outcome?.sentence;
  const rows: Row[] = [
    plainLabel(it.title),
    { label: "$(play) Start Loop", description: known, ...(last && { detail: plainLabel(last) }), value: () => server.run(Commands.start, { task: it.uri }) },
    { label: "$(checklist) Run Checks", description: known, value: () => server.run(Commands.check, { task: it.uri }) },
  ];
  if (it.unknownCommands > 0) {
    const description = `${it.unknownCommands} not trusted yet`;
    rows.push({ label: "$(verified) Trust This Task's Commands…", description, value: () => server.run(Commands.trust, { task: it.uri }) });
  }
  return rows;
}

function serverRows({ server }: Parts): Row[] {
  const rows: Row[] = ["Server"];
  if (server.state === "failed") {
    rows.push({ label: "$(gear) Open Setting loopkeeper.server.path", value: openServerSetting });
  }
  rows.push({ label: "$(refresh) Restart Server (Loops Keep Running)", value: () => server.restart() });
  rows.push({
    label: "$(output) Show Log",
    value: () => {
      server.showLog();
      return Promise.resolve();
    },
  });
  return rows;
}
