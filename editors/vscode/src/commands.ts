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
import type { CommandContext, CommandTarget } from "./commandContext";
import { Commands } from "./protocol";

export function registerCommands(context: CommandContext): Disposable[] {
  const table: Record<string, (context: CommandContext, target?: CommandTarget) => Promise<void>> = {
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
      commands.registerCommand(`loopkeeper.${name}`, async (target?: CommandTarget) => {
        if (await context.server.available()) await act(context, target);
      }),
    ),
    commands.registerCommand("loopkeeper.showStatus", async () => {
      await context.server.known();
      await showStatus(context);
    }),
    commands.registerCommand("loopkeeper.runDemo", () => runDemo(context.server.program)),
    commands.registerCommand("loopkeeper.trustShownPage", () => context.trust.trust()),
    commands.registerCommand("loopkeeper.cancelShownPage", () => context.trust.cancel()),
    commands.registerCommand("loopkeeper.restartServer", () => context.server.restart()),
  ];
}

async function trust({ server }: CommandContext): Promise<void> {
  const task = await pickTask(server.status, t("Trust the commands of which task?"));
  if (task) await server.run(Commands.trust, { task: task.uri });
}
