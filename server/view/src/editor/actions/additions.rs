//! Edits that add a criterion for a command that the project declares and the task does not have yet.

use std::fmt::Write as _;

use super::{EditorAction, QUICKFIX, QuickFix, TextEdit};
use crate::editor::task_predicates::is_markdown;
use crate::editor::{DeclaredCommand, DiagnosticCode, TaskView};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_lint::LintCode;
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_task::proposal::{colon_before_check, criterion_in_language_of};
use loopkeeper_task::{Finding, FindingCode, TaskDocument, front_matter_end, parse_inline_task, parse_task};
use loopkeeper_text::language::in_language_of;
use loopkeeper_text::{DocumentRange, sanitize, tr, tr_later};

/// Further commands are unlikely to concern one task.
const MAX_OFFERED: usize = 3;
const TITLE_CHARS: usize = 100;

/// Where a criterion is added, and the diagnostic that this fixes.
pub(super) struct CriterionAddition<'a> {
    document: &'a TaskDocument,
    /// Offset of the insertion.
    at: usize,
    /// The text before that of the criterion.
    lead: String,
    /// The text after it.
    end: &'static str,
    fixes: Option<(DocumentRange, DiagnosticCode)>,
}

/// The additions at the places that `here` selects: after a criterion that no check decides, below a section without
/// items, and for the heading at the end of the criteria.
pub(super) fn additions(
    view: &TaskView<'_>,
    declared: &[DeclaredCommand],
    document: &TaskDocument,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Vec<EditorAction> {
    let offered: Vec<&DeclaredCommand> =
        declared.iter().filter(|it| it.is_writable() && !has_command(view, &it.command)).collect();
    let Some(first) = offered.first().filter(|_| is_markdown(document)) else { return Vec::new() };
    let Some(place) = addition(view, document, here).filter(|it| it.is_read(view, first)) else {
        return Vec::new();
    };
    offered.iter().take(MAX_OFFERED).map(|it| place.action(view, it)).collect()
}

/// The action that writes all criteria of a task that has none.
pub(super) fn whole_list(
    view: &TaskView<'_>,
    proposed: &[String],
    document: &TaskDocument,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Option<EditorAction> {
    let lacks_criteria = |it: &Finding| it.code == FindingCode::NoCriteria && here(&it.place);
    let is_due = is_markdown(document) && view.task.criteria.is_empty() && !proposed.is_empty();
    view.task.findings.iter().find(|it| is_due && lacks_criteria(it))?;
    let place = addition(view, document, here).filter(|it| it.reads(view, proposed))?;
    let name = |it: &String| {
        parse_inline_task("", std::slice::from_ref(it)).criteria.first().map(|it| it.name.clone())
    };
    let names: Vec<String> = proposed.iter().filter_map(name).collect();
    let title = tr!("Write criteria for this task: {names}", names = names.join(tr!(", ")));
    Some(EditorAction {
        kind: QUICKFIX,
        title: sanitize::line_within(&title, TITLE_CHARS),
        fix: QuickFix::Edits(vec![place.edit(proposed)]),
        fixes: place.fixes.clone(),
        preferred: true,
    })
}

pub(super) fn has_command(view: &TaskView<'_>, command: &str) -> bool {
    let runs =
        |it: &Criterion| matches!(&it.check, Some(Check::Command { command: own, .. }) if own == command);
    view.task.criteria.iter().any(runs)
}

fn addition<'a>(
    view: &TaskView<'_>,
    document: &'a TaskDocument,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Option<CriterionAddition<'a>> {
    let is_empty = |it: &&Finding| it.code == FindingCode::NoCriteria && it.fix.is_none() && here(&it.place);
    if let Some(finding) = view.task.findings.iter().find(is_empty) {
        let fixes = Some((finding.place.clone(), DiagnosticCode::NoCriteria));
        let below = CriterionAddition::below(document, finding.place.range.end, fixes.clone());
        // A task without any section has the finding at its first line.
        let is_section = below.is_read(view, &DeclaredCommand::placeholder());
        return Some(if is_section { below } else { CriterionAddition::in_new_section(document, fixes) });
    }
    if let Some((criterion, code)) = find_undecided(view, here) {
        return CriterionAddition::after(document, criterion, Some((criterion.place.clone(), code)));
    }
    view.heading().filter(here)?;
    Some(at_heading(view, document))
}

/// The place for the heading: after the last criterion, or a new section.
pub(super) fn at_heading<'a>(view: &TaskView<'_>, document: &'a TaskDocument) -> CriterionAddition<'a> {
    let last = view.task.criteria.iter().filter(|it| it.place.file == document.path);
    let last = last.max_by_key(|it| it.place.range.start);
    let after = last.and_then(|it| CriterionAddition::after(document, it, None));
    after
        .filter(|it| it.is_read(view, &DeclaredCommand::placeholder()))
        .unwrap_or_else(|| CriterionAddition::in_new_section(document, None))
}

/// The first criterion at the place that no check decides, with its diagnostic.
fn find_undecided<'a>(
    view: &TaskView<'a>,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Option<(&'a Criterion, DiagnosticCode)> {
    let mut criteria = view.task.criteria.iter().enumerate();
    let (index, criterion) = criteria.find(|(_, it)| it.check.is_none() && here(&it.place))?;
    let lints = &view.task_lints().lints;
    let is_vague = lints.iter().any(|it| it.criterion == index && it.code == LintCode::Vague);
    Some((
        criterion,
        if is_vague { DiagnosticCode::Lint(LintCode::Vague) } else { DiagnosticCode::Unverified },
    ))
}

impl<'a> CriterionAddition<'a> {
    /// A list directly below a heading or a paragraph that ends at `end`.
    fn below(document: &'a TaskDocument, end: usize, fixes: Option<(DocumentRange, DiagnosticCode)>) -> Self {
        let at = line_end(&document.text, end);
        Self { document, at, lead: "\n\n- ".to_owned(), end: "", fixes }
    }

    /// An item after that of `criterion`, with the same bullet. `None`: it is not in a list.
    fn after(
        document: &'a TaskDocument,
        criterion: &Criterion,
        fixes: Option<(DocumentRange, DiagnosticCode)>,
    ) -> Option<Self> {
        let text = document.text.as_str();
        let range = (criterion.place.file == document.path).then_some(&criterion.place.range)?;
        // In YAML the backticks would need quotes.
        if range.start < front_matter_end(text) {
            return None;
        }
        let start = text.get(..range.start)?.rfind('\n').map_or(0, |it| it + 1);
        let line = text.get(start..)?.lines().next()?;
        let lead = bullet(line)?;
        let indent = lead.len() - lead.trim_start().len();
        let mut at = line_end(text, range.end);
        // Lines that are indented deeper belong to the item.
        while let Some(start) = next_line(text, at) {
            let next = text.get(start..)?.lines().next().unwrap_or_default();
            let is_deeper = !next.trim().is_empty() && next.len() - next.trim_start().len() > indent;
            if !is_deeper {
                break;
            }
            at = line_end(text, start);
        }
        Some(Self { document, at, lead: format!("\n{lead}"), end: "", fixes })
    }

    fn in_new_section(document: &'a TaskDocument, fixes: Option<(DocumentRange, DiagnosticCode)>) -> Self {
        let gap = if document.text.ends_with('\n') { "\n" } else { "\n\n" };
        let heading = in_language_of(&document.text, tr_later!("Done when"));
        let lead = format!("{gap}## {heading}\n\n- ");
        Self { document, at: document.text.len(), lead, end: "\n", fixes }
    }

    /// Inserts these criteria, in their order; each is the text of an item.
    pub(super) fn edit(&self, criteria: &[String]) -> TextEdit {
        let item = format!("\n{}", self.lead.rsplit('\n').next().unwrap_or_default());
        let mut text = String::new();
        for (nth, it) in criteria.iter().enumerate() {
            let _ = write!(text, "{}{it}", if nth == 0 { &self.lead } else { &item });
        }
        text.push_str(self.end);
        let text = if self.document.text.contains("\r\n") { text.replace('\n', "\r\n") } else { text };
        TextEdit { place: DocumentRange { file: self.document.path.clone(), range: self.at..self.at }, text }
    }

    /// Whether the task has the criterion after the edit.
    fn is_read(&self, view: &TaskView<'_>, declared: &DeclaredCommand) -> bool {
        self.reads(view, &[item_of(self.document, declared)])
    }

    /// Whether the task has these criteria after the edit, each with its check.
    fn reads(&self, view: &TaskView<'_>, criteria: &[String]) -> bool {
        let mut documents = view.documents.to_vec();
        let Some(mine) = documents.iter_mut().find(|it| it.path == self.document.path) else { return false };
        let edit = self.edit(criteria);
        if !mine.text.is_char_boundary(edit.place.range.start) {
            return false;
        }
        mine.text.insert_str(edit.place.range.start, &edit.text);
        let (task, added) = (parse_task(&documents), parse_inline_task("", criteria).criteria);
        task.criteria.len() == view.task.criteria.len() + criteria.len()
            && added.iter().all(|it| task.criteria.iter().any(|own| own.check == it.check))
    }

    fn action(&self, view: &TaskView<'_>, declared: &DeclaredCommand) -> EditorAction {
        let command = &declared.command;
        let title = match last_result(view, declared).map(result_text) {
            Some(result) => tr!("Add criterion: `$ {command}` ({result})", command, result),
            None => tr!("Add criterion: `$ {command}`", command),
        };
        EditorAction {
            kind: QUICKFIX,
            title: sanitize::line_within(&title, TITLE_CHARS),
            fix: QuickFix::Edits(vec![self.edit(&[item_of(self.document, declared)])]),
            fixes: self.fixes.clone(),
            preferred: false,
        }
    }
}

/// The text of an item for a command, in the language of the document.
pub(super) fn item_of(document: &TaskDocument, declared: &DeclaredCommand) -> String {
    let criterion = criterion_in_language_of(&document.text, &declared.criterion);
    let colon = colon_before_check(&document.text, &criterion);
    format!("{criterion}{colon}`$ {}`", declared.command)
}

impl DeclaredCommand {
    /// A command for edits of which only the place matters.
    fn placeholder() -> Self {
        Self { command: "true".to_owned(), file: String::new(), criterion: "It holds".to_owned() }
    }
}

/// The latest result of the command on the current tree, where its commands may run at all.
fn last_result<'a>(view: &TaskView<'a>, declared: &DeclaredCommand) -> Option<&'a CheckResult> {
    if !view.trust.editor || view.trust.unknown > 0 {
        return None;
    }
    let read = parse_inline_task("", &[format!("`$ {}`", declared.command)]);
    let latest = view.latest_result(&read.criteria.first()?.id)?;
    (!latest.stale).then_some(latest.result)
}

/// The status of a result, or its fact if it failed.
fn result_text(result: &CheckResult) -> &str {
    if result.status == Status::Pass || result.fact.is_empty() { result.status.word() } else { &result.fact }
}

/// The offset of the end of the line at `at`, before its line break.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let end = at + rest.find('\n').unwrap_or(rest.len());
    end - usize::from(text.get(..end).is_some_and(|it| it.ends_with('\r')))
}

/// The offset after the line break at `at`.
fn next_line(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let after = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    Some(text.len() - after.len())
}

/// The beginning of the next item of a list: indentation, bullet or number, and an open box where this one has a box.
fn bullet(line: &str) -> Option<String> {
    let indent = line.get(..line.len() - line.trim_start().len())?;
    let rest = line.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let (marker, behind) = if digits > 0 {
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        let sign = rest.get(digits..)?.chars().next().filter(|it| ['.', ')'].contains(it))?;
        (format!("{}{sign}", number.checked_add(1)?), rest.get(digits + 1..)?)
    } else {
        let sign = rest.chars().next().filter(|it| ['-', '*', '+'].contains(it))?;
        (sign.to_string(), rest.get(1..)?)
    };
    let content = behind.trim_start();
    let gap = behind.get(..behind.len() - content.len()).filter(|it| !it.is_empty())?;
    let has_box = ["[ ] ", "[x] ", "[X] "].iter().any(|it| content.starts_with(it));
    Some(format!("{indent}{marker}{gap}{}", if has_box { "[ ] " } else { "" }))
}

#[cfg(test)]
mod tests;
