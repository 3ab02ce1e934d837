//! Renders the evidence for an opening of the breaker, as lines below its own.

use loopkeeper_core::journal::{BreakerCounts, ChangeStats, TripEvidence};
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr, words};

const TREE_CHARS: usize = 10;
/// Limit per iteration.
const FILES: usize = 5;

pub(super) fn lines(opening: &TripEvidence) -> Vec<String> {
    let mut lines = vec![tr!("counts: {counts}", counts = counts(&opening.counts))];
    lines.extend(opening.errors.iter().map(|it| {
        tr!(
            "error {fingerprint} in #{iteration}: {text}",
            fingerprint = sanitize::line(&it.fingerprint.0),
            iteration = it.iteration,
            text = sanitize::line(&it.text)
        )
    }));
    lines.extend(opening.failing.iter().map(|it| {
        let fact =
            if it.fact.is_empty() { String::new() } else { tr!(": {fact}", fact = sanitize::line(&it.fact)) };
        tr!(
            "failure {fingerprint} of {name}{fact}",
            fingerprint = sanitize::line(&it.fingerprint.0),
            name = sanitize::line(&it.name),
            fact
        )
    }));
    lines.extend(opening.changed.iter().map(|it| describe_changes(it.iteration, &it.changes)));
    lines.extend(opening.trees.iter().map(|it| {
        let tree: String = sanitize::line(&it.tree).chars().take(TREE_CHARS).collect();
        let iterations: Vec<_> = it.iterations.iter().map(|it| format!("#{it}")).collect();
        tr!("tree {tree} after {iterations}", tree, iterations = clauses::list(iterations))
    }));
    if opening.session_reset {
        lines.push(tr!("the agent's session was reset").into());
    }
    lines
}

fn counts(counts: &BreakerCounts) -> String {
    let all = [
        (tr!("no progress"), counts.no_progress),
        (tr!("fast failures"), counts.fast_failures),
        (tr!("same error"), counts.same_error),
        (tr!("denied tools"), counts.permission_denials),
        (tr!("less output"), counts.output_decline),
        (tr!("returned to earlier files"), counts.oscillation),
    ];
    clauses::join_with_commas(all.iter().map(|(what, count)| format!("{what} {count}")))
}

fn describe_changes(number: u32, changes: &ChangeStats) -> String {
    let files: Vec<_> = changes.files.iter().take(FILES).map(|it| sanitize::line(it)).collect();
    match (changes.count, changes.committed) {
        (0, true) => tr!("#{number} changed nothing but the commit", number),
        (0, false) => tr!("#{number} changed nothing", number),
        (count, _) if count > files.len() as u64 => {
            tr!(
                "#{number} changed {count}: {files}, …",
                number,
                count = words::counted(count, "file"),
                files = clauses::list(files)
            )
        }
        (_, _) => tr!("#{number} changed {files}", number, files = clauses::list(files)),
    }
}
