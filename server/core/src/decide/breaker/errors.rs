//! The same error again and again, while nothing that can be measured gets better. Errors that agent and tools
//! print count by fingerprint; what checks find counts beside them only where the tree got nowhere: a criterion
//! that fails is what the loop is there for.

use std::collections::BTreeSet;

use crate::agent::errors::{Fingerprint, fingerprint};
use crate::sanitize;

use super::past::{Look, Past};

/// Of the error in the reason.
const TEXT_CHARS: usize = 80;

#[derive(Default)]
pub(super) struct Same {
    /// Iterations in a row that share an error.
    pub(super) count: u32,
    /// The error, as the last of them printed it.
    pub(super) text: String,
}

/// The errors that all of the last iterations have in common.
pub(super) fn same(past: &Past<'_>) -> Same {
    let (mut count, mut common) = (0, BTreeSet::new());
    let works = || past.counted().filter(|it| !it.is_trouble || it.failed_at_work());
    let printed = works().rev().map(|it| if it.is_better() { BTreeSet::new() } else { prints(&it) });
    // One without an error begins anew, whatever was before it.
    let printed: Vec<_> = printed.take_while(|it| !it.is_empty()).collect();
    for prints in printed.into_iter().rev() {
        let shared: BTreeSet<String> = common.intersection(&prints).cloned().collect();
        (count, common) = if shared.is_empty() { (1, prints) } else { (count + 1, shared) };
    }
    let text = works().next_back().map(|it| text(&it, &common)).unwrap_or_default();
    Same { count, text }
}

fn prints(look: &Look<'_>) -> BTreeSet<String> {
    let printed = look.row.errors.iter().map(|it| it.fingerprint.0.clone());
    let found = look.row.facts.iter().filter(|(_, fact)| !look.is_new() && !fact.is_empty());
    printed.chain(found.map(|(id, fact)| of_fact(&id.0, fact))).collect()
}

fn of_fact(criterion: &str, fact: &str) -> String {
    let Fingerprint(print) = fingerprint(fact);
    format!("{criterion}:{print}")
}

/// What was printed says more than what a check found.
fn text(look: &Look<'_>, common: &BTreeSet<String>) -> String {
    let printed = look.row.errors.iter().rev().find(|it| common.contains(&it.fingerprint.0));
    let found = || look.row.facts.iter().find(|(id, fact)| common.contains(&of_fact(&id.0, fact)));
    let text = printed.map(|it| it.text.as_str()).or_else(|| found().map(|(_, fact)| fact.as_str()));
    sanitize::line_within(text.unwrap_or_default(), TEXT_CHARS)
}
