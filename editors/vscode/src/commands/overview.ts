// Show Status: lists every loop and task with its available actions.

import { commands } from "vscode";
import { withCommandNames } from "../commandNames";
import { openServerSetting } from "../failure";
import { pluginLoopProgress } from "../pluginLoop";
import { list, t } from "../l10n";
import type { CommandContext } from "../commandContext";
import { escapeLabel, shortened } from "../escape";
import { Commands } from "../protocol";
import type { AlertParams, ForeignLoop, LoopStatus, TaskEntry } from "../protocol";
import { asks, isActive, isCooling, isTripped, progress, situation } from "../status";
import { showDashboard } from "./dashboard";
import { reviewChanges } from "./history";
import { answerLoop, steerLoop } from "./loops";
import { pickFrom } from "./pick";
import type { Choice } from "./pick";

type RowAction = () => Promise<unknown>;
type PickRow = Choice<RowAction> | string;

export async function showStatus(context: CommandContext): Promise<void> {
  const { server, status } = context;
  status.markSeen();
  const { loops, tasks, foreign = [] } = server.status ?? { loops: [], tasks: [] };
  const active = loops.filter(isActive);
  const rows = [...questionRows(context), ...active.flatMap((it) => loopRows(context, it)), ...foreign.flatMap((it) => foreignRows(context, it)), ...tasks.flatMap((it) => taskRows(context, it, active)), ...serverRows(context)];
  const act = await pickFrom(title(context, active), rows);
  await act?.();
}

function title({ server }: CommandContext, active: LoopStatus[]): string {
  if (server.state === "failed") return t("Ralph: {0}", server.reason ?? t("The server is not running."));
  if (server.state === "starting" && !server.status) return t("Ralph: the server is starting");
  const [alert] = server.status?.alerts ?? [];
  if (alert) return withCommandNames(alert.message, alert.commands);
  const [first, second] = active;
  if (first && !second) return t("Ralph: {0}", list(progress(first), situation(first)));
  return first ? t("Ralph: {0} loops", active.length) : t("Ralph: no loop running");
}

function questionRows({ server }: CommandContext): PickRow[] {
  const question = server.questions.first;
  const rows = (server.status?.alerts ?? []).flatMap(alertRows);
  if (question === undefined) return rows;
  const value = (): Promise<unknown> => server.questions.reveal();
  return [...rows, t("Needs you"), { label: `$(bell-dot) ${t("Show the Question")}`, description: escapeLabel(question), value }];
}

/** The alert of a loop, with the actions of its notification. */
function alertRows(it: AlertParams): PickRow[] {
  const ours = it.actions.filter((action) => action.command.startsWith("loopkeeper."));
  const rows = ours.map((action, at) => ({
    label: escapeLabel(action.title),
    ...(at === 0 && { detail: escapeLabel(withCommandNames(it.message, it.commands)) }),
    value: (): Promise<unknown> => Promise.resolve(commands.executeCommand(action.command, ...(action.arguments ?? []))),
  }));
  return [t("Needs you"), ...rows];
}

function loopRows(context: CommandContext, it: LoopStatus): PickRow[] {
  const { server, output } = context;
  const commandRow = (label: string, icon: string, command: string): Choice<RowAction> => ({
    label: `$(${icon}) ${label}`,
    value: () => server.run(command, { loopId: it.id }),
  });
  const rows: Choice<RowAction>[] = [];
  if (asks(it)) rows.push({ label: `$(comment) ${t("Answer…")}`, value: () => answerLoop(server, it) });
  if (isTripped(it)) rows.push(commandRow(t("Reset Breaker"), "debug-restart", Commands.resetBreaker));
  if (isCooling(it)) rows.push(commandRow(t("Try Once More Now"), "debug-continue", Commands.resume));
  else if (it.state === "working") rows.push(commandRow(t("Pause After This Iteration"), "debug-pause", Commands.pause));
  else rows.push(commandRow(t("Resume"), "debug-continue", Commands.resume));
  rows.push(commandRow(t("Stop Loop"), "debug-stop", Commands.stop));
  rows.push({ label: `$(edit) ${t("Steer…")}`, value: () => steerLoop(server, it) });
  rows.push({ label: `$(output) ${t("Show Output")}`, value: () => output.show(it) }, ...pageRows(context, it));
  // The agent's activity is unrelated to the first action.
  const detail = escapeLabel(it.state === "working" && !isTripped(it) ? progress(it) : list(situation(it), progress(it)));
  return [separator(it.task.title), ...rows.map((row, at) => (at === 0 ? { ...row, detail } : row))];
}

/** The editor draws it beside the first row, whose label it hides if it is long. */
function separator(title: string): string {
  return escapeLabel(shortened(title, 30));
}

/** The changes and the history of a loop. */
function pageRows(context: CommandContext, it: LoopStatus): Choice<RowAction>[] {
  return [
    { label: `$(diff-multiple) ${t("Review All Changes")}`, value: () => reviewChanges(context, { loopId: it.id }) },
    { label: `$(graph) ${t("Show Dashboard")}`, value: () => showDashboard(context, { loopId: it.id }) },
  ];
}

/** A loop that Claude Code's plugin runs. */
function foreignRows({ server }: CommandContext, it: ForeignLoop): PickRow[] {
  const description = escapeLabel(t("{0}: {1}", pluginLoopProgress(it), it.prompt));
  return [
    t("Claude Code's plugin"),
    { label: `$(debug-continue) ${t("Continue Under loopkeeper")}`, description, value: () => server.run(Commands.importLoop, { file: it.uri }) },
    { label: `$(debug-stop) ${t("Stop the Plugin's Loop")}`, description, value: () => server.run(Commands.stop, { loopId: it.uri }) },
  ];
}

function taskRows(context: CommandContext, it: TaskEntry, active: LoopStatus[]): PickRow[] {
  const { server } = context;
  if (active.some((loop) => loop.id === it.loopId)) return [];
  const known = it.criteria.summary ?? it.state;
  const ended = server.status?.loops.find((loop) => loop.id === it.loopId);
  const last = ended?.outcome?.sentence;
  const rows: PickRow[] = [
    separator(it.title),
    { label: `$(play) ${t("Start Loop")}`, description: known, ...(last && { detail: escapeLabel(last) }), value: () => server.run(Commands.start, { task: it.uri }) },
    { label: `$(checklist) ${t("Run Checks")}`, description: known, value: () => server.run(Commands.check, { task: it.uri }) },
    ...(ended ? pageRows(context, ended) : []),
  ];
  if (it.unknownCommands > 0) {
    const description = t("{0} not trusted yet", it.unknownCommands);
    rows.push({ label: `$(verified) ${t("Trust This Task's Commands…")}`, description, value: () => server.run(Commands.trust, { task: it.uri }) });
  }
  return rows;
}

function serverRows({ server }: CommandContext): PickRow[] {
  const rows: PickRow[] = [t("Server")];
  if (server.state === "failed") {
    rows.push({ label: `$(gear) ${t("Open Setting loopkeeper.server.path")}`, value: openServerSetting });
  }
  rows.push({ label: `$(refresh) ${t("Restart Server (Loops Keep Running)")}`, value: () => server.restart() });
  rows.push({
    label: `$(output) ${t("Show Log")}`,
    value: () => {
      server.showLog();
      return Promise.resolve();
    },
  });
  return rows;
}
