// The choices of the last start of each task, stored per folder. Other values come from the configuration.

import type { Memento } from "vscode";
import type { StartPreviewParams } from "./protocol";

export interface StartChoice {
  agent?: string;
  iterations?: number;
  duration?: string;
  costUsd?: number;
}

interface StoredChoices {
  /** URI of the task that was started last. */
  last?: string;
  tasks: Record<string, StartChoice>;
}

const key = "loopkeeper.start";
/** Choices of older tasks are dropped. */
const most = 32;

export class StartChoices {
  constructor(private readonly memory: Memento) {}

  get last(): string | undefined {
    return this.stored().last;
  }

  of(task: string): StartChoice {
    return this.stored().tasks[task] ?? {};
  }

  async keep(task: string, choice: StartChoice): Promise<void> {
    const others = Object.entries(this.stored().tasks).filter(([uri]) => uri !== task);
    const tasks = Object.fromEntries([...others.slice(1 - most), [task, choice]]);
    await this.memory.update(key, { last: task, tasks } satisfies StoredChoices);
  }

  private stored(): StoredChoices {
    return this.memory.get<StoredChoices>(key, { tasks: {} });
  }
}

/** The arguments of a start, and of its preview. */
export function startArguments(task: string, { agent, iterations, duration, costUsd }: StartChoice): StartPreviewParams {
  const limits = { ...(iterations !== undefined && { iterations }), ...(duration !== undefined && { duration }), ...(costUsd !== undefined && { costUsd }) };
  return { task, ...(agent !== undefined && { agent }), ...(Object.keys(limits).length > 0 && { limits }) };
}

/** A whole number from 1; `undefined` if it is none. */
export function wholeNumber(text: string): number | undefined {
  const value = Number(text.trim());
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** In the server's notation of a duration: the largest unit without a fraction. */
export function durationText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** An amount in US dollars; `undefined` if it is none. */
export function dollars(text: string): number | undefined {
  const value = Number(text.trim().replace(/^\$/, ""));
  return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value : undefined;
}
