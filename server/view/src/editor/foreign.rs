//! Editor views of a loop driven by another program: its state file and the available commands.

use serde_json::json;

use super::{EditorAction, EditorCommand, HoverBlock, QuickFix};
use loopkeeper_core::plugin_loop::PluginLoop;
use loopkeeper_text::{tr, tr_later};

/// The code of its diagnostic, on the first line of its state file. The message has no count, which would flicker.
pub const CODE: &str = "foreign-loop";
/// Translated where it is shown.
pub const MESSAGE: &str =
    tr_later!("a loop of Claude Code's plugin runs: continue it under loopkeeper, or stop it");

/// The hover with its known facts.
pub fn hover_blocks(foreign: &PluginLoop) -> Vec<HoverBlock> {
    let mut blocks = vec![
        HoverBlock::Title(tr!("A loop of Claude Code's plugin").to_owned()),
        HoverBlock::Text(tr!("It is at {progress}.", progress = foreign.progress())),
    ];
    blocks.extend(
        foreign
            .promise
            .as_ref()
            .map(|it| HoverBlock::Text(tr!("It ends with <promise>{promise}</promise>.", promise = it))),
    );
    blocks.extend(
        foreign.started_at.as_ref().map(|it| HoverBlock::Text(tr!("It was started at {time}.", time = it))),
    );
    blocks.push(HoverBlock::Code(foreign.prompt.clone()));
    blocks.push(HoverBlock::Text(
        tr!("loopkeeper does not drive it: a code action converts it to a task, or cancels it as /cancel-ralph does.")
            .to_owned(),
    ));
    blocks
}

/// The available actions; `uri` is that of its state file.
pub fn remedies(uri: &str) -> [EditorAction; 2] {
    let action = |kind, title: &str, command, argument| EditorAction {
        kind,
        title: title.to_owned(),
        fix: QuickFix::Command(EditorCommand { title: title.to_owned(), command, argument }),
        fixes: None,
        preferred: false,
    };
    [
        action(
            "source.loopkeeper.import",
            tr!("Continue this loop under loopkeeper"),
            "loopkeeper.server.import",
            json!({"file": uri}),
        ),
        action(
            "source.loopkeeper.stop",
            tr!("Stop this loop"),
            "loopkeeper.server.stop",
            json!({"loopId": uri}),
        ),
    ]
}
