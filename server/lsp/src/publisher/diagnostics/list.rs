//! The diagnostics of one document, without duplicates.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use lsp_types::Diagnostic;

#[derive(Debug, Clone, Default)]
pub(super) struct DiagnosticList {
    all: Vec<Diagnostic>,
    /// The first diagnostic by hash of range and message, so that a new one is not compared with all others.
    known: HashMap<u64, usize>,
}

impl DiagnosticList {
    /// Adds a diagnostic unless the list contains it already.
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        match self.known.entry(key(&diagnostic)) {
            Entry::Vacant(free) => {
                free.insert(self.all.len());
            }
            Entry::Occupied(first) => {
                // Equal keys nearly always mean equal diagnostics.
                if self.all.get(*first.get()) == Some(&diagnostic) || self.all.contains(&diagnostic) {
                    return;
                }
            }
        }
        self.all.push(diagnostic);
    }

    pub(super) fn all(&self) -> &[Diagnostic] {
        &self.all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether both contain the same diagnostics.
    pub(super) fn is_same_list(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || self.all == other.all
    }
}

fn key(diagnostic: &Diagnostic) -> u64 {
    let (start, end) = (diagnostic.range.start, diagnostic.range.end);
    let mut hasher = DefaultHasher::new();
    (start.line, start.character, end.line, end.character, &diagnostic.message).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lsp_types::{Diagnostic, DiagnosticSeverity, Position, Range};

    use super::DiagnosticList;

    fn diagnostic(line: u32, message: &str) -> Diagnostic {
        let at = Position::new(line, 0);
        Diagnostic::new_simple(Range::new(at, at), message.to_owned())
    }

    #[test]
    fn duplicates_are_dropped_and_the_order_is_kept() {
        let mut list = DiagnosticList::default();
        let severe = Diagnostic { severity: Some(DiagnosticSeverity::ERROR), ..diagnostic(1, "a") };
        for it in [diagnostic(1, "a"), diagnostic(2, "a"), severe.clone(), diagnostic(1, "a"), severe.clone()]
        {
            list.add(it);
        }
        assert_eq!(list.all(), [diagnostic(1, "a"), diagnostic(2, "a"), severe]);
        let (list, other) = (Arc::new(list), Arc::new(DiagnosticList::default()));
        assert!(
            list.is_same_list(&Arc::new(DiagnosticList::clone(&list)))
                && !list.is_same_list(&other)
                && other.is_empty()
        );
    }
}
