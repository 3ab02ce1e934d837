//! Shows weakenings by the agent: at the criterion whose check is concerned, otherwise on the first line. Which changes
//! are weakenings, and which are unresolved, is decided by the core.

use super::diagnostic::{Diagnostic, DiagnosticCode, RelatedLocation, RelatedTarget, Severity};
use super::{TaskView, message};
use crate::DisplayPhase;
use loopkeeper_core::decide::weakening;
use loopkeeper_core::journal::Weakening;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::{sanitize, tr, truncate};

/// Maximum length of a path and its loss; the beginning of the path is cut.
const FACT_CHARS: usize = 60;

/// All unresolved weakenings of the open loop, with the criterion at which each is reported.
pub(super) fn reported_weakenings<'a>(
    view: &TaskView<'a>,
) -> impl Iterator<Item = (&'a Weakening, Option<&'a CriterionId>)> {
    let task = view.task;
    let state = view.state.filter(|_| view.open_loop().is_some());
    let written = move |id: &&CriterionId| task.criteria.iter().any(|it| it.id == **id);
    state
        .into_iter()
        .flat_map(weakening::unreported)
        .map(move |it| (it, it.criterion.as_ref().filter(written)))
}

pub(super) fn weakenings_at<'a>(
    view: &TaskView<'a>,
    criterion: Option<&CriterionId>,
) -> impl Iterator<Item = &'a Weakening> {
    reported_weakenings(view).filter(move |(_, place)| *place == criterion).map(|(it, _)| it)
}

/// Whether a file can be restored. A running loop refuses it, and after an edit by the user the start is no longer the
/// reference.
pub(super) fn can_restore(view: &TaskView<'_>, weakening: &Weakening) -> bool {
    let (Some(status), Some(state)) = (view.open_loop(), view.state) else { return false };
    let is_paused = status.phase == DisplayPhase::Interrupted
        || (state.is_paused_between_iterations() && state.stop.is_none());
    is_paused && is_of_start(view, weakening)
}

/// Whether it can be accepted, which needs a running keeper.
pub(super) fn can_accept(view: &TaskView<'_>) -> bool {
    view.open_loop().is_some_and(|it| !matches!(it.phase, DisplayPhase::Interrupted | DisplayPhase::Damaged))
}

fn is_of_start(view: &TaskView<'_>, weakening: &Weakening) -> bool {
    view.state.is_some_and(|it| weakening::is_of_start(it, weakening))
}

pub(super) fn diagnostics(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (weakening, criterion) in reported_weakenings(view) {
        let criterion = criterion.and_then(|id| view.task.criteria.iter().find(|it| it.id == *id));
        let Some(place) = criterion.map(|it| it.place.clone()).or_else(|| view.heading()) else { continue };
        let remedy = if is_of_start(view, weakening) {
            tr!("Restore it or accept it")
        } else {
            tr!("Fix it or accept it")
        };
        let message = message::message(tr!("weakened"), &fact(weakening), remedy);
        let mut found = Diagnostic::new(&place, Severity::Warning, DiagnosticCode::Weakened, message);
        if !weakening.path.is_empty() {
            let target = RelatedTarget::Source { file: weakening.path.clone(), line: 1, column: None };
            found.related =
                vec![RelatedLocation { target, message: tr!("weaker than at the start").to_owned() }];
        }
        all.push(found);
    }
    all
}

/// The file's name and the loss must remain readable, so folders are cut first.
fn fact(weakening: &Weakening) -> String {
    let (what, path) = (sanitize::line(&weakening.what), sanitize::line(&weakening.path));
    let Some(loss) = what.strip_prefix(path.as_str()).filter(|_| !path.is_empty()) else { return what };
    let room = FACT_CHARS.saturating_sub(loss.chars().count()).max(message::NAME_CHARS);
    shortened_path(&path, room) + loss
}

/// The end of a path, because it is distinctive.
pub(super) fn shortened_path(path: &str, room: usize) -> String {
    truncate::shortened_at_start(&sanitize::line(path), room).into_owned()
}
