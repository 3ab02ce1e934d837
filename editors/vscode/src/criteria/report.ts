// Writes the results of criteria into a run of tests.

import { TestMessage, Uri, workspace } from "vscode";
import type { TestItem, TestRun } from "vscode";
import type { Server } from "../client";
import { Commands } from "../protocol";
import type { CriterionStatus, OutputResult, TaskEntry } from "../protocol";
import { messagesOf } from "./messages";
import { testResult } from "./results";
import type { TestResult } from "./results";

/** All results at once, then the output of those that failed: each output is a request, and old icons would remain
 * visible meanwhile. */
export async function report(server: Server, run: TestRun, task: TaskEntry, parent: TestItem, results: CriterionStatus[]): Promise<void> {
  const failed: TestItem[] = [];
  for (const it of results) {
    const item = parent.children.get(it.id);
    if (item && !reportResult(run, item, testResult(it))) failed.push(item);
  }
  for (const it of failed) await appendOutput(server, run, task, it);
}

/** `false` if there is output that explains the result. */
function reportResult(run: TestRun, item: TestItem, result: TestResult): boolean {
  switch (result.kind) {
    case "passed":
      run.passed(item, result.durationMs);
      return true;
    case "skipped":
      run.skipped(item);
      return true;
    case "errored":
      run.errored(item, messagesOf(item, result), result.durationMs);
      return false;
    case "failed":
      run.failed(item, messagesOf(item, result), result.durationMs);
      return false;
  }
}

export function reportError(run: TestRun, item: TestItem, message: string): void {
  run.errored(item, new TestMessage(message));
}

/** Checks without a command have no output, which is no failure. */
async function appendOutput(server: Server, run: TestRun, task: TaskEntry, item: TestItem): Promise<void> {
  const result = await server.tryRun<OutputResult>(Commands.output, { task: task.uri, criterion: item.id, show: false });
  if (!result) return;
  let bytes: Uint8Array;
  try {
    bytes = await workspace.fs.readFile(Uri.parse(result.uri));
  } catch {
    // The output file may have been replaced meanwhile; the result is valid without it.
    return;
  }
  const text = new TextDecoder().decode(bytes);
  run.appendOutput(`${text.replaceAll(/\r?\n/g, "\r\n")}\r\n`, undefined, item);
}
