// The palette: one line per command. Titles and conditions are in package.json.

import { commands, window } from "vscode";
import type { Disposable } from "vscode";
import { rollback, showIterationChanges, showOutput } from "./commands/history";
import { answer, pauseLoop, resetBreaker, resumeLoop, runChecks, startLoop, steer, stopLoop, stopLoopNow } from "./commands/loops";
import { showStatus } from "./commands/overview";
import { pickTask } from "./commands/pick";
import type { Parts } from "./parts";

export function registerCommands(parts: Parts): Disposable[] {
  const table: Record<string, (parts: Parts) => Promise<void>> = {
    startLoop,
    stopLoop,
    stopLoopNow,
    pauseLoop,
    resumeLoop,
    runChecks,
    resetBreaker,
    steer,
    answer,
    rollback,
    showChanges: showIterationChanges,
    showOutput,
    showStatus,
    trust,
    trustShownPage,
  };
  return [
    ...Object.entries(table).map(([name, act]) =>
      commands.registerCommand(`loopkeeper.${name}`, async () => {
        await parts.server.known();
        await act(parts);
      }),
    ),
    commands.registerCommand("loopkeeper.restartServer", () => parts.server.restart()),
  ];
}

async function trust({ server, trust: pages }: Parts): Promise<void> {
  const task = await pickTask(server.status, "Trust the commands of which task?");
  if (task) await pages.show(task);
}

async function trustShownPage({ trust: pages }: Parts): Promise<void> {
  const shown = window.activeTextEditor?.document.uri;
  if (shown) await pages.question(shown);
}
