// The Loops view: loops by state, below each its iterations, below each iteration the files that it changed. Iterations
// and files are requested when their row is expanded, so that a closed view sends nothing.

import { EventEmitter, ThemeIcon, TreeItem, TreeItemCollapsibleState, window } from "vscode";
import type { Disposable, TreeDataProvider } from "vscode";
import { side } from "../changes";
import type { Server } from "../client";
import { list, t } from "../l10n";
import { escapeLabel } from "../escape";
import { Commands, Requests } from "../protocol";
import type { DiffResult, IterationsParams, IterationsResult, LoopStatus } from "../protocol";
import { currentIteration, groups, iterationRows, loopRow, needing, pageSize } from "./model";
import type { GroupId, LoopGroup, TreeRow } from "./model";

export type LoopNode =
  | { kind: "group"; id: GroupId }
  | { kind: "loop"; loopId: string }
  | { kind: "iteration"; loopId: string; iteration: number; row: TreeRow }
  | { kind: "file"; loopId: string; iteration: number; file: DiffResult["files"][number] }
  | { kind: "more"; loopId: string; count: number };

export class LoopsView implements TreeDataProvider<LoopNode>, Disposable {
  private readonly changed = new EventEmitter<LoopNode | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view = window.createTreeView("loopkeeper.loops", { treeDataProvider: this });
  private readonly shown = new Map<string, number>();
  private written = "";

  constructor(private readonly server: Server) {}

  /** Rows are replaced only if one of them changed: a status arrives every second while an agent works. */
  update(): void {
    const { status } = this.server;
    const now = JSON.stringify(groups(status).map((it) => [it.id, it.loops.map((loop) => [loop.id, loopRow(loop), loop.iteration, loop.stale])]));
    if (now === this.written) return;
    this.written = now;
    const count = needing(status);
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? t("1 loop needs you") : t("{0} loops need you", count) };
    this.changed.fire(undefined);
  }

  showMore(node: LoopNode | undefined): void {
    if (node?.kind !== "more") return;
    this.shown.set(node.loopId, (this.shown.get(node.loopId) ?? pageSize) + pageSize);
    this.changed.fire(undefined);
  }

  async getChildren(node?: LoopNode): Promise<LoopNode[]> {
    if (!node) return groups(this.server.status).map(({ id }) => ({ kind: "group", id }));
    switch (node.kind) {
      case "group":
        return (this.group(node.id)?.loops ?? []).map((it) => ({ kind: "loop", loopId: it.id }));
      case "loop":
        return this.iterations(node.loopId);
      case "iteration":
        return this.files(node.loopId, node.iteration);
      case "file":
      case "more":
        return [];
    }
  }

  getTreeItem(node: LoopNode): TreeItem {
    switch (node.kind) {
      case "group":
        return groupItem(this.group(node.id));
      case "loop": {
        const loop = this.loop(node.loopId);
        return rowItem(node.loopId, loop ? loopRow(loop) : { label: node.loopId, description: "", icon: "circle-outline", context: "", spoken: node.loopId });
      }
      case "iteration":
        return rowItem(`${node.loopId} ${node.iteration}`, node.row);
      case "file":
        return fileItem(node.file, node.iteration);
      case "more": {
        const item = new TreeItem(t("Show More Iterations ({0})", node.count));
        item.command = { command: "loopkeeper.moreIterations", title: t("Show More Iterations"), arguments: [node] };
        return item;
      }
    }
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  private group(id: GroupId): LoopGroup | undefined {
    return groups(this.server.status).find((it) => it.id === id);
  }

  private loop(id: string): LoopStatus | undefined {
    return this.server.status?.loops.find((it) => it.id === id);
  }

  private async iterations(loopId: string): Promise<LoopNode[]> {
    const params: IterationsParams = { loopId };
    const history = await this.server.ask<IterationsResult>(Requests.iterations, params);
    if (!history) return [];
    const { rows, more } = iterationRows(history, this.shown.get(loopId) ?? pageSize, currentIteration(this.loop(loopId)));
    const nodes: LoopNode[] = rows.map(({ iteration, row }) => ({ kind: "iteration", loopId, iteration, row }));
    return more > 0 ? [...nodes, { kind: "more", loopId, count: more }] : nodes;
  }

  private async files(loopId: string, iteration: number): Promise<LoopNode[]> {
    const result = await this.server.run<DiffResult>(Commands.diff, { loopId, iteration });
    return (result?.files ?? []).map((file) => ({ kind: "file", loopId, iteration, file }));
  }
}

function groupItem(group: LoopGroup | undefined): TreeItem {
  const item = new TreeItem(group?.title ?? "", TreeItemCollapsibleState.Expanded);
  item.id = group?.id ?? "";
  item.description = String(group?.loops.length ?? 0);
  return item;
}

function rowItem(id: string, row: TreeRow): TreeItem {
  const item = new TreeItem(row.label, row.leaf ? TreeItemCollapsibleState.None : TreeItemCollapsibleState.Collapsed);
  item.id = id;
  item.description = escapeLabel(row.description);
  item.iconPath = new ThemeIcon(row.icon);
  item.contextValue = row.context;
  item.tooltip = row.spoken;
  item.accessibilityInformation = { label: row.spoken };
  return item;
}

function changeName(kind: DiffResult["files"][number]["kind"]): string {
  switch (kind) {
    case "added":
      return t("added");
    case "changed":
      return t("changed");
    case "removed":
      return t("removed");
  }
}

function fileItem(file: DiffResult["files"][number], iteration: number): TreeItem {
  const item = new TreeItem(file.path);
  item.description = changeName(file.kind);
  item.iconPath = new ThemeIcon(`diff-${file.kind === "changed" ? "modified" : file.kind}`);
  item.tooltip = list(file.path, changeName(file.kind));
  item.accessibilityInformation = { label: item.tooltip };
  const name = file.path.split("/").at(-1) ?? file.path;
  const sides = [side(file.path, file.before), side(file.path, file.after), t("{0} (iteration {1})", name, iteration)];
  item.command = { command: "vscode.diff", title: t("Show Changes"), arguments: sides };
  return item;
}
