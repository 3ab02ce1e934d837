//! Renders the evidence for an opening of the breaker, as lines below its own.

use loopkeeper_core::journal::{BreakerCounts, ChangeStats, TripEvidence};
use loopkeeper_text::{sanitize, words};

const TREE_CHARS: usize = 10;
/// Limit per iteration.
const FILES: usize = 5;

pub(super) fn lines(opening: &TripEvidence) -> Vec<String> {
    let mut lines = vec![format!("counts: {}", counts(&opening.counts))];
    lines.extend(opening.errors.iter().map(|it| {
        format!(
            "error {} in #{}: {}",
            sanitize::line(&it.fingerprint.0),
            it.iteration,
            sanitize::line(&it.text)
        )
    }));
    lines.extend(opening.failing.iter().map(|it| {
        let fact = if it.fact.is_empty() { String::new() } else { format!(": {}", sanitize::line(&it.fact)) };
        format!("failure {} of {}{fact}", sanitize::line(&it.fingerprint.0), sanitize::line(&it.name))
    }));
    lines.extend(
        opening.changed.iter().map(|it| format!("#{} changed {}", it.iteration, changed(&it.changes))),
    );
    lines.extend(opening.trees.iter().map(|it| {
        let tree: String = sanitize::line(&it.tree).chars().take(TREE_CHARS).collect();
        let iterations: Vec<_> = it.iterations.iter().map(|it| format!("#{it}")).collect();
        format!("tree {tree} after {}", iterations.join(", "))
    }));
    if opening.session_reset {
        lines.push("the agent's session was reset".into());
    }
    lines
}

fn counts(counts: &BreakerCounts) -> String {
    let all = [
        ("no progress", counts.no_progress),
        ("fast failures", counts.fast_failures),
        ("same error", counts.same_error),
        ("denied tools", counts.permission_denials),
        ("less output", counts.output_decline),
        ("back to earlier files", counts.oscillation),
    ];
    all.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

fn changed(changes: &ChangeStats) -> String {
    let files: Vec<_> = changes.files.iter().take(FILES).map(|it| sanitize::line(it)).collect();
    match (changes.count, changes.committed) {
        (0, true) => "nothing but the commit".into(),
        (0, false) => "nothing".into(),
        (count, _) if count > files.len() as u64 => {
            format!("{}: {}, …", words::counted(count, "file"), files.join(", "))
        }
        (_, _) => files.join(", "),
    }
}
