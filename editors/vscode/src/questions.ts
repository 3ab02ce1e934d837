// What the server is asking the user. The editor soon hides such a question under its bell, so others show that it is
// there. Knows nothing of what is asked, and answers nothing.

import type { EventEmitter } from "vscode";

export class Questions {
  private readonly open = new Map<Promise<unknown>, string>();

  constructor(private readonly changed: EventEmitter<void>) {}

  /** The oldest without an answer. */
  get first(): string | undefined {
    return [...this.open.values()][0];
  }

  add(question: string, answer: Promise<unknown>): void {
    this.open.set(answer, question);
    this.changed.fire();
    const over = (): void => {
      if (this.open.delete(answer)) this.changed.fire();
    };
    void answer.then(over, over);
  }

  /** The server that asked is gone: nobody waits for an answer. */
  clear(): void {
    this.open.clear();
  }
}
