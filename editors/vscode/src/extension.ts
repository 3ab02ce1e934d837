// Creates and connects all components when the editor opens a folder with a task, and disposes them when it closes.

import { commands, l10n, languages, workspace } from "vscode";
import type { ExtensionContext } from "vscode";
import { showAlert } from "./alerts";
import { copies, copyScheme } from "./changes";
import { Server } from "./client";
import { registerCommands } from "./commands";
import { presentResult } from "./commands/history";
import { ContextKeys } from "./contextKeys";
import { CriteriaTests } from "./criteria/controller";
import { useTranslation } from "./l10n";
import { LoopsView } from "./loops/view";
import type { LoopNode } from "./loops/view";
import { OutputView } from "./output";
import { StartChoices } from "./startChoices";
import { StatusItem } from "./statusItem";
import { TrustPages, trustScheme } from "./trustPage";

let running: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  useTranslation((message, ...args) => l10n.t(message, ...args));
  const trust = new TrustPages();
  const server: Server = new Server(context, (command, argument, result) => presentResult({ server }, command, argument, result), trust);
  running = server;
  const status = new StatusItem(server, context.workspaceState);
  const output = new OutputView(server);
  const choices = new StartChoices(context.workspaceState);
  const keys = new ContextKeys();
  const loops = new LoopsView(server);
  const criteria = new CriteriaTests(server);
  const refresh = (): void => {
    keys.update(server);
    status.update();
    void criteria.update();
    loops.update();
    output.update();
  };
  let state = server.state;
  context.subscriptions.push(
    server,
    status,
    output,
    trust,
    criteria,
    loops,
    server.onChange(() => {
      if (state !== server.state && server.state === "ready") void output.renew();
      state = server.state;
      refresh();
    }),
    server.onAlert((it) => {
      if (it.kind === "ended") status.ended(it.loopId);
      void showAlert({ server }, it);
    }),
    server.onOutput((it) => {
      output.append(it);
    }),
    workspace.registerTextDocumentContentProvider(trustScheme, trust),
    languages.registerCodeLensProvider({ scheme: trustScheme }, trust),
    workspace.registerTextDocumentContentProvider(copyScheme, copies),
    workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
    workspace.onDidChangeConfiguration((it) => {
      if (it.affectsConfiguration("loopkeeper.server.path")) void server.restart();
      if (it.affectsConfiguration("loopkeeper.statusBar")) refresh();
    }),
    commands.registerCommand("loopkeeper.moreIterations", (node: LoopNode | undefined) => {
      loops.showMore(node);
    }),
    ...registerCommands({ server, output, status, trust, choices }),
  );
  await server.restart();
}

/** The editor awaits this before it ends the extension host. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}
