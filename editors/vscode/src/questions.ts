// The questions that the server is asking the user. The editor soon hides such a question under its bell, so other
// parts of the UI show that it exists. Does not interpret or answer questions.

import type { EventEmitter } from "vscode";

export class OpenQuestions {
  private readonly open = new Map<Promise<unknown>, { question: string; reveal: () => Promise<unknown> }>();

  constructor(private readonly changed: EventEmitter<void>) {}

  /** The oldest question without an answer. */
  get first(): string | undefined {
    return [...this.open.values()][0]?.question;
  }

  /** Brings the oldest question to where it can be answered. */
  async reveal(): Promise<void> {
    await [...this.open.values()][0]?.reveal();
  }

  /** `reveal` shows the question again. */
  add(question: string, answer: Promise<unknown>, reveal: () => Promise<unknown>): void {
    this.open.set(answer, { question, reveal });
    this.changed.fire();
    const over = (): void => {
      if (this.open.delete(answer)) this.changed.fire();
    };
    void answer.then(over, over);
  }

  /** The server that asked is gone, so its questions are obsolete. */
  clear(): void {
    this.open.clear();
  }
}
