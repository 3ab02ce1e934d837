//! `check --lint`: prints the remarks on a task and its grade. Runs nothing, so it needs no trust.

use std::path::Path;

use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_lint::{Grade, TaskLints};
use loopkeeper_operations::leftovers::leftovers;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_task::TaskDocument;
use loopkeeper_task::queue::is_queue;
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::editor::{self, DiagnosticCode, Severity};
use serde::Serialize;

use super::Args;
use super::report::{self, AnnotationLevel, CheckReportFormat, DocumentPositions, ReportItem};
use crate::exit::Exit;
use crate::failure::ExitResult;
use crate::out::Ui;
use crate::queue_document::QueueDocument;

/// The output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LintReport<'a> {
    task: &'a str,
    /// Of a task; a queue has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<&'a Grade>,
    remarks: &'a [ReportItem],
}

pub(super) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    if let Some(path) = args.task.path.as_deref().filter(|it| is_queue(it)) {
        return lint_queue(path, args.format(), out);
    }
    let work = ResolvedTask::find(args.task.path.as_deref(), &[])?;
    let places = DocumentPositions::new(&work.root, &work.documents);
    let mut items = report_items(&places, editor::remarks(&work.task, &work.documents));
    items.extend(leftover_items(&work.root, &work.id.0));
    let TaskLints { grade, .. } = TaskLints::of(&work.task, &work.documents);
    let summary = tr!("{title}: {sentence}", title = work.title(), sentence = grade.sentence());
    let report = LintReport { task: &work.id.0, grade: Some(&grade), remarks: &items };
    show(args.format(), &report, (&work.title(), &summary), out);
    Ok(exit(&items))
}

/// The faults of a list of tasks.
fn lint_queue(path: &str, format: CheckReportFormat, out: &mut Ui) -> ExitResult {
    let QueueDocument { text, queue, faults, .. } = QueueDocument::read(path)?;
    let count = queue.entries.len();
    let documents = [TaskDocument { path: path.to_owned(), text }];
    let items = report_items(&DocumentPositions::new(Path::new(""), &documents), faults);
    let shown = sanitize::line(path);
    let summary = tr!("{shown}: tasks in this queue: {count}", shown, count);
    let report = LintReport { task: path, grade: None, remarks: &items };
    show(format, &report, (&shown, &summary), out);
    Ok(exit(&items))
}

fn show(format: CheckReportFormat, report: &LintReport<'_>, (title, summary): (&str, &str), out: &mut Ui) {
    let items = report.remarks;
    match format {
        CheckReportFormat::Text => {
            out.write(&report::text(items));
            out.line(summary);
        }
        CheckReportFormat::Json => out.json(report),
        CheckReportFormat::Github => out.write(&report::github(items)),
        CheckReportFormat::Sarif => out.json(&report::sarif(items)),
        CheckReportFormat::Junit => out.write(&report::junit(title, items)),
    }
}

fn leftover_items(root: &Path, task: &str) -> Vec<ReportItem> {
    let item = |it: DuplicateConfiguration| ReportItem {
        file: it.added.last().cloned().unwrap_or_default(),
        line: 1,
        column: 1,
        level: AnnotationLevel::Note,
        code: DiagnosticCode::Leftover.word().to_owned(),
        message: tr!("{names}. Remove the one that is not used.", names = it.names()),
        name: String::new(),
    };
    leftovers(root, task).into_iter().map(item).collect()
}

/// 0: no remark, 1: remarks, 2: errors that prevent a start.
fn exit(items: &[ReportItem]) -> Exit {
    if items.iter().any(|it| it.level == AnnotationLevel::Error) {
        Exit::Usage
    } else if items.is_empty() {
        Exit::Done
    } else {
        Exit::Ended
    }
}

/// The diagnostics that an editor shows before any run.
fn report_items(places: &DocumentPositions<'_>, found: Vec<editor::Diagnostic>) -> Vec<ReportItem> {
    let item = |it: editor::Diagnostic| {
        let (line, column) = places.position(&it.place);
        let level = match it.severity {
            Severity::Error => AnnotationLevel::Error,
            Severity::Warning => AnnotationLevel::Warning,
            Severity::Information | Severity::Hint => AnnotationLevel::Note,
        };
        ReportItem {
            file: places.shown(&it.place.file),
            line,
            column,
            level,
            code: it.code.word().to_owned(),
            message: it.message,
            name: String::new(),
        }
    };
    found.into_iter().map(item).collect()
}
