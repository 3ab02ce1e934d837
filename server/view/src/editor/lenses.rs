//! Code lenses: the state first, then at most two commands. All of them are also code actions (`actions.rs`).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::offered_commands::{self, OfferedCommand};
use super::{EditorCommand, TaskView, state};
use loopkeeper_core::check::Status;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::DocumentRange;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::tr;

/// A short text over a line, with an optional command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// The line below the lens.
    pub place: DocumentRange,
    pub title: String,
    /// `None`: text only.
    pub command: Option<EditorCommand>,
}

/// The lenses of one document, in display order.
pub fn lenses(view: &TaskView<'_>, file: &str) -> Vec<Lens> {
    let mut all = Vec::new();
    let mut taken = BTreeSet::new();
    let lines = LineIndex::of(view.document(file).map_or("", |it| it.text.as_str()));
    if let Some(place) = view.heading().filter(|it| it.file == file) {
        taken.insert(lines.line(place.range.start));
        all.extend(task_lenses(view, &place));
    }
    for criterion in view.task.criteria.iter().filter(|it| it.place.file == file) {
        // A line of JSON or prose can contain many criteria; a line has at most three lenses.
        if taken.insert(lines.line(criterion.place.range.start)) {
            all.extend(criterion_lenses(view, criterion, &view.first_line(&criterion.place)));
        }
    }
    for item in view.task.plan.iter().filter(|it| it.place.file == file) {
        // An item that is also a criterion shows the criterion's result; its other commands are code actions.
        if taken.insert(lines.line(item.place.range.start)) {
            let place = view.first_line(&item.place);
            all.extend(offered_commands::item_commands(item).into_iter().map(|it| lens(view, &place, it)));
        }
    }
    all
}

fn task_lenses(view: &TaskView<'_>, place: &DocumentRange) -> Vec<Lens> {
    let with_title =
        |title: &str| offered_commands::state_command(view).map(|it| it.command(view, title.to_owned()));
    let state = state::loop_state(view);
    let loop_lens = state.map(|title| Lens { place: place.clone(), command: with_title(&title), title });
    let commands =
        offered_commands::first_line_commands(view).into_iter().take(2).map(|it| lens(view, place, it));
    loop_lens.into_iter().chain(commands).collect()
}

fn criterion_lenses(view: &TaskView<'_>, criterion: &Criterion, place: &DocumentRange) -> Vec<Lens> {
    let Some(title) = state::criterion_state(view, criterion) else { return Vec::new() };
    let commands = offered_commands::criterion_commands(view, criterion);
    if !view.is_trusted(criterion) && view.latest_result(&criterion.id).is_none() && view.trust.editor {
        let review = OfferedCommand::Trust.command(view, tr!("Review…").to_owned());
        let state_lens = Lens { place: place.clone(), title, command: None };
        let review = Lens { place: place.clone(), title: review.title.clone(), command: Some(review) };
        return vec![state_lens, review];
    }
    let output = commands.iter().find(|it| matches!(it, OfferedCommand::Output(_)));
    let command = output.map(|it| it.command(view, title.clone()));
    let passes = view.latest_result(&criterion.id).is_some_and(|it| it.result.status == Status::Pass);
    // The output of a passing check is available by clicking its state.
    let shown = commands.into_iter().filter(|it| !(passes && matches!(it, OfferedCommand::Output(_))));
    let state_lens = Lens { place: place.clone(), title, command };
    std::iter::once(state_lens).chain(shown.map(|it| lens(view, place, it))).collect()
}

fn lens(view: &TaskView<'_>, place: &DocumentRange, offered: OfferedCommand<'_>) -> Lens {
    // A running loop cannot be resumed; the command withdraws the requested pause.
    let withdraws = matches!(offered, OfferedCommand::Resume)
        && view.open_loop().is_some_and(offered_commands::is_pausing);
    let title = if withdraws { tr!("Don't pause") } else { offered.lens_title() }.to_owned();
    Lens { place: place.clone(), title: title.clone(), command: Some(offered.command(view, title)) }
}
