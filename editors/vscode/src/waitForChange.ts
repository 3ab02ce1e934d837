// Waits for a condition that changes with an event.

import type { Event } from "vscode";

/** Resolves when the condition holds, or after `limit` milliseconds. */
export async function waitForChange(onChange: Event<void>, holds: () => boolean, limit: number): Promise<void> {
  if (holds()) return;
  await new Promise<void>((done) => {
    const finish = (): void => {
      clearTimeout(timer);
      listener.dispose();
      done();
    };
    const listener = onChange(() => {
      if (holds()) finish();
    });
    const timer = setTimeout(finish, limit);
  });
}
