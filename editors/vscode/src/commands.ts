// Registers the commands of the palette, one per line. Titles and conditions are in package.json.

import { commands } from "vscode";
import type { Disposable } from "vscode";
import { showDashboard } from "./commands/dashboard";
import { continueLoop, giveFeedback, reviewChanges, rollback, showIterationChanges, showOutput, showReceipt, undoRollback } from "./commands/history";
import { importText } from "./commands/import";
import { answer, pauseLoop, resetBreaker, resumeLoop, runChecks, steer, stopLoop, stopLoopNow } from "./commands/loops";
import { newTask } from "./commands/newTask";
import { showStatus } from "./commands/overview";
import { runDemo } from "./commands/demo";
import { pickTask } from "./commands/pick";
import { startLoop } from "./commands/start";
import { t } from "./l10n";
import type { Parts, Target } from "./parts";
import { Commands } from "./protocol";

export function registerCommands(parts: Parts): Disposable[] {
  const table: Record<string, (parts: Parts, target?: Target) => Promise<void>> = {
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
    undoRollback,
    showChanges: showIterationChanges,
    showOutput,
    showReceipt,
    reviewChanges,
    continueLoop,
    giveFeedback,
    showDashboard,
    importText,
    newTask,
    trust,
  };
  return [
    ...Object.entries(table).map(([name, act]) =>
      commands.registerCommand(`loopkeeper.${name}`, async (target?: Target) => {
        if (await parts.server.available()) await act(parts, target);
      }),
    ),
    commands.registerCommand("loopkeeper.showStatus", async () => {
      await parts.server.known();
      await showStatus(parts);
    }),
    commands.registerCommand("loopkeeper.runDemo", () => runDemo(parts.server.program)),
    commands.registerCommand("loopkeeper.trustShownPage", () => parts.trust.trust()),
    commands.registerCommand("loopkeeper.cancelShownPage", () => parts.trust.cancel()),
    commands.registerCommand("loopkeeper.restartServer", () => parts.server.restart()),
  ];
}

async function trust({ server }: Parts): Promise<void> {
  const task = await pickTask(server.status, t("Trust the commands of which task?"));
  if (task) await server.run(Commands.trust, { task: task.uri });
}
