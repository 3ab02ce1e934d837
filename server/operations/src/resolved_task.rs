//! Resolves command-line arguments to root, settings and task. Reads files, starts nothing; reports all errors at
//! once, each with its place.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::journal::{AgentPlan, LoopSpec};
use loopkeeper_core::settings::{
    OverrideSource, ResolvedSettings, SettingCode, SettingFinding, SettingOrigin, SettingOverride, Settings,
};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::{
    self as task, CHECK_ARGUMENT, Finding, FindingCode, Task, TaskDocument, TaskId, WrittenSetting,
};
use loopkeeper_text::digest::sha256;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::truncate::shortened;
use loopkeeper_text::{DocumentRange, sanitize, tr};
use loopkeeper_view::editor;

use super::current_tree::current_folder;
use super::failure::{Failure, FailureKind, FailureLocation};
use super::{foreign, import};
use loopkeeper_system::config_files;
use loopkeeper_system::task_files::{self, DiscoveredTask, LoadedTask};

/// Of the title of a task without a file.
const TITLE_CHARS: usize = 61;

/// A task with everything that its folder determines about it.
pub struct ResolvedTask {
    /// Real path.
    pub root: PathBuf,
    pub resolved: Arc<ResolvedSettings>,
    pub settings: Arc<Settings>,
    pub id: TaskId,
    /// Shared, as its texts are: a task may have ten thousand criteria.
    pub task: Arc<Task>,
    /// The texts that the task's positions refer to; empty if it was typed.
    pub documents: Arc<Vec<TaskDocument>>,
    pub kind: TaskKind,
    /// The program that was typed instead of an agent's name.
    pub program: Option<String>,
}

/// Origin of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    Documents,
    /// `--prompt`: trusted by being typed.
    Typed,
}

/// A task that was typed.
pub struct TypedTask<'a> {
    pub prompt: &'a str,
    pub criteria: &'a [String],
}

impl ResolvedTask {
    /// The task that `path` names, the only one, or the one of the nearest folder.
    pub fn find(path: Option<&str>, arguments: &[SettingOverride]) -> Result<Self, Failure> {
        let place = TaskLocation::of(path)?;
        let (resolved, settings) = configuration(&place.root, arguments)?;
        let found = choose(&place, &resolved, &settings)?;
        let loaded = task_files::load(&place.root, &found)?;
        Self::of(place.root, (resolved, settings), (found.id, loaded), arguments)
    }

    /// The task discovered at `root`, a real path.
    pub fn at(root: &Path, found: &DiscoveredTask) -> Result<Self, Failure> {
        Self::with_documents(root, found, task_files::load(root, found)?)
    }

    /// Like [`Self::at`], with documents that were already read.
    pub fn with_documents(root: &Path, found: &DiscoveredTask, loaded: LoadedTask) -> Result<Self, Failure> {
        Self::of(root.to_owned(), configuration(root, &[])?, (found.id.clone(), loaded), &[])
    }

    fn of(
        root: PathBuf,
        (resolved, settings): (Arc<ResolvedSettings>, Arc<Settings>),
        (id, loaded): (TaskId, LoadedTask),
        arguments: &[SettingOverride],
    ) -> Result<Self, Failure> {
        let LoadedTask { documents, mut task } = loaded;
        let written = written_settings(&documents, &task);
        let (resolved, settings) = if written.is_empty() {
            (resolved, settings)
        } else {
            // The last setting of a key wins.
            configuration(&root, &[&written, arguments].concat())?
        };
        let missing = task_files::missing_context(&root, &task);
        if !missing.is_empty() {
            Arc::make_mut(&mut task).findings.extend(missing);
        }
        Ok(Self {
            root,
            resolved,
            settings,
            id,
            task,
            documents,
            kind: TaskKind::Documents,
            program: program(arguments),
        })
    }

    /// A task without a file.
    pub fn typed(typed: &TypedTask<'_>, arguments: &[SettingOverride]) -> Result<Self, Failure> {
        if typed.prompt.trim().is_empty() {
            return Err(Failure::usage(tr!("the prompt is empty")).hint(tr!("Say what the agent should do.")));
        }
        let root = TaskLocation::of(None)?.root;
        let (resolved, settings) = configuration(&root, arguments)?;
        let hash = sha256(typed.prompt.as_bytes());
        Ok(Self {
            root,
            resolved,
            settings,
            id: TaskId(format!("prompt:{}", hash.get(..10).unwrap_or_default())),
            task: Arc::new(task::parse_inline_task(typed.prompt, typed.criteria)),
            documents: Arc::default(),
            kind: TaskKind::Typed,
            program: program(arguments),
        })
    }

    /// Adds checks that were typed as well.
    pub fn with_checks(mut self, checks: &[String]) -> Self {
        task::add_checks(Arc::make_mut(&mut self.task), checks);
        self
    }

    /// The criteria of the task that were typed.
    pub fn typed_criteria(&self) -> impl Iterator<Item = &Criterion> {
        self.task.criteria.iter().filter(|it| it.place.file == CHECK_ARGUMENT)
    }

    /// Refuses a task without any check.
    pub fn refuse_empty(&self) -> Result<(), Failure> {
        if !self.task.criteria.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(tr!("{id} has no criteria, so there is nothing to check", id = self.id.0))
            .hint(tr!("Add a list under \"Done when\", with a check in backticks in each line.")))
    }

    /// Refuses a task that cannot be started: it would run fewer checks than its author wrote, or is still empty.
    pub fn refuse_unready(&self) -> Result<(), Failure> {
        self.refuse_broken()?;
        let Some(finding) = self.task.findings.iter().find(|it| it.code == FindingCode::Template) else {
            return Ok(());
        };
        let DocumentRange { file, range } = &finding.place;
        let text = self.text_of(file).unwrap_or(&self.task.prompt);
        let described = text.get(range.clone()).unwrap_or_default();
        let (line, file) = (LineIndex::of(text).line(range.start) + 1, sanitize::line(file));
        let hint = if described.starts_with("{{") {
            tr!(
                "`{described}` is never replaced: write its value, then start again.",
                described = sanitize::line(described)
            )
        } else {
            tr!("Edit {file}: describe what should be done, then start again.", file)
        };
        Err(Failure::usage(tr!("{file} still contains the template's text, line {line}", file, line))
            .hint(hint))
    }

    /// Refuses a task that would run fewer checks than its author wrote.
    pub fn refuse_broken(&self) -> Result<(), Failure> {
        let blocking: Vec<_> = self.task.findings.iter().filter(|it| it.code.blocks_checks()).collect();
        let unread = blocking.iter().any(|it| it.code == FindingCode::Syntax);
        let described = self.format_findings(blocking.iter().copied()).into_iter();
        let described: Vec<String> = described.map(|it| it.trim_end_matches('.').to_owned()).collect();
        let failure = match described.as_slice() {
            [] => return Ok(()),
            [one] if unread => Failure::usage(one)
                .hint(tr!("Correct the file: a task starts only if all of it can be read.")),
            [one] => Failure::usage(one)
                .hint(tr!("Correct the line: a check that cannot run as written is never run.")),
            several => {
                let lines = join_lines(several.iter().cloned());
                Failure::usage(tr!("{id} has errors{lines}", id = self.id.0, lines))
                    .hint(tr!("Correct these lines: a check that cannot run as written is never run."))
            }
        };
        Err(Failure { locations: self.failure_locations(&blocking), ..failure })
    }

    fn failure_locations(&self, findings: &[&Finding]) -> Vec<FailureLocation> {
        let mut lines = self.lines();
        let spot = |finding: &&Finding| {
            Some(FailureLocation { file: finding.place.file.clone(), line: lines(&finding.place)? })
        };
        findings.iter().filter_map(spot).collect()
    }

    /// Maps a range to its line, counted from 1. Each text is scanned once.
    fn lines(&self) -> impl FnMut(&DocumentRange) -> Option<usize> {
        let mut indices: HashMap<String, Option<LineIndex>> = HashMap::new();
        move |place: &DocumentRange| {
            let of_file = || self.text_of(&place.file).map(LineIndex::of);
            let index = indices.entry(place.file.clone()).or_insert_with(of_file);
            index.as_ref().map(|it| it.line(place.range.start) + 1)
        }
    }

    /// Findings that do not prevent its checks from running, one line each.
    pub fn warnings(&self) -> Vec<String> {
        let is_warning = |it: &&Finding| !it.code.blocks_checks() && it.code != FindingCode::UnsupportedKeys;
        self.format_findings(self.task.findings.iter().filter(is_warning))
    }

    /// Settings of its documents and of files of other tools that have no counterpart here, one line for each file.
    pub fn unsupported_settings(&self) -> Vec<String> {
        let of_task = self.task.findings.iter().filter(|it| it.code == FindingCode::UnsupportedKeys);
        let of_settings = self.resolved.findings().iter().filter(|it| it.code == SettingCode::Ignored);
        let of_settings = of_settings.map(|it| format!("{}: {}", it.origin, it.message));
        self.format_findings(of_task).into_iter().chain(of_settings).collect()
    }

    /// The limits that the user's `[max]` lowers, with the place of each.
    pub fn bounded_limits(&self) -> Vec<String> {
        let bounded = self.resolved.findings().iter().filter(|it| it.code == SettingCode::Bounded);
        bounded.map(|it| tr!("{fact} ({place})", fact = it.message, place = it.origin)).collect()
    }

    /// The initial spec of a loop on it: unattended and with every option off.
    pub fn spec(&self, agent: AgentPlan, judge: Option<AgentPlan>) -> LoopSpec {
        LoopSpec {
            loop_id: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            task: self.id.clone(),
            title: self.title(),
            root: self.root.to_string_lossy().into_owned(),
            inline_prompt: (self.kind == TaskKind::Typed).then(|| self.task.prompt.clone()),
            agent,
            fallbacks: Vec::new(),
            judge,
            settings: Settings::clone(&self.settings),
            branch: None,
            preset: None,
            promise: self.task.promise.clone().unwrap_or_else(|| self.settings.exit.promise.clone()),
            criteria: self.task.criteria.clone(),
            plan: self.task.plan.clone(),
            anyway: false,
            attended: false,
            unaccepted: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// The text of one of its documents.
    pub fn text_of(&self, file: &str) -> Option<&str> {
        self.documents.iter().find(|it| it.path == file).map(|it| it.text.as_str())
    }

    /// Its display title.
    pub fn title(&self) -> String {
        let title = sanitize::line(&self.task.title);
        // A typed task is recognised by its first line better than by a hash.
        let typed = || self.task.prompt.lines().map(sanitize::line).find(|it| !it.trim().is_empty());
        match self.kind {
            _ if !title.is_empty() => title,
            TaskKind::Typed => {
                typed().map_or_else(|| self.id.0.clone(), |it| shortened(it.trim(), TITLE_CHARS).into_owned())
            }
            TaskKind::Documents => sanitize::line(&self.id.0),
        }
    }

    /// One `PROMPT.md:7: message` for each finding.
    fn format_findings<'a>(&'a self, findings: impl Iterator<Item = &'a Finding>) -> Vec<String> {
        let mut lines = self.lines();
        let described = |finding: &Finding| {
            let line = lines(&finding.place).map_or_else(String::new, |it| format!(":{it}"));
            let file = sanitize::line(&finding.place.file);
            format!("{file}{line}: {}", sanitize::line(&finding.message))
        };
        findings.map(described).collect()
    }
}

/// Settings in the documents that are rejected, each with its location.
pub fn refused_settings(root: &Path, loaded: &LoadedTask) -> Vec<Finding> {
    // Called at every keystroke: no file is read for a task that sets nothing.
    if loaded.task.settings.is_empty() {
        return Vec::new();
    }
    let written = written_settings(&loaded.documents, &loaded.task);
    let Ok(resolved) = config_files::load(root, &written) else { return Vec::new() };
    let refused = |(setting, argument): (&WrittenSetting, &SettingOverride)| {
        let is_its = |it: &&SettingFinding| it.origin == SettingOrigin::Option(argument.option.clone());
        let finding = resolved.findings().iter().filter(|it| it.is_blocking()).find(is_its)?;
        Some(Finding {
            code: FindingCode::BadValue,
            message: editor::settings::message_of(finding),
            place: setting.place.clone(),
            fix: None,
        })
    };
    loaded.task.settings.iter().zip(&written).filter_map(refused).collect()
}

/// The settings in the documents, as overrides that name their line.
fn written_settings(documents: &[TaskDocument], task: &Task) -> Vec<SettingOverride> {
    let argument = |it: &WrittenSetting| {
        let DocumentRange { file, range } = &it.place;
        let text = documents.iter().find(|it| it.path == *file).map_or("", |it| it.text.as_str());
        let option = format!("{file}:{}", LineIndex::of(text).line(range.start) + 1);
        SettingOverride {
            option,
            key: it.key.to_owned(),
            value: it.value.clone(),
            source: OverrideSource::Task,
        }
    };
    task.settings.iter().map(argument).collect()
}

fn program(arguments: &[SettingOverride]) -> Option<String> {
    arguments.iter().find_map(SettingOverride::program).map(str::to_owned)
}

/// Appends each on a separate line.
fn join_lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|it| ["\n  ".to_owned(), it]).collect()
}

/// Resolved location of an argument.
struct TaskLocation {
    root: PathBuf,
    /// The named document, a real path.
    named: Option<PathBuf>,
    /// Without one: the folder where the search for the nearest task starts.
    from: PathBuf,
}

impl TaskLocation {
    fn of(path: Option<&str>) -> Result<Self, Failure> {
        let here = current_folder()?;
        let Some(path) = path else {
            return Ok(Self { root: config_files::root_of(&here)?, named: None, from: here });
        };
        let unknown = |error: std::io::Error| {
            let path = sanitize::line(path);
            let fact = match error.kind() {
                ErrorKind::NotFound => tr!("there is no task {path}", path),
                _ => tr!("there is no task {path}: {error}", path, error),
            };
            Failure::new(FailureKind::NoTask, fact)
                .hint(tr!("Name a task document, or leave it out where there is only one."))
        };
        let real = Path::new(path).canonicalize().or_else(|error| {
            // A task's id is a path from the root, wherever the current folder is.
            let root = config_files::root_of(&here)?;
            root.join(path).canonicalize().map_err(|_| error)
        });
        let real = real.map_err(unknown)?;
        if real.is_dir() {
            return Ok(Self { root: config_files::root_of(&real)?, named: None, from: real });
        }
        let folder = real.parent().unwrap_or(&real).to_owned();
        Ok(Self { root: config_files::root_of(&folder)?, named: Some(real), from: folder })
    }
}

fn configuration(
    root: &Path,
    arguments: &[SettingOverride],
) -> Result<(Arc<ResolvedSettings>, Arc<Settings>), Failure> {
    if root.to_str().is_none() {
        // The journal is JSON: it would record another name, perhaps that of another folder.
        return Err(Failure::usage(tr!("the path {root} is not UTF-8", root = root.display()))
            .hint(tr!("Rename that folder: a loop's journal cannot store its name.")));
    }
    let resolved = config_files::load(root, arguments)?;
    let settings = Arc::clone(resolved.settings()?);
    Ok((resolved, settings))
}

fn choose(
    place: &TaskLocation,
    resolved: &ResolvedSettings,
    settings: &Settings,
) -> Result<DiscoveredTask, Failure> {
    let TaskLocation { root, named, from } = place;
    let mut files = settings.task_files.clone();
    let relative = named.as_ref().and_then(|it| it.strip_prefix(root).ok());
    files.extend(relative.map(|it| it.to_string_lossy().into_owned()));
    let tasks = task_files::discover(root, &settings.task_exclude, &files)?;
    if let Some(named) = named {
        return tasks.into_iter().find(|it| it.path == *named).ok_or_else(|| {
            Failure::new(FailureKind::NoTask, tr!("{named} is not a task document", named = named.display()))
                .hint(tr!("Task documents are Markdown files."))
        });
    }
    // The other tool would take this one too.
    let theirs = document_of_other_tool(resolved, settings).filter(|_| from == root);
    if let Some(only) = theirs.and_then(|name| tasks.iter().find(|it| it.path == root.join(&name))) {
        return Ok(only.clone());
    }
    match nearest_tasks(&tasks, root, from).as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(no_task(root)),
        several => {
            let further = several.len().saturating_sub(MAX_LISTED);
            let names = several.iter().take(MAX_LISTED).map(|it| sanitize::line(&it.id.0));
            let list = join_lines(names.chain((further > 0).then(|| tr!("and {further} more", further))));
            let what = tr!("there are several tasks in {root}{list}", root = root.display(), list);
            Err(Failure::new(FailureKind::NoTask, what).hint(tr!("Name one of them.")))
        }
    }
}

/// The prompt document that the configuration of another tool names.
pub fn document_of_other_tool(resolved: &ResolvedSettings, settings: &Settings) -> Option<String> {
    let files = resolved.effective().into_iter().find(|it| it.key == "tasks.files")?;
    let SettingOrigin::File { ref place, .. } = files.origin else { return None };
    let name = settings.task_files.first()?.trim_start_matches("./").to_owned();
    config_files::is_other_tool_file(&place.file).then_some(name)
}

/// Names the way to a task.
fn no_task(root: &Path) -> Failure {
    let failure = Failure::new(FailureKind::NoTask, tr!("there is no task in {root}", root = root.display()));
    match foreign::find_in(root) {
        Some(found) => {
            let file = found.path.strip_prefix(root).unwrap_or(&found.path).display();
            failure
                .hint(tr!("`loopkeeper import {file}` makes one of the loop of Claude Code's plugin.", file))
        }
        None if let Some(file) = import::requirements_in(root) => {
            let file = sanitize::line(&file);
            failure.hint(tr!("`loopkeeper import {file}` turns these requirements into a task.", file))
        }
        None => failure.hint(tr!("`loopkeeper init` writes a first one; `run --prompt` needs none.")),
    }
}

/// Limit of a list of tasks; more of them do not help.
pub const MAX_LISTED: usize = 10;

/// The tasks of the nearest folder, from `from` up to the root, that has any; all if none has.
fn nearest_tasks<'a>(tasks: &'a [DiscoveredTask], root: &Path, from: &Path) -> Vec<&'a DiscoveredTask> {
    let folders = from.ancestors().take_while(|it| it.starts_with(root));
    let mut found = folders
        .map(|folder| tasks.iter().filter(|it| task_folder(&it.path) == Some(folder)).collect::<Vec<_>>());
    found.find(|it| !it.is_empty()).unwrap_or_else(|| tasks.iter().collect())
}

/// The folder that a task document is about: some tools keep documents in a subfolder.
fn task_folder(document: &Path) -> Option<&Path> {
    let folder = document.parent()?;
    if folder.ends_with(".ralph") {
        folder.parent()
    } else if folder.ends_with("scripts/ralph") {
        folder.parent()?.parent()
    } else {
        Some(folder)
    }
}
