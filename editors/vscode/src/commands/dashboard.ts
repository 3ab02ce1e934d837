// The page about a loop in a webview. The page is the server's: it has no script, and nothing is fetched.

import { Uri, ViewColumn, type WebviewPanel, window, workspace } from "vscode";

import { t } from "../l10n";
import { pickLoop } from "./pick";
import type { Parts, Target } from "../parts";
import { Commands, type OrderResult } from "../protocol";
import type { LoopStatus } from "../protocol/loop";

/** One panel for each loop. */
const panels = new Map<string, WebviewPanel>();

export async function showDashboard({ server }: Parts, target?: Target): Promise<void> {
  const it = await pickLoop(server.status, t("Show the dashboard of which loop?"), () => true, t("No loop has worked in this folder yet."), target);
  if (!it) return;
  const show = () => refresh(server, it);
  const panel = panels.get(it.id) ?? openPanel(it, show);
  panel.reveal();
  await show();
}

function openPanel(loop: LoopStatus, show: () => Promise<void>): WebviewPanel {
  const options = { enableScripts: false, localResourceRoots: [] };
  const panel = window.createWebviewPanel("loopkeeper.dashboard", t("Ralph: {0}", loop.task.title), ViewColumn.Active, options);
  panels.set(loop.id, panel);
  // What happened meanwhile is shown when the panel is looked at again.
  panel.onDidChangeViewState(({ webviewPanel }) => {
    if (webviewPanel.visible) void show();
  });
  panel.onDidDispose(() => panels.delete(loop.id));
  return panel;
}

async function refresh(server: Parts["server"], loop: LoopStatus): Promise<void> {
  const result = await server.run<OrderResult & { uri?: string }>(Commands.report, { loopId: loop.id });
  const panel = panels.get(loop.id);
  if (!panel || !result?.uri) return;
  const page = new TextDecoder().decode(await workspace.fs.readFile(Uri.parse(result.uri)));
  if (panel.webview.html !== page) panel.webview.html = page;
}
