//! The last line: a question of the view, a note, or the keys.

use super::{Dashboard, DashboardLine, DashboardPrompt, DashboardScreen, DashboardStyle};
use crate::cells::truncated;
use loopkeeper_core::journal::QuestionKind;
use loopkeeper_text::tr;

pub(super) fn line(view: &Dashboard) -> DashboardLine {
    match (&view.prompt, &view.note) {
        (Some(DashboardPrompt::Answer { id, text }), _) => {
            DashboardLine::of(DashboardStyle::Warning, format!(" {}: ", answer_label(view, id)))
                .and(DashboardStyle::Plain, format!("{}_", end_of(text)))
        }
        (Some(DashboardPrompt::Stop { id }), _) => {
            let title = view.loops.iter().find(|it| it.id() == id).map_or(id.as_str(), |it| it.title());
            let title = truncated(title, 24);
            DashboardLine::of(
                DashboardStyle::Warning,
                format!(" {}", tr!("Stop? y after the iteration, ! at once, n no: {title}", title)),
            )
        }
        (None, Some(note)) => DashboardLine::of(DashboardStyle::Warning, format!(" {note}")),
        (None, None) => DashboardLine::of(DashboardStyle::Dim, keys(view.screen)),
    }
}

fn keys(screen: DashboardScreen) -> &'static str {
    match screen {
        DashboardScreen::Loops => {
            tr!(" Enter details  o output  d diff  a answer  p pause/resume  s stop  ? keys  q quit")
        }
        DashboardScreen::Details => {
            tr!(" Esc back  o output  d diff  a answer  p pause/resume  s stop  ? keys  q quit")
        }
        DashboardScreen::Output | DashboardScreen::Diff => {
            tr!(" Esc back  j k scroll  g G ends  ? keys  q quit")
        }
        DashboardScreen::Help => tr!(" Esc back  q quit"),
    }
}

fn answer_label(view: &Dashboard, id: &str) -> &'static str {
    let question = view.loops.iter().find(|it| it.id() == id).and_then(|it| it.status.question.as_ref());
    match question.map(|it| it.kind) {
        Some(QuestionKind::Permission) => tr!("allow, always or deny"),
        Some(QuestionKind::UsageLimit) => tr!("wait or stop"),
        _ => tr!("Answer"),
    }
}

/// The end of a long input, where the next character is typed.
fn end_of(text: &str) -> String {
    const VISIBLE_CHARS: usize = 40;
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(VISIBLE_CHARS)).collect()
}
