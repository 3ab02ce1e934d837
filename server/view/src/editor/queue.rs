//! Diagnostics of a queue document: a list of tasks that `run` works on one after another.

use super::message;
use super::{Diagnostic, DiagnosticCode, Severity};
use loopkeeper_task::queue::parse_queue;
use loopkeeper_text::tr;

/// The diagnostics of the queue `file`. All of them prevent its start. `exists`: whether a path relative to the folder of
/// the queue is a file.
pub fn queue_diagnostics(file: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
    let queue = parse_queue(file, text);
    let error = |place, fact: &str| {
        Diagnostic::new(place, Severity::Error, DiagnosticCode::BadValue, message::sentence(fact))
    };
    let missing = queue
        .entries
        .iter()
        .filter(|it| !exists(&it.path))
        .map(|it| error(&it.place, &tr!("there is no file {path}", path = it.path)));
    let mut all: Vec<Diagnostic> = missing.collect();
    all.extend(queue.findings.iter().map(|it| error(&it.place, &it.message)));
    all.sort_by_key(|it| it.place.range.start);
    all
}

#[cfg(test)]
mod tests {
    use super::queue_diagnostics;

    #[test]
    fn missing_files_and_faults_of_the_list_are_errors_in_their_order() {
        let text = "- [A](a.md) (after X)\n- [B](gone.md)\n";
        let found = queue_diagnostics("QUEUE.md", text, |it| it == "a.md");
        let seen: Vec<&str> = found.iter().map(|it| &text[it.place.range.clone()]).collect();
        assert_eq!(seen, ["X", "B](gone.md"]);
        assert!(found[1].message.contains("there is no file gone.md"), "{found:?}");
    }
}
