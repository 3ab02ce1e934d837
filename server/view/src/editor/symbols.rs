//! Document symbols: the task, its criteria with their state, its plan.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::{TaskView, state};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::tr;
use loopkeeper_text::{DocumentRange, sanitize};

/// One entry of the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// The short state.
    pub detail: String,
    pub kind: SymbolKind,
    /// The range, which encloses `selection` and all children.
    pub place: DocumentRange,
    /// The range selected on navigation.
    pub selection: DocumentRange,
    pub children: Vec<Symbol>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    Task,
    Criterion,
    PlanItem,
}

/// The outline of one document: the task for a prompt, the items for a plan.
pub fn symbols(view: &TaskView<'_>, file: &str) -> Vec<Symbol> {
    let Some(document) = view.document(file) else { return Vec::new() };
    let plan = view.task.plan.iter().filter(|it| it.place.file == file);
    let mut all: Vec<Symbol> = plan.clone().map(item_symbol).collect();
    let at: HashMap<&str, usize> = plan.enumerate().map(|(index, it)| (it.id.as_str(), index)).collect();
    for criterion in view.task.criteria.iter().filter(|it| it.place.file == file) {
        let symbol = criterion_symbol(view, criterion);
        let item = criterion.plan_item.as_deref().and_then(|id| at.get(id));
        match item.and_then(|index| all.get_mut(*index)) {
            Some(item) => item.add_child(symbol),
            None => all.push(symbol),
        }
    }
    all.sort_by_key(|it| it.selection.range.start);
    let Some(heading) = view.heading().filter(|it| it.file == file) else { return all };
    let title = if view.task.title.is_empty() { file } else { &view.task.title };
    let loop_state = state::loop_state(view).unwrap_or_else(|| view.tally().sentence());
    vec![Symbol {
        name: symbol_name(title),
        detail: loop_state,
        kind: SymbolKind::Task,
        place: DocumentRange { file: file.to_owned(), range: 0..document.text.len() },
        selection: heading,
        children: all,
    }]
}

fn criterion_symbol(view: &TaskView<'_>, criterion: &Criterion) -> Symbol {
    Symbol {
        name: symbol_name(&criterion.name),
        detail: state::criterion_state(view, criterion).unwrap_or_else(|| tr!("no check").to_owned()),
        kind: SymbolKind::Criterion,
        place: criterion.place.clone(),
        selection: criterion.place.clone(),
        children: Vec::new(),
    }
}

fn item_symbol(item: &PlanItem) -> Symbol {
    Symbol {
        name: symbol_name(&item.title),
        detail: if item.done { tr!("done") } else { tr!("open" @ "plan") }.to_owned(),
        kind: SymbolKind::PlanItem,
        place: item.place.clone(),
        selection: item.place.clone(),
        children: Vec::new(),
    }
}

impl Symbol {
    fn add_child(&mut self, child: Symbol) {
        let (mine, its) = (&mut self.place.range, &child.place.range);
        *mine = mine.start.min(its.start)..mine.end.max(its.end);
        self.children.push(child);
    }
}

/// The protocol does not allow an empty name.
fn symbol_name(name: &str) -> String {
    const NAME_CHARS: usize = 100;
    let clean = sanitize::line_within(name, NAME_CHARS);
    if clean.is_empty() { tr!("unnamed").to_owned() } else { clean }
}
