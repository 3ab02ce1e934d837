// Commands on tasks and running loops: each resolves its target and sends one command. The server contains all rules.

import { window } from "vscode";
import { answered } from "../answer";
import type { Parts, Target } from "../parts";
import { plainLabel, plainMessage } from "../plain";
import { Commands } from "../protocol";
import type { LoopStatus, OrderResult } from "../protocol";
import { asks, isActive, isTripped, isWorking } from "../status";
import { sayEffect } from "./history";
import { pickLoop, pickTask } from "./pick";

const nothingRuns = "No loop running in this folder.";

export async function startLoop({ server }: Parts): Promise<void> {
  const task = await pickTask(server.status, "Start a loop on which task?");
  if (task) await server.run(Commands.start, { task: task.uri });
}

export async function runChecks({ server }: Parts): Promise<void> {
  const task = await pickTask(server.status, "Run the checks of which task?");
  if (task) sayEffect(task.title, await server.run<OrderResult>(Commands.check, { task: task.uri }));
}

export async function stopLoop({ server }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, "Stop which loop after its iteration?", isActive, nothingRuns, target);
  if (it) sayEffect(it.task.title, await server.run<OrderResult>(Commands.stop, { loopId: it.id }));
}

export async function stopLoopNow({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Stop which loop now?", isActive, nothingRuns);
  if (!it) return;
  const button = "Stop Now";
  const detail = "The agent is killed at once and may leave half-written files. \"Stop Loop\" lets it finish this iteration.";
  const question = `Stop "${it.task.title}" now?`;
  if ((await window.showWarningMessage(plainMessage(question), { modal: true, detail }, button)) === button) {
    await server.run(Commands.stop, { loopId: it.id, now: true });
  }
}

export async function pauseLoop({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Pause which loop?", isWorking, nothingRuns);
  if (it) sayEffect(it.task.title, await server.run<OrderResult>(Commands.pause, { loopId: it.id }));
}

export async function resumeLoop({ server }: Parts): Promise<void> {
  const rests = (it: LoopStatus): boolean => it.state === "paused" || it.state === "needsYou" || isTripped(it);
  const it = await pickLoop(server.status, "Resume which loop?", rests, "No loop in this folder is paused or interrupted.");
  if (it) await server.run(Commands.resume, { loopId: it.id });
}

export async function resetBreaker({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Reset the breaker of which loop?", isTripped, "No breaker is open in this folder.");
  if (it) await server.run(Commands.resetBreaker, { loopId: it.id });
}

export async function steer({ server }: Parts): Promise<void> {
  const it = await pickLoop(server.status, "Steer which loop?", isActive, nothingRuns);
  if (!it) return;
  const text = await window.showInputBox({
    title: plainLabel(`Steer "${it.task.title}"`),
    prompt: "The agent reads this at the start of its next iteration.",
    placeHolder: "Leave the parser alone; fix the tests of the printer first",
  });
  if (!text?.trim()) return;
  sayEffect(it.task.title, await server.run<OrderResult>(Commands.steer, { loopId: it.id, text: text.trim() }));
}

export async function answer({ server }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, "Answer which loop?", asks, "No loop in this folder asks a question.", target);
  if (it) await answerLoop(server, it);
}

export async function answerLoop(server: Parts["server"], it: LoopStatus): Promise<void> {
  const argument = await answered({ loopId: it.id }, server.status);
  if (argument) await server.run(Commands.answer, argument);
}
