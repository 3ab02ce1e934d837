// Start Loop: one list with the start itself first, so that a second Enter repeats the last start, and below it the task,
// the agent and the limits. The server computes the consequences.

import { Uri, window } from "vscode";
import { t } from "../l10n";
import type { CommandContext } from "../commandContext";
import { escapeLabel } from "../escape";
import { Commands, Requests } from "../protocol";
import type { StartPreviewResult, TaskEntry } from "../protocol";
import { saveNewTask } from "../save";
import { dollars, durationText, startArguments, wholeNumber } from "../startChoices";
import type { StartChoice } from "../startChoices";
import { noTask, pickFrom, pickTask, taskRow } from "./pick";
import type { Choice } from "./pick";

type StartStep = "start" | "task" | "agent" | "iterations" | "cost" | "duration" | "reset";

/** The contents of the list. */
export interface StartDraft { task: TaskEntry; choice: StartChoice }

export async function startLoop({ server, choices }: CommandContext): Promise<void> {
  // Refused, with a remedy.
  if (server.status?.trusted === false) {
    const refused = await pickTask(server.status, t("Start a loop on which task?"));
    if (refused) await server.run(Commands.start, { task: refused.uri });
    return;
  }
  const saved = await saveNewTask(server);
  const tasks = server.status?.tasks ?? [];
  const task = saved ?? firstTask(tasks, choices.last);
  if (!task) {
    noTask();
    return;
  }
  let draft: StartDraft = { task, choice: choices.of(task.uri) };
  for (;;) {
    const preview = await server.ask<StartPreviewResult>(Requests.startPreview, startArguments(draft.task.uri, draft.choice));
    if (!preview) return;
    const step = await pickFrom(t("Start Loop"), rows(draft, preview, tasks.length));
    if (step === undefined) return;
    if (step === "start") break;
    draft = await change(step, draft, preview, tasks, (uri) => choices.of(uri));
  }
  await choices.keep(draft.task.uri, draft.choice);
  await server.run(Commands.start, startArguments(draft.task.uri, draft.choice));
}

/** The task of the active document, else the one that was started last, else the first. */
function firstTask(tasks: TaskEntry[], last: string | undefined): TaskEntry | undefined {
  const front = window.activeTextEditor?.document.uri;
  const here = tasks.find((it) => front?.scheme === "file" && Uri.parse(it.uri).fsPath === front.fsPath);
  return here ?? tasks.find((it) => it.uri === last) ?? tasks[0];
}

function rows({ task, choice }: StartDraft, preview: StartPreviewResult, tasks: number): (Choice<StartStep> | string)[] {
  const start: Choice<StartStep> = {
    label: `$(play) ${t("Start")}`,
    description: escapeLabel(`${task.title} · ${preview.agent}`),
    detail: escapeLabel(preview.problem ?? preview.upperBound),
    value: "start",
  };
  const graded = preview.grade === undefined ? {} : { detail: escapeLabel(preview.grade) };
  const before = preview.history === undefined ? {} : { detail: escapeLabel(preview.history) };
  const picked = Object.keys(choice).length > 0;
  return [
    start,
    t("Change"),
    ...(tasks > 1 || preview.grade !== undefined ? [{ label: `$(tasklist) ${t("Task")}`, description: escapeLabel(task.title), ...graded, value: "task" as const }] : []),
    { label: `$(hubot) ${t("Agent")}`, description: escapeLabel(preview.agent), value: "agent" },
    { label: `$(sync) ${t("Iterations")}`, description: String(preview.iterations), ...before, value: "iterations" },
    { label: `$(credit-card) ${t("Cost")}`, description: `$${(preview.costMicros / 1e6).toFixed(2)}`, value: "cost" },
    { label: `$(clock) ${t("Duration")}`, description: durationText(preview.durationMs), value: "duration" },
    ...(picked ? [{ label: `$(discard) ${t("Use the Values of the Configuration")}`, value: "reset" as const }] : []),
  ];
}

async function change(step: Exclude<StartStep, "start">, draft: StartDraft, preview: StartPreviewResult, tasks: TaskEntry[], choiceOf: (uri: string) => StartChoice): Promise<StartDraft> {
  const { choice } = draft;
  const put = (more: StartChoice): StartDraft => ({ ...draft, choice: { ...choice, ...more } });
  switch (step) {
    case "task": {
      const task = await pickFrom(t("Start a loop on which task?"), tasks.map((it) => ({ ...taskRow(it), value: it })));
      return task ? { task, choice: choiceOf(task.uri) } : draft;
    }
    case "agent": {
      const agent = await pickFrom(t("Which agent works?"), preview.agents.map((it) => ({ label: escapeLabel(it), value: it })));
      return agent === undefined ? draft : put({ agent });
    }
    case "iterations": {
      const text = await ask(t("At most how many iterations?"), String(preview.iterations), (it) => (wholeNumber(it) === undefined ? t("Enter a whole number from 1.") : undefined));
      const iterations = text === undefined ? undefined : wholeNumber(text);
      return iterations === undefined ? draft : put({ iterations });
    }
    case "cost": {
      const text = await ask(t("At most how much in US dollars?"), (preview.costMicros / 1e6).toFixed(2), (it) => (dollars(it) === undefined ? t("Enter an amount such as 2.50.") : undefined));
      const costUsd = text === undefined ? undefined : dollars(text);
      return costUsd === undefined ? draft : put({ costUsd });
    }
    case "duration": {
      const text = await ask(t("At most how long? For example 45m or 8h."), durationText(preview.durationMs), (it) => (/^\s*\d+\s*[smhd]\s*$/.test(it) ? undefined : t("Enter a duration such as 45m or 8h.")));
      return text === undefined ? draft : put({ duration: text.trim() });
    }
    case "reset":
      return { ...draft, choice: {} };
  }
}

function ask(title: string, value: string, validateInput: (text: string) => string | undefined): Thenable<string | undefined> {
  return window.showInputBox({ title, value, validateInput });
}
