// Run Demo: the server's demo, in a new folder below the temporary folder, in a terminal. It needs no key and no network.
// The project is kept, so that it can be opened and started again.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ThemeIcon, Uri, commands, window } from "vscode";
import { t } from "../l10n";
import { escapeMessage } from "../escape";

export async function runDemo(program: string | undefined): Promise<void> {
  if (program === undefined) {
    void window.showErrorMessage(t("The Ralph server was not found, so the demo cannot run. Install loopkeeper, or let loopkeeper.server.path name its program."));
    return;
  }
  const folder = join(await mkdtemp(join(tmpdir(), "loopkeeper-demo-")), "receipt");
  const terminal = window.createTerminal({
    name: t("Ralph Demo"),
    // The editor closes a terminal whose program has ended, and the result with it, so the program waits for Enter.
    shellPath: "/bin/sh",
    shellArgs: ["-c", "\"$0\" \"$@\"; read -r _", program, "demo", "--keep", folder],
    iconPath: new ThemeIcon("play"),
    isTransient: true,
    message: t("A small project, and one loop from failing to done."),
  });
  terminal.show(true);
  const open = t("Open the Project");
  const pressed = await window.showInformationMessage(escapeMessage(t("The demo runs in {0}. The project stays there.", folder)), open);
  if (pressed === open) await commands.executeCommand("vscode.openFolder", Uri.file(folder), { forceNewWindow: true });
}
