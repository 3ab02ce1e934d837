// Counts the crashes of the server, so that one that always crashes is not restarted forever. Pure: no clock.

/** Stop restarting after this many crashes within `crashPeriod`. */
const most = 5;
const crashPeriod = 180_000;

export class CrashCounter {
  private times: number[] = [];

  reset(): void {
    this.times = [];
  }

  /** Whether the server may be started again after a crash at this time. */
  add(now: number): boolean {
    this.times = [...this.times.filter((at) => now - at < crashPeriod), now];
    return this.times.length < most;
  }
}
