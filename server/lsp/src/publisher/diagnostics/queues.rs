//! Diagnostics of the queue documents that are open in the editor.

use loopkeeper_task::queue::is_queue;
use loopkeeper_view::editor::queue_diagnostics;

use super::{DiagnosticsByUri, DiagnosticsContext};
use crate::documents::positions::LinePositions;

/// Size limit, because the document is parsed at every refresh.
const MAX_BYTES: usize = 1 << 20;

pub(super) fn add_queues(made: &mut DiagnosticsByUri, context: &DiagnosticsContext) {
    for (path, document) in context
        .open
        .iter()
        .filter(|(path, it)| is_queue(&path.to_string_lossy()) && it.text.len() <= MAX_BYTES)
    {
        let Some((uri, folder)) = context.uri(path).zip(path.parent()) else { continue };
        let lines = LinePositions::of(&document.text);
        for it in queue_diagnostics("", &document.text, |task| folder.join(task).is_file()) {
            let range = lines.range(&document.text, &it.place.range, context.encoding);
            made.add_diagnostic(Some(uri.clone()), context.diagnostic(range, it, Vec::new()));
        }
    }
}
