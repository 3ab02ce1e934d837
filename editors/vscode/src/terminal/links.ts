// Makes places in the output of a loop links that open the file, if it exists in the folder of the loop's task.

import { Range, Uri, window, workspace } from "vscode";
import type { Terminal, TerminalLink, TerminalLinkContext, TerminalLinkProvider } from "vscode";
import { t } from "../l10n";
import { placesIn } from "./places";
import type { SourceLocation } from "./places";

interface PlaceLink extends TerminalLink {
  file: Uri;
  place: SourceLocation;
}

export class PlaceLinks implements TerminalLinkProvider<PlaceLink> {
  /** `rootOf`: the folder of a terminal's task; `undefined` for other terminals. */
  constructor(private readonly rootOf: (terminal: Terminal) => Uri | undefined) {}

  async provideTerminalLinks({ line, terminal }: TerminalLinkContext): Promise<PlaceLink[]> {
    const root = this.rootOf(terminal);
    if (!root) return [];
    const links = placesIn(line, root.path).map((place): PlaceLink => ({
      startIndex: place.start,
      length: place.length,
      tooltip: t("Open {0}", place.path),
      file: Uri.joinPath(root, place.path),
      place,
    }));
    const exist = await Promise.all(links.map((it) => exists(it.file)));
    return links.filter((_, index) => exist[index]);
  }

  async handleTerminalLink({ file, place }: PlaceLink): Promise<void> {
    const at = new Range(place.line - 1, place.column - 1, place.line - 1, place.column - 1);
    await window.showTextDocument(file, { selection: at });
  }
}

async function exists(file: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(file);
    return true;
  } catch {
    return false;
  }
}
