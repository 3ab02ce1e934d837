// Commands on tasks and running loops: each resolves its target and sends one command. The server contains all rules.

import { window } from "vscode";
import { completeAnswer } from "../answer";
import { t } from "../l10n";
import type { CommandContext, CommandTarget } from "../commandContext";
import { escapeLabel, escapeMessage } from "../escape";
import { Commands } from "../protocol";
import type { LoopStatus, EffectResult } from "../protocol";
import { saveNewTask } from "../save";
import { asks, isActive, isTripped, isWorking } from "../status";
import { sayEffect } from "./history";
import { pickLoop, pickTask } from "./pick";

const nothingRuns = (): string => t("No loop running in this folder.");

export async function runChecks({ server }: CommandContext): Promise<void> {
  const task = (await saveNewTask(server)) ?? await pickTask(server.status, t("Run the checks of which task?"));
  if (task) sayEffect(server.status, task.title, await server.run<EffectResult>(Commands.check, { task: task.uri }));
}

export async function stopLoop({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Stop which loop after its iteration?"), isActive, nothingRuns(), target);
  if (it) sayEffect(server.status, it.task.title, await server.run<EffectResult>(Commands.stop, { loopId: it.id }));
}

export async function stopLoopNow({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Stop which loop now?"), isActive, nothingRuns());
  if (!it) return;
  const button = t("Stop Now");
  const detail = t("The agent is killed at once and may leave half-written files. \"Stop Loop\" lets it finish this iteration.");
  const question = t("Stop \"{0}\" now?", it.task.title);
  if ((await window.showWarningMessage(escapeMessage(question), { modal: true, detail }, button)) === button) {
    await server.run(Commands.stop, { loopId: it.id, now: true });
  }
}

export async function pauseLoop({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Pause which loop?"), isWorking, nothingRuns());
  if (it) sayEffect(server.status, it.task.title, await server.run<EffectResult>(Commands.pause, { loopId: it.id }));
}

export async function resumeLoop({ server }: CommandContext): Promise<void> {
  const rests = (it: LoopStatus): boolean => it.state === "paused" || it.state === "needsYou" || isTripped(it);
  const it = await pickLoop(server.status, t("Resume which loop?"), rests, t("No loop in this folder is paused or interrupted."));
  if (it) await server.run(Commands.resume, { loopId: it.id });
}

export async function resetBreaker({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Reset the breaker of which loop?"), isTripped, t("No breaker is open in this folder."));
  if (it) await server.run(Commands.resetBreaker, { loopId: it.id });
}

export async function steer({ server }: CommandContext): Promise<void> {
  const it = await pickLoop(server.status, t("Steer which loop?"), isActive, nothingRuns());
  if (it) await steerLoop(server, it);
}

export async function steerLoop(server: CommandContext["server"], it: LoopStatus): Promise<void> {
  const text = await window.showInputBox({
    title: escapeLabel(t("Steer \"{0}\"", it.task.title)),
    prompt: t("The agent reads this at the start of its next iteration."),
    placeHolder: t("Leave the parser alone; fix the tests of the printer first"),
  });
  if (!text?.trim()) return;
  sayEffect(server.status, it.task.title, await server.run<EffectResult>(Commands.steer, { loopId: it.id, text: text.trim() }));
}

export async function answer({ server }: CommandContext, target?: CommandTarget): Promise<void> {
  const it = await pickLoop(server.status, t("Answer which loop?"), asks, t("No loop in this folder asks a question."), target);
  if (it) await answerLoop(server, it);
}

export async function answerLoop(server: CommandContext["server"], it: LoopStatus): Promise<void> {
  const argument = await completeAnswer({ loopId: it.id }, server);
  if (argument) await server.run(Commands.answer, argument);
}
