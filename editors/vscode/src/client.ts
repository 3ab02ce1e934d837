// The server as seen by the rest of the extension: its state, its last status, and methods to send requests. Loops are
// not affected when it is restarted or killed, so no precautions are needed here.

import { EventEmitter, Uri, window, workspace } from "vscode";
import type { CancellationToken, Disposable, ExtensionContext } from "vscode";
import { ExecuteCommandRequest, State } from "vscode-languageclient/node";
import { connect } from "./connection";
import type { Connection } from "./connection";
import { CrashCounter } from "./crashes";
import { showFailure, showServerProblem, unsavedDocument } from "./failure";
import { t } from "./l10n";
import { findServer } from "./lookup";
import { Commands, Notifications } from "./protocol";
import type { AlertParams, OutputParams, StatusParams } from "./protocol";
import { OpenQuestions } from "./questions";
import { saveDocument, saveTask } from "./save";
import { waitForChange } from "./waitForChange";
import type { ServerState } from "./status";
import type { TrustPages } from "./trustPage";

/** How long a command that starts with the window waits for the server. */
const firstStatus = 10_000;

export class Server implements Disposable {
  private client: Connection | undefined;
  private readonly crashes = new CrashCounter();
  private turn: Promise<void> = Promise.resolve();
  private last: StatusParams | undefined;
  private current: ServerState = "starting";
  private why: string | undefined;
  private readonly channel = window.createOutputChannel(t("Ralph Server"));
  private readonly changed = new EventEmitter<void>();
  private readonly alerted = new EventEmitter<AlertParams>();
  private readonly printed = new EventEmitter<OutputParams>();
  readonly questions = new OpenQuestions(this.changed);
  readonly onChange = this.changed.event;
  readonly onAlert = this.alerted.event;
  readonly onOutput = this.printed.event;

  constructor(
    private readonly context: ExtensionContext,
    /** Shows the result of a command that was run by a lens or a button. */
    private readonly present: (command: string, argument: unknown, result: unknown) => Promise<void>,
    private readonly pages: TrustPages,
  ) {}

  /** Kept while the server restarts, because an outdated status is better than none. */
  get status(): StatusParams | undefined {
    return this.last;
  }

  get state(): ServerState {
    return this.current;
  }

  get reason(): string | undefined {
    return this.why;
  }

  /** The path of the server's program, whether or not it runs. */
  get program(): string | undefined {
    const found = this.find();
    return "missing" in found ? undefined : found.program;
  }

  /** Starts the server, or replaces the running one. Concurrent calls run one after another. */
  restart(): Promise<void> {
    this.crashes.reset();
    return this.inTurn(async () => {
      await this.end();
      await this.begin();
    });
  }

  stop(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** Sends a server command. Failures are shown here and return `undefined`, and so does a cancelled request. */
  async run<R>(command: string, argument: object, token?: CancellationToken): Promise<R | undefined> {
    return this.tell(async () => {
      if (command === Commands.start || command === Commands.check) await saveTask(argument, this.last);
      try {
        return await this.send<R>(command, argument, token);
      } catch (error) {
        if (token?.isCancellationRequested) return undefined;
        const unsaved = unsavedDocument(error);
        if (unsaved === undefined || !(await saveDocument(Uri.parse(unsaved)))) throw error;
        return this.send<R>(command, argument);
      }
    });
  }

  /** Sends a server command whose failure does not concern the user. */
  async tryRun<R>(command: string, argument: object): Promise<R | undefined> {
    try {
      return await this.send<R>(command, argument);
    } catch {
      return undefined;
    }
  }

  /** Sends a custom request whose failure does not concern the user. */
  async tryAsk<R>(method: string, params: object): Promise<R | undefined> {
    try {
      return await this.running().sendRequest<R>(method, params);
    } catch {
      return undefined;
    }
  }

  /** Sends a custom request. */
  async ask<R>(method: string, params: object): Promise<R | undefined> {
    return this.tell(() => this.running().sendRequest<R>(method, params));
  }

  /**
   * Resolves when the first status has arrived or cannot arrive, because a command may run before the server is ready.
   */
  known(): Promise<void> {
    return waitForChange(this.onChange, () => this.last !== undefined || this.current === "failed", firstStatus);
  }

  /** `false` if no working server exists; the user was informed about the cause and the remedy. */
  async available(): Promise<boolean> {
    await this.known();
    if (this.last && this.current !== "failed") return true;
    void showServerProblem(this.why ?? t("The server has not answered yet, so nothing was started."), this.failure());
    return false;
  }

  showLog(): void {
    this.channel.show(true);
  }

  dispose(): void {
    // The client writes to the channel until it has stopped.
    void this.stop().finally(() => {
      for (const it of [this.changed, this.alerted, this.printed, this.channel]) it.dispose();
    });
  }

  private inTurn(act: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(act, act);
    return this.turn;
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.end();
  }

  private async begin(): Promise<void> {
    const found = this.find();
    if ("missing" in found) {
      this.fail(found.missing);
      return;
    }
    this.become("starting");
    this.channel.appendLine(`Server: ${found.program} (from ${found.from})`);
    const client = this.prepare(found.program);
    this.client = client;
    const problem = await client.greet();
    if (problem === undefined) return;
    await this.end();
    this.fail(problem);
  }

  private find(): ReturnType<typeof findServer> {
    const setting = workspace.getConfiguration("loopkeeper").get("server.path", "");
    return findServer({ setting, extension: this.context.extensionPath, path: process.env["PATH"] ?? "" });
  }

  private prepare(program: string): Connection {
    const client = connect(program, {
      channel: this.channel,
      execute: async (command, argument) => {
        const result = await this.run(command, (argument ?? {}) as object);
        if (result !== undefined) await this.present(command, argument, result);
        return result;
      },
      server: this,
      questions: this.questions,
      pages: this.pages,
      died: () => this.mayStartAgain(),
    });
    client.onNotification(Notifications.status, (it: StatusParams) => {
      this.last = it;
      this.changed.fire();
    });
    client.onNotification(Notifications.alert, (it: AlertParams) => {
      this.alerted.fire(it);
    });
    client.onNotification(Notifications.output, (it: OutputParams) => {
      this.printed.fire(it);
    });
    client.onDidChangeState((it) => {
      if (this.client !== client) return;
      if (it.newState === State.Running) this.become("ready");
      if (it.newState === State.Starting) this.become("starting");
    });
    return client;
  }

  private mayStartAgain(): boolean {
    if (this.crashes.add(Date.now())) return true;
    this.fail(t("The server ended unexpectedly several times. Loops are not affected."));
    return false;
  }

  private async tell<R>(action: () => Promise<R>): Promise<R | undefined> {
    try {
      return await action();
    } catch (error) {
      showFailure(error, this.failure());
      return undefined;
    }
  }

  private async send<R>(command: string, argument: object, token?: CancellationToken): Promise<R> {
    return (await this.running().sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] }, token)) as R;
  }

  private running(): Connection {
    if (!this.client) throw new Error(this.why ?? t("The server is not running."));
    return this.client;
  }

  private failure(): { showLog: () => void; restart: () => Promise<void>; lost: boolean } {
    return {
      showLog: this.showLog.bind(this),
      restart: () => this.restart(),
      lost: this.current === "failed",
    };
  }

  private become(state: ServerState, why?: string): void {
    this.current = state;
    this.why = why;
    this.changed.fire();
  }

  private fail(why: string): void {
    const known = this.current === "failed" && this.why === why;
    this.channel.appendLine(why);
    this.become("failed", why);
    if (!known) void showServerProblem(why, this.failure());
  }
}
