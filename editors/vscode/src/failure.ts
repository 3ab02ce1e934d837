// Shows failures to the user: the server's message, and a button if one helps.

import { Range, Uri, commands, env, window } from "vscode";
import { ResponseError } from "vscode-languageclient/node";
import { withCommandNames } from "./commandNames";
import { t } from "./l10n";
import { escapeMessage } from "./escape";
import type { ErrorData } from "./protocol";

export interface FailureContext {
  showLog(): void;
  restart(): Promise<void>;
  /** Whether no server was available to respond. */
  lost: boolean;
}

export function showFailure(error: unknown, context: FailureContext): void {
  const data = dataOf(error);
  // The server is asking the user already.
  if (data?.code === "untrusted" && data.asked) return;
  const message = withCommandNames(error instanceof Error ? error.message : String(error), data?.commands);
  if (data === undefined && context.lost) void showServerProblem(message, context);
  else if (data?.code === "untrusted") void offer(message, [[t("Manage Workspace Trust"), () => commands.executeCommand("workbench.trust.manage")]]);
  else if (data?.code === "agentMissing" && data.uri === undefined) void offer(message, [[t("Run Demo"), () => commands.executeCommand("loopkeeper.runDemo")]]);
  else if (data?.uri !== undefined && data.code !== "unsaved") void offerPlace(message, data.uri, data);
  else void window.showErrorMessage(escapeMessage(message));
}

/** Offers a button that opens the location to correct. */
async function offerPlace(message: string, uri: string, { line = 0, count = 1 }: ErrorData): Promise<void> {
  const file = Uri.parse(uri);
  const open = async (): Promise<void> => {
    await window.showTextDocument(file, { selection: new Range(line, 0, line, 0) });
    if (count > 1) await commands.executeCommand("workbench.actions.view.problems");
  };
  await offer(message, [[count > 1 ? t("Show Problems") : t("Open {0}", file.path.split("/").at(-1) ?? ""), open]]);
}

/** The document that must be saved before the server runs the command. */
export function unsavedDocument(error: unknown): string | undefined {
  const data = dataOf(error);
  return data?.code === "unsaved" ? data.uri : undefined;
}

export async function showServerProblem(message: string, context: FailureContext): Promise<void> {
  await offer(message, [
    [t("Open Setting"), openServerSetting],
    [t("Restart Server"), () => context.restart()],
    [
      t("Show Log"),
      () => {
        context.showLog();
      },
    ],
  ]);
}

/** It is a machine setting, which has a separate page in a remote window. */
export async function openServerSetting(): Promise<void> {
  const page = env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  await commands.executeCommand(`workbench.action.${page}`, { query: "loopkeeper.server.path" });
}

async function offer(message: string, buttons: [string, () => unknown][]): Promise<void> {
  const chosen = await window.showErrorMessage(escapeMessage(message), ...buttons.map(([title]) => title));
  await buttons.find(([title]) => title === chosen)?.[1]();
}

function dataOf(error: unknown): ErrorData | undefined {
  return error instanceof ResponseError ? ((error as ResponseError<ErrorData | undefined>).data ?? undefined) : undefined;
}
