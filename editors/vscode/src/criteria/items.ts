// The tree of tests: an item for each task, with its criteria below it.

import { Range, Uri, workspace } from "vscode";
import type { TestController, TestItem } from "vscode";
import { t } from "../l10n";
import { escapeLabel } from "../escape";
import type { CriterionStatus, StatusParams, TaskEntry } from "../protocol";
import { LineIndex } from "./results";

const firstLine = new Range(0, 0, 0, 0);

export class TestItems {
  /** The last content of each task's items, which are replaced only on a change: a replaced item loses its results. */
  private readonly written = new Map<string, string>();

  constructor(private readonly controller: TestController) {}

  async update(status: StatusParams): Promise<void> {
    const known = new Set(status.tasks.map((it) => it.uri));
    for (const [id] of [...this.controller.items]) if (!known.has(id)) this.forget(id);
    for (const task of status.tasks) await this.updateTask(task);
  }

  task(uri: string): TestItem | undefined {
    return this.controller.items.get(uri);
  }

  private forget(id: string): void {
    this.controller.items.delete(id);
    this.written.delete(id);
  }

  private async updateTask(task: TaskEntry): Promise<void> {
    const shape = JSON.stringify([task.title, task.criteria.items.map((it) => [it.id, it.name, it.required, it.place])]);
    if (this.written.get(task.uri) === shape) return;
    this.written.set(task.uri, shape);
    const label = escapeLabel(task.title);
    const parent = this.controller.items.get(task.uri) ?? this.controller.createTestItem(task.uri, label, Uri.parse(task.uri));
    parent.label = label;
    // For the icon that runs all of them, on the first line like the lenses of the task.
    parent.range = firstLine;
    const kept = new Set(task.criteria.items.map((it) => it.id));
    for (const [id] of [...parent.children]) if (!kept.has(id)) parent.children.delete(id);
    const lines = new Map<string, Promise<LineIndex | undefined>>();
    for (const [index, it] of task.criteria.items.entries()) await this.updateCriterion(parent, task, it, index, lines);
    this.controller.items.add(parent);
  }

  private async updateCriterion(parent: TestItem, task: TaskEntry, it: CriterionStatus, index: number, lines: Map<string, Promise<LineIndex | undefined>>): Promise<void> {
    const uri = Uri.joinPath(Uri.parse(task.root), it.place.file);
    // Not as a description, which screen readers get in place of the label.
    const label = escapeLabel(it.required ? it.name : t("{0} (optional)", it.name));
    const item = parent.children.get(it.id) ?? this.controller.createTestItem(it.id, label, uri);
    item.label = label;
    item.sortText = String(index).padStart(5, "0");
    const pending = lines.get(uri.toString()) ?? linesOf(uri);
    lines.set(uri.toString(), pending);
    const found = await pending;
    if (found) item.range = rangeOf(found, it.place);
    parent.children.add(item);
  }
}

function rangeOf(lines: LineIndex, { start, length }: CriterionStatus["place"]): Range {
  const [from, to] = [lines.positionOf(start), lines.positionOf(start + length)];
  return new Range(from.line, from.character, to.line, to.character);
}

/** `undefined` if the name of the file could not be shown verbatim, or the file is gone. */
async function linesOf(uri: Uri): Promise<LineIndex | undefined> {
  try {
    return new LineIndex(await workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}
