// A terminal that shows the events of one loop: the output of its agent with the results of checks and the user's hints
// in their places. The server writes the text, from the loop's stored history, so that nothing before the first read is
// missing; the terminal requests the rest whenever the loop has advanced.

import { ColorThemeKind, EventEmitter, window } from "vscode";
import type { Pseudoterminal } from "vscode";
import type { Server } from "../client";
import { withoutDim } from "./contrast";
import { Requests } from "../protocol";
import type { TranscriptCursor, TranscriptParams, TranscriptResult } from "../protocol";

/** Minimum time between two requests while the agent prints. */
const pause = 300;

export class LoopTerminal implements Pseudoterminal {
  private readonly written = new EventEmitter<string>();
  readonly onDidWrite = this.written.event;
  private cursor: TranscriptCursor | undefined;
  private isOpen = false;
  private isReading = false;
  private hasNews = false;
  private hasEnded = false;
  private shownSeq = 0;

  constructor(
    private readonly server: Server,
    private readonly loopId: string,
    private readonly closed: () => void,
  ) {}

  open(): void {
    this.isOpen = true;
    void this.refresh();
  }

  close(): void {
    this.isOpen = false;
    this.closed();
    this.written.dispose();
  }

  /** The loop's last record according to the status. If it is newer than the last one shown, the rest is requested. */
  observe(seq: number): void {
    if (seq <= this.shownSeq) return;
    this.shownSeq = seq;
    void this.refresh();
  }

  /** Writes the new part of the text. Calls during a running one lead to one more. */
  async refresh(): Promise<void> {
    this.hasNews = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.hasNews && this.isOpen && !this.hasEnded) {
      this.hasNews = false;
      if (!(await this.read())) break;
      await new Promise((done) => setTimeout(done, pause));
    }
    this.isReading = false;
  }

  private async read(): Promise<boolean> {
    const params: TranscriptParams = { loopId: this.loopId, ...(this.cursor && { after: this.cursor }) };
    const result = await this.server.tryAsk<TranscriptResult>(Requests.transcript, params);
    if (!result || !this.isOpen) return false;
    this.cursor = result.cursor;
    this.hasEnded = result.ended;
    if (result.text !== "") {
      const text = isHighContrast() ? withoutDim(result.text) : result.text;
      this.written.fire(text.replaceAll("\n", "\r\n"));
    }
    return true;
  }
}

function isHighContrast(): boolean {
  return [ColorThemeKind.HighContrast, ColorThemeKind.HighContrastLight].includes(window.activeColorTheme.kind);
}
