// Criteria as tests: the Testing view runs them through the server and shows the results, also those of loops.

import { TestRunRequest, TestRunProfileKind, Uri, tests, workspace } from "vscode";
import type { CancellationToken, Disposable, TestItem, TestRun } from "vscode";
import type { Server } from "../client";
import { t } from "../l10n";
import { Commands } from "../protocol";
import type { EffectResult, StatusParams, TaskEntry } from "../protocol";
import { TestItems } from "./items";
import { report, reportError } from "./report";
import { hasResult, checkRequests, resultsKey, roundState, runName } from "./results";
import type { Selection } from "./results";

const noTrust = (): string => t("This folder is not trusted, so nothing was run. Run \"Workspaces: Manage Workspace Trust\" from the palette, then run the criteria again.");
const unknownCommands = (): string => t("The commands of this task are not trusted yet, so nothing was run. Answer the question, or run \"Ralph: Trust This Task's Commands…\" from the palette.");
const refused = (): string => t("The server did not run the checks; its message says why.");

export class CriteriaTests implements Disposable {
  private readonly controller = tests.createTestController("loopkeeper", t("Ralph criteria"));
  private readonly items = new TestItems(this.controller);
  private readonly shown = new Map<string, string>();
  private readonly rounds = new Map<string, number>();
  private readonly stale = new Set<string>();
  /** Tasks whose results a run of the user awaits. */
  private readonly awaited = new Set<string>();
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly server: Server) {
    const run = (request: TestRunRequest, token: CancellationToken): Promise<void> => (request.continuous ? this.watch(request, token) : this.run(request, token));
    const profile = this.controller.createRunProfile(t("Run"), TestRunProfileKind.Run, run, true);
    profile.supportsContinuousRun = true;
  }

  /** Calls run one after another, because the ranges of items are read from files. */
  update(): Promise<void> {
    const next = (): Promise<void> => this.showAll();
    this.turn = this.turn.then(next, next);
    return this.turn;
  }

  dispose(): void {
    this.controller.dispose();
  }

  private async showAll(): Promise<void> {
    const { status } = this.server;
    if (!status) return;
    await this.items.update(status);
    for (const task of status.tasks) await this.showTask(task, status);
  }

  private async showTask(task: TaskEntry, status: StatusParams): Promise<void> {
    const parent = this.items.task(task.uri);
    if (!parent) return;
    this.invalidate(task, parent);
    const key = resultsKey(task);
    if (this.shown.get(task.uri) === key || this.awaited.has(task.uri)) return;
    this.shown.set(task.uri, key);
    const alone = (task.rounds ?? 0) !== (this.rounds.get(task.uri) ?? 0);
    this.rounds.set(task.uri, task.rounds ?? 0);
    const found = task.criteria.items.filter(hasResult);
    if (found.length === 0) return;
    // Without the focus: a run that the user did not start must not open the panel.
    const run = this.controller.createTestRun(new TestRunRequest([parent], undefined, undefined, false, true), runName(task, status, alone));
    try {
      await report(this.server, run, task, parent, found);
    } finally {
      run.end();
    }
  }

  private invalidate(task: TaskEntry, parent: TestItem): void {
    for (const it of task.criteria.items) {
      const key = `${task.uri} ${it.id}`;
      const item = parent.children.get(it.id);
      if (it.stale && !this.stale.has(key) && item) this.controller.invalidateTestResults(item);
      if (it.stale) this.stale.add(key);
      else this.stale.delete(key);
    }
  }

  private async run(request: TestRunRequest, token: CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    try {
      for (const check of checkRequests(this.chosen(request))) {
        if (token.isCancellationRequested) break;
        await this.check(run, check, token);
      }
    } finally {
      run.end();
    }
    await this.update();
  }

  /** Runs the checks again whenever a file below the task's root is saved. */
  private async watch(request: TestRunRequest, token: CancellationToken): Promise<void> {
    let [running, again] = [false, false];
    const start = async (): Promise<void> => {
      again = true;
      if (running) return;
      running = true;
      try {
        while (again && !token.isCancellationRequested) {
          again = false;
          await this.run(new TestRunRequest(request.include, request.exclude, request.profile, true, true), token);
        }
      } finally {
        running = false;
      }
    };
    const roots = this.chosen(request).map(({ task }) => this.server.status?.tasks.find((it) => it.uri === task)?.root);
    const saved = workspace.onDidSaveTextDocument((it) => {
      if (roots.some((root) => root !== undefined && it.uri.fsPath.startsWith(`${Uri.parse(root).fsPath}/`))) void start();
    });
    token.onCancellationRequested(() => {
      saved.dispose();
    });
    await start();
  }

  private chosen(request: TestRunRequest): Selection[] {
    const excluded = new Set(request.exclude ?? []);
    const all = request.include ?? [...this.controller.items].map(([, it]) => it);
    const whole = all.filter((it) => !it.parent && !excluded.has(it));
    const selection = whole.map((it): Selection => {
      const children = [...it.children].map(([, child]) => child);
      const left = children.filter((child) => !excluded.has(child));
      return { task: it.id, criteria: left.length === children.length ? "all" : left.map((child) => child.id) };
    });
    const single = all.flatMap((it) => (it.parent && !excluded.has(it) && !whole.includes(it.parent) ? [{ task: it.parent.id, criteria: [it.id] }] : []));
    return [...selection, ...single];
  }

  private async check(run: TestRun, request: { task: string; criterion?: string }, token: CancellationToken): Promise<void> {
    const parent = this.items.task(request.task);
    const before = this.entry(request.task);
    if (!parent || !before) return;
    const items = [...parent.children].map(([, it]) => it).filter((it) => request.criterion === undefined || it.id === request.criterion);
    const fail = (message: string): void => {
      for (const it of items) reportError(run, it, message);
    };
    if (!workspace.isTrusted || this.server.status?.trusted === false) {
      fail(noTrust());
      return;
    }
    for (const it of items) run.started(it);
    this.awaited.add(request.task);
    try {
      const result = await this.server.run<EffectResult>(Commands.check, request, token);
      // The server may have started them before it read the cancellation.
      if (!result && token.isCancellationRequested) await this.server.tryRun(Commands.cancelChecks, { task: request.task });
      else if (!result) fail((this.entry(request.task)?.unknownCommands ?? 0) > 0 ? unknownCommands() : refused());
      else if (result.effect !== undefined) this.leaveToLoop(run, items, result.effect);
      else if (await this.finished(request.task, before.rounds ?? 0, token)) await this.reportAll(run, request.task, parent, items);
      else if (token.isCancellationRequested) await this.server.tryRun(Commands.cancelChecks, { task: request.task });
      else fail(t("The checks ended without a result. Run \"Ralph: Show Output\" or look at the server's output."));
    } finally {
      this.awaited.delete(request.task);
    }
  }

  /** The loop's own run shows the results. */
  private leaveToLoop(run: TestRun, items: TestItem[], effect: string): void {
    run.appendOutput(`${effect}\r\n`);
    for (const it of items) run.skipped(it);
  }

  private async reportAll(run: TestRun, uri: string, parent: TestItem, items: TestItem[]): Promise<void> {
    const task = this.entry(uri);
    if (!task) return;
    this.shown.set(uri, resultsKey(task));
    this.rounds.set(uri, task.rounds ?? 0);
    await report(this.server, run, task, parent, task.criteria.items.filter((it) => items.some((one) => one.id === it.id)));
  }

  private entry(uri: string): TaskEntry | undefined {
    return this.server.status?.tasks.find((it) => it.uri === uri);
  }

  /** `false` if the round ended without a result, the server failed or the user cancelled the run. */
  private finished(uri: string, before: number, token: CancellationToken): Promise<boolean> {
    let seenRunning = false;
    return new Promise((done) => {
      const listeners: Disposable[] = [];
      const settle = (): void => {
        const state = this.server.state === "failed" ? "lost" : roundState(before, seenRunning, this.entry(uri));
        seenRunning ||= state === "running";
        if (!token.isCancellationRequested && (state === "waiting" || state === "running")) return;
        for (const it of listeners) it.dispose();
        done(state === "finished");
      };
      listeners.push(this.server.onChange(settle), token.onCancellationRequested(settle));
      settle();
    });
  }
}
