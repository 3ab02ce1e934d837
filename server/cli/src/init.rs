//! `init`: writes a first task file in the current folder, with the checks that the package there already has. It reads
//! manifests and writes one new file, and overwrites nothing. The checks run only where the user agrees to that.

mod template;
mod trial;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use loopkeeper_task::work_product::WorkProduct;
use loopkeeper_task::{DocumentKind, TaskId, kind_of};
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr};
use thiserror::Error;

use self::template::TemplateLocation;
use self::trial::{CheckTrial, TriedChecks, try_checks};
use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::trust::TrustConsent;
use loopkeeper_operations::current_tree::current_folder;
use loopkeeper_operations::failure::FailureKind;
use loopkeeper_operations::foreign;
use loopkeeper_operations::new_task::ProposedTask;
use loopkeeper_operations::project_checks::{
    FoundCheck, InstalledTools, ManifestError, MissingTool, ProposedChecks,
};
use loopkeeper_operations::resolved_task;
use loopkeeper_system::config_files::{self, root_of};
use loopkeeper_system::config_text;
use loopkeeper_system::task_files;
use loopkeeper_text::message::HintedError;

const FILE: &str = "PROMPT.md";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run each found command once, and leave out those that cannot run
    #[arg(long = "try")]
    pub(crate) tries: bool,
    /// Trust the found commands
    #[arg(long, requires = "tries")]
    pub(crate) trust: bool,
    /// Write a complete task for this sentence, with limits and criteria that checks decide, into a file of its own
    #[arg(long, value_name = "SENTENCE", conflicts_with = "tries")]
    pub(crate) task: Option<String>,
    /// What the task produces, which determines its checks; if absent, the words of the sentence decide
    #[arg(long, value_name = "KIND", requires = "task")]
    #[arg(value_parser = PossibleValuesParser::new(WorkProduct::ALL.map(WorkProduct::word)))]
    pub(crate) kind: Option<String>,
}

/// The subcommand: writes the file and prints the next steps.
pub(crate) fn command(args: &Args, out: &mut Ui) -> ExitResult {
    let folder = current_folder()?;
    if let Some(sentence) = &args.task {
        let product = args.kind.as_deref().and_then(WorkProduct::of_word);
        let product = product.unwrap_or_else(|| WorkProduct::of_sentence(sentence));
        return write_sentence(&folder, sentence, product, out);
    }
    let root = root_of(&folder)?;
    let mut draft =
        prepare(&root, &folder, &InstalledTools::of_environment()).map_err(|it| failure_of(&it))?;
    let place = (root.as_path(), draft.file.as_path());
    let tried = match args {
        Args { trust: true, .. } => Some(try_checks(place, &draft.checks, TrustConsent::Given)?),
        Args { tries: true, .. } => Some(try_checks(place, &draft.checks, TrustConsent::Asked)?),
        Args { .. } => trial::offer(place, &draft.checks),
    };
    if let Some(TriedChecks { checks, trials }) = tried {
        (draft.checks, draft.trials) = (checks, trials);
    }
    let report = draft.write(&root).map_err(|it| failure_of(&it))?;
    show(&report, out);
    Ok(Exit::Done)
}

/// Writes the task that one sentence describes.
fn write_sentence(folder: &Path, sentence: &str, product: WorkProduct, out: &mut Ui) -> ExitResult {
    let proposed = ProposedTask::of(folder, sentence, product)?;
    let file = proposed.write()?;
    out.line(tr!("Wrote {file}", file = sanitize::visible(&file.to_string_lossy())));
    out.write(proposed.document());
    show_lacks(proposed.checks(), out);
    let name = sanitize::visible(&file.file_name().unwrap_or_default().to_string_lossy());
    out.line(
        "\n".to_owned()
            + &tr!("Next: adjust its criteria to what you want, then `loopkeeper run {name}`.", name),
    );
    Ok(Exit::Done)
}

/// Names the checks that cannot run yet, and those that were left out for it.
fn show_lacks(checks: &ProposedChecks, out: &mut Ui) {
    let lacking = checks.found.iter().filter_map(|it| Some((&it.command, it.lack.as_ref()?)));
    for (index, (command, MissingTool { what, remedy })) in lacking.enumerate() {
        let start = if index == 0 { "\n" } else { "" };
        out.line(
            start.to_owned() + &tr!("`{command}` cannot run yet: {what}. {remedy}", command, what, remedy),
        );
    }
    show_left_out(checks, out);
}

fn show_left_out(checks: &ProposedChecks, out: &mut Ui) {
    for check in &checks.left_out {
        let (command, file) = (&check.command, &check.file);
        let left_out = match &check.lack {
            None => tr!("Left out: `{command}` ({file})", command, file),
            Some(lack) => tr!("Left out: `{command}` ({file}): {why}", command, file, why = lack.what),
        };
        out.line(format_args!("  {left_out}"));
    }
}

fn failure_of(error: &InitError) -> Failure {
    let kind = match error {
        InitError::Exists { .. } | InitError::PluginLoop { .. } => FailureKind::Usage,
        InitError::Manifest(_) | InitError::List { .. } | InitError::Write { .. } => FailureKind::Broken,
    };
    Failure::from_message(kind, error.to_message())
}

fn show(report: &InitReport, out: &mut Ui) {
    let file = sanitize::visible(&report.file.to_string_lossy());
    out.line(tr!("Wrote {file}", file));
    if report.trials.is_empty() {
        for check in &report.checks.found {
            out.line(
                "  ".to_owned()
                    + &tr!(
                        "{criterion}: `$ {command}` (found in {file})",
                        criterion = check.criterion(),
                        command = check.command,
                        file = check.file
                    ),
            );
            if let Some(MissingTool { what, remedy }) = &check.lack {
                out.line("    ".to_owned() + &tr!("Cannot run yet: {what}. {remedy}", what, remedy));
            }
        }
    } else {
        out.write(&trial::table(&report.trials));
    }
    show_left_out(&report.checks, out);
    if report.checks.found.is_empty() {
        out.line(tr!(
            "No checks were found: until you add one, only the agent's claim decides when the work is done."
        ));
    }
    for note in &report.notes {
        out.line(note);
    }
    out.line(tr!("Next: describe the work in {FILE}, then `{start}`.", FILE, start = report.start));
}

/// A task file that is not written yet.
struct InitDraft {
    file: PathBuf,
    place: TemplateLocation,
    checks: ProposedChecks,
    trials: Vec<CheckTrial>,
    /// The tasks of the root; none where it is the home folder, which is not searched.
    before: Vec<TaskId>,
    is_home: bool,
}

/// The result of `init`.
#[derive(Debug)]
pub(super) struct InitReport {
    /// The new task document.
    pub(crate) file: PathBuf,
    /// Its checks; if there are none, the user has to write the first.
    checks: ProposedChecks,
    /// Their results, where they were tried.
    trials: Vec<CheckTrial>,
    /// The consequences for other tasks of the root.
    notes: Vec<String>,
    /// The command that starts a loop on it from its folder.
    start: String,
}

#[derive(Debug, Error)]
pub(super) enum InitError {
    #[error("{}", tr!("a task document already exists: {files}", files = clauses::list(files)))]
    Exists { files: Vec<String> },
    #[error("{}", tr!("a loop of Claude Code's plugin runs here: {file}", file))]
    PluginLoop { file: String },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("{}", tr!("cannot list {path}: {source}", path = path.display(), source))]
    List { path: PathBuf, source: io::Error },
    #[error("{}", tr!("cannot write {path}: {source}", path = path.display(), source))]
    Write { path: PathBuf, source: io::Error },
}

impl HintedError for InitError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists { files } => match files.as_slice() {
                [only] => tr!("`loopkeeper run {only}` starts a loop on it.", only),
                _ => tr!("`loopkeeper run FILE` starts a loop on one of them.").to_owned(),
            },
            Self::PluginLoop { file } => tr!("`loopkeeper import {file}` converts it to a task.", file),
            Self::Manifest(error) => return error.hint(),
            Self::List { .. } | Self::Write { .. } => tr!("check the folder's permissions.").to_owned(),
        })
    }
}

/// Plans the files for `folder`, which is `root` or below it.
fn prepare(root: &Path, folder: &Path, tools: &InstalledTools) -> Result<InitDraft, InitError> {
    // A run takes this one, whatever other files exist.
    if let Some(named) = named_by_other_tool(root).filter(|it| root.join(it).starts_with(folder)) {
        return Err(InitError::Exists { files: vec![named] });
    }
    let existing = existing_tasks(folder)?;
    if !existing.is_empty() {
        let files = existing.iter().map(|it| sanitize::visible(it)).collect();
        return Err(InitError::Exists { files });
    }
    if let Some(found) = foreign::find_in(folder) {
        let file = found.path.strip_prefix(folder).unwrap_or(&found.path);
        return Err(InitError::PluginLoop { file: sanitize::visible(&file.to_string_lossy()) });
    }
    let is_home = tools.is_home(root);
    let before = if is_home { Vec::new() } else { tasks(root) };
    let taken = taken_over(&before, root, folder);
    if !taken.is_empty() {
        return Err(InitError::Exists { files: taken });
    }
    let checks = ProposedChecks::of(root, folder, tools)?;
    let place = if folder == root { TemplateLocation::Root } else { TemplateLocation::Below };
    Ok(InitDraft { file: folder.join(FILE), place, checks, trials: Vec::new(), before, is_home })
}

impl InitDraft {
    fn write(self, root: &Path) -> Result<InitReport, InitError> {
        let Self { file, place, checks, trials, before, is_home } = self;
        let comments = trials.iter().map(|it| (it.command.clone(), it.comment())).collect();
        write_new(&file, &template::task(&checks.found, &comments, place))?;
        let (notes, start) = if is_home {
            (Vec::new(), "loopkeeper run".to_owned())
        } else {
            consequences(&before, &tasks(root), root, &file)
        };
        Ok(InitReport { file, checks, trials, notes, start })
    }
}

/// Documents of other tools in this folder that are tasks as they are: a new task would take their place.
fn taken_over(tasks: &[TaskId], root: &Path, folder: &Path) -> Vec<String> {
    let is_task = |it: &&TaskId| {
        let path = root.join(&it.0);
        // Stories and boxes in files of these names become the plan of the new task, which is beside them.
        let is_joined = |kind| match kind {
            DocumentKind::FixPlan | DocumentKind::BoxPlan | DocumentKind::TodoPlan => true,
            DocumentKind::Prd => path.parent() == Some(folder) && !is_other_tool_file(root, &path),
            _ => false,
        };
        let is_named = |kind| matches!(kind, DocumentKind::Ralph | DocumentKind::TaskPrompt);
        let is_prompt = |kind: DocumentKind| kind.markers().is_some() || is_named(kind);
        let is_whole = kind_of(&it.0).is_some_and(|kind| {
            kind.is_embedded() || if kind.is_plan() { !is_joined(kind) } else { is_prompt(kind) }
        });
        (is_whole || task_files::is_in_plans_folder(root, &path)) && path.starts_with(folder)
    };
    tasks.iter().filter(is_task).map(|it| sanitize::visible(&it.0)).collect()
}

/// Whether the stories belong to a tool that works through them without a prompt document.
fn is_other_tool_file(root: &Path, stories: &Path) -> bool {
    let progress = stories.parent().map(|it| it.join("progress.txt"));
    let has_commands = || {
        let text = config_text::read_text(stories).ok().flatten();
        text.is_some_and(|it| it.contains("\"completionCriteria\""))
    };
    progress.is_some_and(|it| it.exists()) || root.join(".ralph-tui").exists() || has_commands()
}

/// The prompt document that the configuration of another tool names.
fn named_by_other_tool(root: &Path) -> Option<String> {
    let resolved = config_files::load(root, &[]).ok()?;
    let named = resolved_task::document_of_other_tool(&resolved, resolved.settings().ok()?)?;
    root.join(&named).exists().then(|| sanitize::visible(&named))
}

/// The tasks of the root, as a run would find them; empty if discovery fails. A home folder is not searched.
fn tasks(root: &Path) -> Vec<TaskId> {
    let resolved = config_files::load(root, &[]).ok();
    let settings = resolved.and_then(|it| it.settings().cloned().ok()).unwrap_or_default();
    let found = task_files::discover(root, &settings.task_exclude, &settings.task_files);
    found.unwrap_or_default().into_iter().map(|it| it.id).collect()
}

/// The effect of the new file on other tasks, and the command that starts it.
fn consequences(before: &[TaskId], after: &[TaskId], root: &Path, file: &Path) -> (Vec<String>, String) {
    let id = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    let folder = |id: &str| id.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let own = folder(&id);
    if !after.iter().any(|it| it.0 == id) {
        let note = tr!(
            "This folder is not searched for tasks (ignored, excluded or too deep): name {FILE} when you start it.",
            FILE
        );
        return (vec![note], format!("loopkeeper run {FILE}"));
    }
    let mut notes = Vec::new();
    for lost in before.iter().filter(|it| !after.contains(it)) {
        let shown = sanitize::visible(&lost.0);
        notes.push(if folder(&lost.0) == own {
            tr!("{shown} is the plan of this task now.", shown)
        } else {
            tr!("{shown} is no longer a separate task: plans count as tasks only where there is no task document. Name it to start it: `loopkeeper run {shown}`.", shown)
        });
    }
    // A run without a name uses the task of the nearest folder, which was another task for this folder until now.
    let above = before.iter().filter(|it| after.contains(it) && own.starts_with(&folder(&it.0)));
    if let Some(shadowed) = above.max_by_key(|it| folder(&it.0).len()) {
        let shown = sanitize::visible(&shadowed.0);
        notes.push(tr!("In this folder `loopkeeper run` now starts the new task; `loopkeeper run {shown}` starts the previous one.", shown));
    }
    (notes, "loopkeeper run".to_owned())
}

/// Task documents that a run in this folder would find next to the new one.
fn existing_tasks(folder: &Path) -> Result<Vec<String>, InitError> {
    let failed = |source| InitError::List { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        // A plan alone is not an obstacle: it becomes the plan of the new task.
        let is_task = |it: DocumentKind| !it.is_plan() && !it.is_embedded() && it.markers().is_none();
        if kind_of(&name).is_some_and(is_task) {
            files.push(name);
        }
    }
    files.sort();
    let deeper = [".ralph/PROMPT.md", "scripts/ralph/prompt.md"];
    files.extend(deeper.into_iter().filter(|it| folder.join(it).exists()).map(str::to_owned));
    Ok(files)
}

fn write_new(file: &Path, text: &str) -> Result<(), InitError> {
    let failed = |source: io::Error| match source.kind() {
        // The file was created in the meantime.
        ErrorKind::AlreadyExists => InitError::Exists { files: vec![FILE.to_owned()] },
        _ => InitError::Write { path: file.to_owned(), source },
    };
    let mut open = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
    open.write_all(text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests;
