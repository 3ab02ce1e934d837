//! Selects the remarks on a task that a start shows: weaknesses of its criteria that make *verified* worth less, and
//! reasons why a loop may be the wrong tool. `check --lint` and the editors show all remarks.

use loopkeeper_lint::{self as lint, LintCode};
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::{sanitize, tr, words};

use super::resolved_task::{ResolvedTask, TaskKind};

const MAX_SHOWN: usize = 3;

/// Sentences for warnings, at most four.
pub fn before_start(work: &ResolvedTask) -> Vec<String> {
    if work.kind == TaskKind::Typed {
        return Vec::new();
    }
    let lints = lint::lints(&work.task, &work.documents);
    let serious: Vec<String> = lints
        .iter()
        .filter(|it| matches!(it.code, LintCode::Weak | LintCode::Contradictory | LintCode::Unsafe))
        .filter_map(|it| {
            let text = work.text_of(&it.place.file)?;
            let line = LineIndex::of(text).line(it.place.range.start) + 1;
            let (file, fact) = (sanitize::line(&it.place.file), sanitize::line(&it.fact));
            Some(format!("{file}:{line}: {}: {fact}", it.code.word()))
        })
        .collect();
    let rest = serious.len().saturating_sub(MAX_SHOWN);
    let mut all: Vec<String> = serious.into_iter().take(MAX_SHOWN).collect();
    if rest > 0 {
        let more = words::counted(rest as u64, "more remark");
        all.push(tr!("{more}: `loopkeeper check --lint` shows all", more));
    }
    let reason = lint::unsuitable(&work.task).filter(|it| *it != lint::Unsuitability::NothingVerifiable);
    all.extend(reason.map(|it| {
        let (fact, remedy) = it.sentences();
        tr!("a loop may be the wrong tool: {fact}. {remedy}", fact, remedy)
    }));
    all
}
