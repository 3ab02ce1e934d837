// Writes the result of one criterion into a run of tests.

import { TestMessage, Uri, workspace } from "vscode";
import type { TestItem, TestRun } from "vscode";
import type { Server } from "../client";
import { Commands } from "../protocol";
import type { CriterionStatus, OutputResult, TaskEntry } from "../protocol";
import { messagesOf } from "./messages";
import { testResult } from "./results";

export async function report(server: Server, run: TestRun, task: TaskEntry, parent: TestItem, it: CriterionStatus): Promise<void> {
  const item = parent.children.get(it.id);
  if (!item) return;
  const result = testResult(it);
  switch (result.kind) {
    case "passed":
      run.passed(item, result.durationMs);
      return;
    case "skipped":
      run.skipped(item);
      return;
    case "errored":
      run.errored(item, messagesOf(item, result), result.durationMs);
      break;
    case "failed":
      run.failed(item, messagesOf(item, result), result.durationMs);
      break;
  }
  await appendOutput(server, run, task, item);
}

export function reportError(run: TestRun, item: TestItem, message: string): void {
  run.errored(item, new TestMessage(message));
}

/** Checks without a command have no output, which is no failure. */
async function appendOutput(server: Server, run: TestRun, task: TaskEntry, item: TestItem): Promise<void> {
  const result = await server.tryRun<OutputResult>(Commands.output, { task: task.uri, criterion: item.id, show: false });
  if (!result) return;
  const text = new TextDecoder().decode(await workspace.fs.readFile(Uri.parse(result.uri)));
  run.appendOutput(`${text.replaceAll(/\r?\n/g, "\r\n")}\r\n`, undefined, item);
}
