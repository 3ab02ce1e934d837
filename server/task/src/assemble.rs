//! Builds a task from its documents: reads each by its kind, then assigns ids across all of them.

#[cfg(test)]
mod tests;

use std::path::Path;

use super::embedded::{self, EmbeddedPrompt};
use super::grammar::ItemMode;
use super::ids::IdAllocator;
use super::item::{ByteOrigin as Bytes, InlineContent};
use super::kind::{DocumentKind, kind_of};
use super::markdown::{self, DocumentRole};
use super::outline::{CriterionOrigin, MAY_CHANGE, TaskOutline};
use super::prompt_parts::{self, PromptPart};
use super::{
    Finding, FindingCode, Task, TaskDocument, front_matter, gates, placeholders, prd, requirements,
    task_lines, task_list, template,
};
use crate::criterion::CriterionId;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;

/// Reads a task: the first document is the prompt, the others are its plans. A plan in first place serves as both
/// prompt and plan.
pub fn parse_task(documents: &[TaskDocument]) -> Task {
    let mut task = Task::default();
    let mut ids = TaskIds::default();
    let optional = optional_sections(documents);
    let embedded = documents.first().and_then(|it| EmbeddedPrompt::of(&it.path, &it.text));
    for (index, document) in documents.iter().enumerate() {
        if index > 0 && is_empty_plan(document) {
            continue;
        }
        let prompt = embedded.as_ref().filter(|_| index == 0);
        let outline = prompt
            .map_or_else(|| parse_document(document, optional.as_deref()), |it| parse_embedded(it, document));
        if index == 0 {
            task.title.clone_from(&outline.title);
            task.prompt.clone_from(prompt.map_or(&document.text, |it| &it.text));
        }
        ids.merge(&mut task, outline);
        if prompt.is_some() {
            ids.merge(&mut task, parse_besides_prompt(document));
        }
    }
    let first = documents.first().map_or("", |document| document.path.as_str());
    let parts = PromptPart::all(documents);
    for mut outline in [report_placeholders(&task, first, &parts), report_emptiness(&task, first)] {
        if let Some(embedded) = &embedded {
            embedded.relocate(&mut outline);
        }
        task.findings.append(&mut outline.findings);
    }
    if let Some(prompt) = prompt_parts::expand(first, &task.prompt, &parts) {
        task.prompt = prompt;
    }
    task
}

/// File names in the positions of a task without a file: the arguments its text came from.
const PROMPT_ARGUMENT: &str = "--prompt";
const CRITERION_ARGUMENT: &str = "--criterion";
pub const CHECK_ARGUMENT: &str = "--check";

/// Reads a task from arguments: a prompt, which may contain criteria as a document does, and separate criteria.
pub fn parse_inline_task(prompt: &str, criteria: &[String]) -> Task {
    let mut task = Task { prompt: prompt.to_owned(), ..Task::default() };
    let mut ids = TaskIds::default();
    let mut outline = markdown::parse_markdown(PROMPT_ARGUMENT, prompt, DocumentRole::Prompt);
    note_unreadable(&mut outline, prompt);
    task.title.clone_from(&outline.title);
    ids.merge(&mut task, outline);
    for line in criteria {
        let mut outline = TaskOutline::new(CRITERION_ARGUMENT);
        let text = InlineContent::of_plain(line, &Bytes::At(0));
        if line.trim().is_empty() {
            outline.add_finding(
                FindingCode::BadValue,
                tr!("criterion"),
                tr!("empty. Write a line that must hold"),
                0..line.len(),
            );
        } else {
            outline.add_criterion(&text, ItemMode::Criterion, CriterionOrigin::default());
        }
        ids.merge(&mut task, outline);
    }
    let reports =
        [report_placeholders(&task, PROMPT_ARGUMENT, &[]), report_emptiness(&task, PROMPT_ARGUMENT)];
    for mut outline in reports {
        task.findings.append(&mut outline.findings);
    }
    task
}

/// Adds checks given verbatim, without backticks. Those that the task already has are not added again.
pub fn add_checks(task: &mut Task, checks: &[String]) {
    let nothing_to_check = report_no_criteria(CHECK_ARGUMENT, 0).findings;
    for text in checks {
        let mut outline = TaskOutline::new(CHECK_ARGUMENT);
        if text.trim().is_empty() {
            let fact = tr!("empty, so nothing is checked. Write one");
            outline.add_finding(FindingCode::BadCheck, tr!("command"), fact, 0..text.len());
        } else {
            outline.add_criterion(
                &InlineContent::of_code(text),
                ItemMode::Validation,
                CriterionOrigin::default(),
            );
        }
        for draft in outline.criteria {
            match task.criteria.iter_mut().find(|it| it.id == draft.criterion.id) {
                // It was asked for, even if the document calls it optional.
                Some(known) => known.required |= draft.criterion.required,
                None => task.criteria.push(draft.criterion),
            }
        }
        task.findings.retain(|it| nothing_to_check.iter().all(|empty| empty.message != it.message));
        task.findings.append(&mut outline.findings);
    }
}

/// The optional sections that the `.ralphrc` of the task names.
fn optional_sections(documents: &[TaskDocument]) -> Option<Vec<String>> {
    let of_ralphrc = documents.iter().filter(|it| kind_of(&it.path) == Some(DocumentKind::Ralphrc));
    of_ralphrc.rev().find_map(|it| gates::optional_sections(&it.text))
}

fn parse_document(document: &TaskDocument, optional: Option<&[String]>) -> TaskOutline {
    let TaskDocument { path, text } = document;
    match kind_of(path) {
        Some(DocumentKind::YamlTaskList | DocumentKind::YamlTaskTree) => task_list::parse_yaml(path, text),
        Some(DocumentKind::RuntimeTasks | DocumentKind::BeadsIssues) => task_lines::parse_lines(path, text),
        _ if is_story_file(path) => prd::parse_prd(path, text),
        Some(kind) if kind.is_gates() || kind.is_embedded() => gates::parse_gates(kind, path, text),
        kind => parse_markdown_document(kind, document, optional),
    }
}

fn parse_markdown_document(
    kind: Option<DocumentKind>,
    TaskDocument { path, text }: &TaskDocument,
    optional: Option<&[String]>,
) -> TaskOutline {
    let mut outline = match kind {
        Some(DocumentKind::RequirementsPlan | DocumentKind::RequirementsPart) => {
            requirements::parse_requirements(path, text)
        }
        None if requirements::has_task_headings(text) => markdown::parse_plan(path, text, optional),
        Some(kind) if kind.is_plan() => markdown::parse_plan(path, text, optional),
        _ => markdown::parse_markdown(path, text, DocumentRole::Prompt),
    };
    front_matter::parse_front_matter(text, &mut outline);
    let is_execution_plan = match kind {
        Some(kind) => kind == DocumentKind::ExecutionPlan,
        // Where the tool's configuration names another folder for them.
        None => requirements::has_task_headings(text),
    };
    if is_execution_plan {
        requirements::skip_examples(text, &mut outline);
        requirements::skip_outside_tasks(text, &mut outline);
    }
    note_unreadable(&mut outline, text);
    if let Some(range) = template::find_unedited_line(text) {
        let fact = tr!("still the template's text. Write what should be done");
        outline.add_finding(FindingCode::Template, tr!("task"), fact, range);
    }
    outline
}

/// Parses the prompt in a file of another tool.
fn parse_embedded(prompt: &EmbeddedPrompt, document: &TaskDocument) -> TaskOutline {
    let mut outline = markdown::parse_markdown(&document.path, &prompt.text, DocumentRole::Prompt);
    note_unreadable(&mut outline, &prompt.text);
    prompt.relocate(&mut outline);
    outline
}

/// Parses what such a file contains besides its prompt.
fn parse_besides_prompt(TaskDocument { path, text }: &TaskDocument) -> TaskOutline {
    match kind_of(path) {
        Some(DocumentKind::LoopState) => {
            let mut outline = TaskOutline::new(path);
            embedded::parse_loop_state(text, &mut outline);
            outline
        }
        Some(kind) => gates::parse_gates(kind, path, text),
        None => TaskOutline::new(path),
    }
}

/// A plan beside a prompt starts empty: other tools create the file, and the agent fills it.
fn is_empty_plan(document: &TaskDocument) -> bool {
    let is_markdown = Path::new(&document.path).extension().is_some_and(|it| it == "md");
    is_markdown && kind_of(&document.path).is_some_and(DocumentKind::is_plan) && is_blank(&document.text)
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Recognises other file names too, which only `[tasks] files` can introduce.
pub fn is_story_file(path: &str) -> bool {
    match kind_of(path) {
        Some(kind) => kind.is_story_file(),
        None => Path::new(path).extension().is_some_and(|it| it == "json"),
    }
}

/// A Markdown document is never rejected, so content that cannot be intended is reported here.
fn note_unreadable(outline: &mut TaskOutline, text: &str) {
    if is_blank(text) {
        outline.add_finding(
            FindingCode::Syntax,
            tr!("document"),
            tr!("empty. Describe what should be done"),
            0..text.len(),
        );
    } else if let Some(at) = text.find('\0') {
        outline.add_finding(
            FindingCode::Syntax,
            tr!("document"),
            tr!("a NUL byte, so this is not a text file"),
            at..at + 1,
        );
    }
}

/// Reports placeholders that other tools fill in and loopkeeper does not, so that no agent receives the braces.
fn report_placeholders(task: &Task, file: &str, parts: &[PromptPart]) -> TaskOutline {
    let mut outline = TaskOutline::new(file);
    if is_story_file(file) {
        return outline;
    }
    for placeholder in placeholders::find_placeholders(&task.prompt) {
        let is_part = parts.iter().any(|it| it.is_named(placeholder.name));
        if !is_part && !placeholders::is_filled(placeholder.name, task) {
            let shown = shortened(placeholder.name, 30);
            let fact = tr!("`{{{{{shown}}}}}` is never replaced. Write its value", shown);
            outline.add_finding(FindingCode::Template, tr!("task"), &fact, placeholder.range);
        }
    }
    outline
}

/// A task without checks is possible, but never by accident.
fn report_emptiness(task: &Task, file: &str) -> TaskOutline {
    let is_remark = |it: &Finding| it.code != FindingCode::UnsupportedKeys;
    if !task.criteria.is_empty() || !task.plan.is_empty() || task.findings.iter().any(is_remark) {
        return TaskOutline::new(file);
    }
    let first_line = task.prompt.lines().next().map_or(0, str::len);
    if kind_of(file).is_some_and(DocumentKind::is_story_file) {
        let mut outline = TaskOutline::new(file);
        // Do not pay an agent to read an empty list.
        let (file, list) = match kind_of(file) {
            kind @ Some(DocumentKind::Prd | DocumentKind::AgentStories | DocumentKind::FeatureList) => {
                (translate(prd::STORY_FILE), prd::list_name(kind))
            }
            _ => (tr!("task list"), "tasks"),
        };
        let fact = tr!("`{list}` is empty, so there is nothing to do. Add one", list);
        outline.add_finding(FindingCode::Syntax, file, &fact, 0..first_line);
        outline
    } else {
        report_no_criteria(file, first_line)
    }
}

fn report_no_criteria(file: &str, first_line: usize) -> TaskOutline {
    let mut outline = TaskOutline::new(file);
    let fact = tr!("no criteria, so nothing is checked. Add a list under \"Done when\"");
    outline.add_finding(FindingCode::NoCriteria, tr!("task"), fact, 0..first_line);
    outline
}

/// Ids are unique over all documents of a task, in document order.
#[derive(Default)]
struct TaskIds {
    criteria: IdAllocator,
    plan: IdAllocator,
}

impl TaskIds {
    fn merge(&mut self, task: &mut Task, outline: TaskOutline) {
        let first_item = task.plan.len();
        self.plan.reserve(outline.plan.len());
        self.criteria.reserve(outline.criteria.len());
        task.criteria.reserve(outline.criteria.len());
        for mut item in outline.plan {
            item.id = self.plan.allocate(&item.id);
            task.plan.push(item);
        }
        for draft in outline.criteria {
            let mut criterion = draft.criterion;
            criterion.id = CriterionId(self.criteria.allocate(&criterion.id.0));
            let item = draft.plan.and_then(|index| task.plan.get(first_item + index));
            criterion.plan_item = item.map(|item| item.id.clone());
            task.criteria.push(criterion);
        }
        task.context.extend(outline.context);
        for setting in outline.settings {
            match task.settings.iter_mut().find(|it| it.key == MAY_CHANGE && setting.key == MAY_CHANGE) {
                Some(known) => known.value = format!("{} {}", known.value, setting.value),
                None => task.settings.push(setting),
            }
        }
        task.findings.extend(outline.findings);
        task.promise = task.promise.take().or(outline.promise);
        task.branch = task.branch.take().or(outline.branch);
    }
}
