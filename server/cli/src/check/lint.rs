//! `check --lint`: the remarks on a task and its grade. Runs nothing, so it needs no trust.

use loopkeeper_lint::{Grade, TaskLints};
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_text::tr;
use loopkeeper_view::editor::{self, Severity};
use serde::Serialize;

use super::Args;
use super::report::{self, AnnotationLevel, CheckReportFormat, DocumentPositions, ReportItem};
use crate::exit::Exit;
use crate::failure::ExitResult;
use crate::out::Ui;

/// The output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LintReport<'a> {
    task: &'a str,
    grade: &'a Grade,
    remarks: &'a [ReportItem],
}

pub(super) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let work = ResolvedTask::find(args.task.path.as_deref(), &[])?;
    let items = remarks(&work);
    let TaskLints { grade, .. } = TaskLints::of(&work.task, &work.documents);
    match args.format() {
        CheckReportFormat::Text => {
            out.write(&report::text(&items));
            out.line(tr!("{title}: {sentence}", title = work.title(), sentence = grade.sentence()));
        }
        CheckReportFormat::Json => out.json(&LintReport { task: &work.id.0, grade: &grade, remarks: &items }),
        CheckReportFormat::Github => out.write(&report::github(&items)),
        CheckReportFormat::Sarif => out.json(&report::sarif(&items)),
        CheckReportFormat::Junit => out.write(&report::junit(&work.title(), &items)),
    }
    Ok(exit(&items))
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

/// What an editor shows of the task before anything ran.
fn remarks(work: &ResolvedTask) -> Vec<ReportItem> {
    let places = DocumentPositions::new(&work.root, &work.documents);
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
    editor::remarks(&work.task, &work.documents).into_iter().map(item).collect()
}
