// One language client for one process of the server: starts it, stops it, and changes some behaviour of the library.
// Stateless apart from that; `client.ts` decides when a connection exists.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { MarkdownString, commands, window, workspace } from "vscode";
import type { CancellationToken, Event, OutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  MessageType,
  RevealOutputChannelOn,
  ShowMessageNotification,
  ShowMessageRequest,
} from "vscode-languageclient/node";
import type { ClientCapabilities, LanguageClientOptions, MessageActionItem, StaticFeature } from "vscode-languageclient/node";
import { completeAnswer } from "./answer";
import { withCommandNames } from "./commandNames";
import { t } from "./l10n";
import { LensRefresh } from "./lenses";
import { escapeMessage } from "./escape";
import { Commands, protocolVersion } from "./protocol";
import type { HintedMessageParams, StatusParams } from "./protocol";
import type { OpenQuestions } from "./questions";
import { closedQuestion } from "./trustPage";
import type { TrustPages } from "./trustPage";
import { findMismatch } from "./version";

/** Commands that only show something, so that a link to them can do no harm. */
const hoverLinks = ["loopkeeper.showDashboard", "loopkeeper.showOutput"];
/** A program that does not respond within this time is not considered a server. */
const greeting = 30_000;

export interface ConnectionHandlers {
  channel: OutputChannel;
  /** Replaces the library's own way of sending commands, which rewrites error messages. */
  execute(command: string, argument: unknown): Promise<unknown>;
  /** The last status of the server, and its changes. */
  server: { status: StatusParams | undefined; onChange: Event<void> };
  questions: OpenQuestions;
  /** Asks questions about a page. */
  pages: TrustPages;
  /** Called when the process ended unexpectedly; `false`: do not restart it. */
  died(): boolean;
}

export function connect(program: string, handlers: ConnectionHandlers): Connection {
  const lenses = new LensRefresh();
  const client = new Connection(program, handlers, lenses);
  client.registerFeature(announcement);
  client.registerFeature(lenses.feature(client));
  // The library passes these to the editor unchanged, which would turn `[text](command:…)` into a link.
  client.onNotification(ShowMessageNotification.type, (it: HintedMessageParams) => void show(it.type, withCommandNames(it.message, it.commands), []));
  client.onRequest(ShowMessageRequest.type, async (it, cancelled) => {
    const actions = it.actions ?? [];
    const page = (actions[0] as { page?: string } | undefined)?.page;
    const answer = untilClosed(page === undefined ? show(it.type, it.message, actions) : handlers.pages.ask(actions, page), cancelled);
    if (page !== undefined) cancelled.onCancellationRequested(() => void handlers.pages.close(page));
    handlers.questions.add(it.message, answer, async () => (page === undefined ? commands.executeCommand("notifications.showList") : handlers.pages.reveal(page)));
    return (await answer) ?? null;
  });
  return client;
}

/**
 * Resolves without an answer when the server withdraws its question. The editor cannot close a notification, so an answer
 * in one that is still open has no effect, and the server reports that to the user.
 */
function untilClosed(answer: Promise<MessageActionItem | undefined>, cancelled: CancellationToken): Promise<MessageActionItem | undefined> {
  return new Promise((done, failed) => {
    cancelled.onCancellationRequested(() => {
      done(undefined);
    });
    answer.then((it) => {
      if (it && cancelled.isCancellationRequested) void window.showInformationMessage(closedQuestion());
      done(it);
    }, failed);
  });
}

function options(handlers: ConnectionHandlers, lenses: LensRefresh): LanguageClientOptions {
  return {
    documentSelector: [
      { scheme: "file", language: "markdown" },
      { scheme: "file", pattern: "**/{prd.json,feature_list.json,feature-list.json}" },
      { scheme: "file", pattern: "**/.beads/{issues,beads}.jsonl" },
      { scheme: "file", pattern: "**/.agents/tasks/prd*.json" },
      { scheme: "file", pattern: "**/.ralph/{tasks.json,queue.jsonc,queue.json,config.jsonc,ralph-loop.state.json}" },
      { scheme: "file", pattern: "**/{ralph.yml,ralph.toml,.ralphrc,.ralph.toml}" },
      { scheme: "file", pattern: "**/{tasks.yaml,tasks.yml,tasks.json,PRD.json}" },
      { scheme: "file", pattern: "**/.ralph/{run-config.json,verification.json,agent/tasks.jsonl}" },
      { scheme: "file", pattern: "**/{.ralphy/config.yaml,.ralph-tui/config.toml,.ralphex/config,bmalph/config.json}" },
      { scheme: "file", pattern: "**/loopkeeper.toml" },
    ],
    initializationOptions: { trusted: workspace.isTrusted },
    outputChannel: handlers.channel,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        handlers.questions.clear();
        return { action: handlers.died() ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
      },
    },
    initializationFailedHandler: () => false,
    middleware: {
      executeCommand: async (command, args) => {
        const argument: unknown = command === Commands.answer ? await completeAnswer(args[0] as object, handlers.server) : args[0];
        return command === Commands.answer && argument === undefined ? undefined : handlers.execute(command, argument);
      },
      // Text from outside is escaped by the server. A hover without links is not trusted at all.
      provideHover: async (document, position, token, next) => {
        const hover = await next(document, position, token);
        for (const it of hover?.contents ?? []) {
          if (it instanceof MarkdownString && it.value.includes("](command:loopkeeper.")) it.isTrusted = { enabledCommands: hoverLinks };
        }
        return hover;
      },
      provideCodeLenses: (document, token, next) => {
        lenses.requested(document);
        return workspace.getConfiguration("loopkeeper").get<boolean>("codeLens.enable") === false ? [] : next(document, token);
      },
      // The status bar item shows a shorter version of the same.
      handleWorkDoneProgress: (token, params, next) => {
        if (!String(token).startsWith("ralph/")) next(token, params);
      },
    },
  };
}

export class Connection extends LanguageClient {
  private child: ChildProcess | undefined;

  constructor(private readonly program: string, private readonly handlers: ConnectionHandlers, lenses: LensRefresh) {
    super("loopkeeper", t("Ralph Server"), () => this.spawn(program), options(handlers, lenses));
  }

  /**
   * Returns an error if the program is not loopkeeper or has an incompatible protocol version; otherwise the UI would
   * stay silently empty.
   */
  async greet(): Promise<string | undefined> {
    let late: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        reject(new Error(t("it does not answer")));
      }, greeting);
    });
    try {
      await Promise.race([this.start(), limit]);
    } catch (error) {
      return t("{0} does not start: {1}. Check loopkeeper.server.path.", this.program, error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(late);
    }
    return findMismatch(this.program, this.initializeResult);
  }

  /** Ends the process in any state, because the library refuses to end one that is still starting. */
  async end(): Promise<void> {
    this.handlers.questions.clear();
    try {
      await this.dispose();
    } catch {
      this.child?.kill("SIGKILL");
    }
  }

  /** The caller formats and shows errors; the library only logs them. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  private spawn(program: string): Promise<ChildProcess> {
    return new Promise((started, failed) => {
      const child = spawn(program, ["--stdio"], { stdio: "pipe" });
      this.child = child;
      child.once("error", failed);
      child.once("spawn", () => {
        started(child);
      });
    });
  }
}

const announcement: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const loopkeeper = { version: protocolVersion, commandLinks: hoverLinks };
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), loopkeeper };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

async function show(type: MessageType, message: string, actions: MessageActionItem[]): Promise<MessageActionItem | undefined> {
  const text = escapeMessage(message);
  if (type === MessageType.Error) return window.showErrorMessage(text, ...actions);
  if (type === MessageType.Warning) return window.showWarningMessage(text, ...actions);
  return window.showInformationMessage(text, ...actions);
}
