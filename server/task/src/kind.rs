//! Recognises task documents by their names alone.

/// Kind of a document. The order is that of discovery: task documents first, in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    /// `PROMPT.md`
    Prompt,
    /// `.ralph/PROMPT.md`
    RalphFolderPrompt,
    /// `RALPH.md`
    Ralph,
    /// `*.ralph.md`
    NamedRalph,
    /// `RALPH_TASK.md`
    RalphTask,
    /// `scripts/ralph/prompt.md`
    ScriptsPrompt,
    /// `PROMPT_build.md`
    BuildPrompt,
    /// `CLAUDE.md` or `prompt.md` beside a `prd.json` or a fix plan that its text names
    StoryPrompt,
    /// `.ralph/prd.md` beside a `tasks.json`
    ObjectivePrompt,
    /// `SYSTEM_PROMPT.md` beside a `PROGRESS.md`
    SystemPrompt,
    /// `TASK.md` with criteria or a promise
    TaskPrompt,
    /// `ralph.yml`: a prompt in `event_loop.prompt`, or gates for the tasks beside it
    OrchestratorConfig,
    /// `.ralph/ralph-loop.state.json`: the prompt of a loop
    LoopState,
    /// `prd.json`
    Prd,
    /// `feature_list.json`: features with `passes` or a `status`
    FeatureList,
    /// `.agents/tasks/prd*.json`: stories with a `status`
    AgentStories,
    /// `.ralph/tasks.json`, `.ralph/queue.jsonc`, `.ralph/queue.json`: tasks with a `status`
    TaskQueue,
    /// `tasks.json`, `PRD.json`, in a folder with `.ralphy`: tasks that are `completed` or not
    TaskList,
    /// `tasks.yaml` in a folder with `.ralphy`
    YamlTaskList,
    /// `.ralph/tasks.yml`: a tree of tasks with a `status`
    YamlTaskTree,
    /// `.beads/issues.jsonl`: one issue of Beads a line
    BeadsIssues,
    /// `PROGRESS.md` beside a `SYSTEM_PROMPT.md`
    ProgressPlan,
    /// `PRD.md`, beside the configuration of a tool that works through its boxes
    RequirementsPlan,
    /// `prd/*.md`, beside `.ralphy`: together one task
    RequirementsPart,
    /// `docs/plans/*.md`, in a root with `.ralphex`
    ExecutionPlan,
    /// `specs/*/tasks.md`, in a root with `.specify`
    SpecKitTasks,
    /// `.kiro/specs/*/tasks.md`
    KiroTasks,
    /// `.ralphrc` with `TEST_COMMAND`, `QUALITY_GATES` or `OPTIONAL_SECTIONS`
    Ralphrc,
    /// `.ralph/config.jsonc` with `agent.ci_gate`
    QueueConfig,
    /// `.ralphy/config.yaml`
    RalphyConfig,
    /// `.ralph.toml`
    VerifyCommands,
    /// `checks/*/CHECK.md` in `.ralphify` or `.ralph`
    CheckFolder,
    /// `checks/*/run.*` there: the script that is the check
    CheckScript,
    /// `contexts/*/CONTEXT.md` there: text and the output of a command for the prompt
    ContextFolder,
    /// `instructions/*/INSTRUCTION.md` there: text for the prompt
    InstructionFolder,
    /// `.ralph/run-config.json`: commands that build and test
    RunConfig,
    /// `.ralph/verification.json` with `verifiers`
    Verification,
    /// `.ralph/agent/tasks.jsonl`: one task a line
    RuntimeTasks,
    /// `fix_plan.md`, `@fix_plan.md`, `IMPLEMENTATION_PLAN.md`, `.ralph/ralph-tasks.md`
    FixPlan,
    /// `PLAN.md` with boxes
    BoxPlan,
    /// `TODO.md` with boxes: alone, or beside a prompt that names it
    TodoPlan,
}

impl DocumentKind {
    /// A file of another tool beside its tasks, found by its place and not by the search for tasks.
    pub fn is_gates(self) -> bool {
        matches!(
            self,
            Self::Ralphrc
                | Self::QueueConfig
                | Self::RalphyConfig
                | Self::VerifyCommands
                | Self::CheckFolder
                | Self::CheckScript
                | Self::ContextFolder
                | Self::InstructionFolder
                | Self::RunConfig
                | Self::Verification
                | Self::RuntimeTasks
        )
    }

    /// A file of another tool that is a task only if it contains a prompt.
    pub fn is_embedded(self) -> bool {
        matches!(self, Self::OrchestratorConfig | Self::LoopState)
    }

    /// A document that is a task only if its text says so ([`super::is_task_text`]).
    pub fn needs_text(self) -> bool {
        self.is_embedded()
            || matches!(
                self,
                Self::StoryPrompt
                    | Self::BoxPlan
                    | Self::TodoPlan
                    | Self::SpecKitTasks
                    | Self::KiroTasks
                    | Self::TaskPrompt
                    | Self::TaskQueue
                    | Self::FeatureList
                    | Self::RequirementsPart
            )
    }

    /// A document that is a task by itself, and not together with the others in its folder.
    pub fn is_apart(self) -> bool {
        matches!(
            self,
            Self::AgentStories | Self::ExecutionPlan | Self::SpecKitTasks | Self::KiroTasks | Self::TodoPlan
        )
    }

    /// Files beside it that say what its items are for.
    pub fn specification(self) -> &'static [&'static str] {
        match self {
            Self::SpecKitTasks => &["spec.md", "plan.md", "data-model.md", "research.md", "quickstart.md"],
            Self::KiroTasks => &["requirements.md", "bugfix.md", "design.md"],
            _ => &[],
        }
    }

    /// Files and folders of which one must be in the folder `up` levels above the document's, for a document whose name
    /// alone says too little.
    pub fn markers(self) -> Option<(usize, &'static [&'static str])> {
        match self {
            Self::RequirementsPlan => {
                Some((0, &[".ralphy/config.yaml", ".ralph.toml", ".ralph/session.json", "knowledge.md"]))
            }
            Self::ExecutionPlan => Some((2, &[".ralphex"])),
            Self::SpecKitTasks => Some((2, &[".specify"])),
            Self::KiroTasks => Some((2, &["specs"])),
            Self::StoryPrompt => {
                Some((0, &["prd.json", "fix_plan.md", "@fix_plan.md", "IMPLEMENTATION_PLAN.md"]))
            }
            Self::ObjectivePrompt => Some((0, &["tasks.json"])),
            Self::SystemPrompt => Some((0, &["PROGRESS.md"])),
            Self::ProgressPlan => Some((0, &["SYSTEM_PROMPT.md"])),
            Self::TaskList | Self::YamlTaskList => Some((0, &[".ralphy"])),
            Self::RequirementsPart => Some((1, &[".ralphy"])),
            Self::BeadsIssues => Some((1, &[".ralph-tui/config.toml"])),
            _ => None,
        }
    }

    /// A file in the folder of the document that replaces it as the list of tasks.
    pub fn successor(self) -> Option<&'static str> {
        (self == Self::RequirementsPlan).then_some(".ralph/tasks.yml")
    }

    /// A JSON or YAML document of stories.
    pub fn is_story_file(self) -> bool {
        self.done_value().is_some()
    }

    /// The field of a story that says that it is done, and its value then.
    pub fn done_value(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Prd | Self::FeatureList => Some(("passes", "true")),
            Self::AgentStories | Self::TaskQueue => Some(("status", "\"done\"")),
            Self::TaskList | Self::YamlTaskList => Some(("completed", "true")),
            Self::YamlTaskTree => Some(("status", "done")),
            Self::RuntimeTasks | Self::BeadsIssues => Some(("status", "\"closed\"")),
            _ => None,
        }
    }

    /// Belongs to the task in the same folder.
    pub fn is_plan(self) -> bool {
        match self {
            Self::Prd
            | Self::FeatureList
            | Self::BeadsIssues
            | Self::RequirementsPart
            | Self::AgentStories
            | Self::TaskQueue
            | Self::TaskList
            | Self::YamlTaskList
            | Self::YamlTaskTree
            | Self::ProgressPlan
            | Self::Ralphrc
            | Self::QueueConfig
            | Self::RequirementsPlan
            | Self::ExecutionPlan
            | Self::RalphyConfig
            | Self::VerifyCommands
            | Self::CheckFolder
            | Self::CheckScript
            | Self::ContextFolder
            | Self::InstructionFolder
            | Self::RunConfig
            | Self::Verification
            | Self::RuntimeTasks
            | Self::SpecKitTasks
            | Self::KiroTasks
            | Self::FixPlan
            | Self::BoxPlan
            | Self::TodoPlan => true,
            Self::Prompt
            | Self::RalphFolderPrompt
            | Self::Ralph
            | Self::NamedRalph
            | Self::RalphTask
            | Self::ScriptsPrompt
            | Self::BuildPrompt
            | Self::StoryPrompt
            | Self::ObjectivePrompt
            | Self::SystemPrompt
            | Self::TaskPrompt
            | Self::OrchestratorConfig
            | Self::LoopState => false,
        }
    }
}

/// The kind of the file at `path` (`/` separators, relative to the root). `None`: no task document by its name.
pub fn kind_of(path: &str) -> Option<DocumentKind> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in = |end: &str| ends_with_path(folder, end);
    match name {
        "PROMPT.md" if is_in(".ralph") => Some(DocumentKind::RalphFolderPrompt),
        "PROMPT.md" => Some(DocumentKind::Prompt),
        "RALPH.md" => Some(DocumentKind::Ralph),
        "RALPH_TASK.md" => Some(DocumentKind::RalphTask),
        "prompt.md" if is_in("scripts/ralph") => Some(DocumentKind::ScriptsPrompt),
        // A template there, filled in by the tool that it belongs to.
        "PROMPT_build.md" if is_in(".agents/ralph") => None,
        "PROMPT_build.md" => Some(DocumentKind::BuildPrompt),
        "CLAUDE.md" | "prompt.md" => Some(DocumentKind::StoryPrompt),
        "TASK.md" => Some(DocumentKind::TaskPrompt),
        "SYSTEM_PROMPT.md" => Some(DocumentKind::SystemPrompt),
        "prd.md" if is_in(".ralph") => Some(DocumentKind::ObjectivePrompt),
        "ralph.yml" => Some(DocumentKind::OrchestratorConfig),
        "ralph-loop.state.json" if is_in(".ralph") || is_in(".opencode") => Some(DocumentKind::LoopState),
        _ if name.strip_suffix(".ralph.md").is_some_and(|stem| !stem.is_empty()) => {
            Some(DocumentKind::NamedRalph)
        }
        _ => plan_kind(folder, name).or_else(|| gates_kind(folder, name)),
    }
}

fn plan_kind(folder: &str, name: &str) -> Option<DocumentKind> {
    let is_in = |end: &str| ends_with_path(folder, end);
    match name {
        _ if is_in(".agents/tasks") && name.starts_with("prd") && name.strip_suffix(".json").is_some() => {
            Some(DocumentKind::AgentStories)
        }
        "prd.json" => Some(DocumentKind::Prd),
        "feature_list.json" | "feature-list.json" => Some(DocumentKind::FeatureList),
        "issues.jsonl" | "beads.jsonl" if is_in(".beads") => Some(DocumentKind::BeadsIssues),
        "tasks.json" | "queue.jsonc" | "queue.json" if is_in(".ralph") => Some(DocumentKind::TaskQueue),
        "tasks.yml" if is_in(".ralph") => Some(DocumentKind::YamlTaskTree),
        "tasks.yaml" if is_in(".ralph") => None,
        "tasks.json" | "PRD.json" => Some(DocumentKind::TaskList),
        "tasks.yaml" | "tasks.yml" => Some(DocumentKind::YamlTaskList),
        "ralph-tasks.md" if is_in(".ralph") => Some(DocumentKind::FixPlan),
        "PRD.md" => Some(DocumentKind::RequirementsPlan),
        "PROGRESS.md" => Some(DocumentKind::ProgressPlan),
        "fix_plan.md" | "@fix_plan.md" | "IMPLEMENTATION_PLAN.md" => Some(DocumentKind::FixPlan),
        "tasks.md" => spec_kind(folder),
        "TODO.md" => Some(DocumentKind::TodoPlan),
        "PLAN.md" if !is_in("docs/plans") => Some(DocumentKind::BoxPlan),
        _ if is_in("prd") && name.strip_suffix(".md").is_some() => Some(DocumentKind::RequirementsPart),
        _ if is_in("docs/plans") && name.strip_suffix(".md").is_some() => Some(DocumentKind::ExecutionPlan),
        _ => None,
    }
}

/// `tasks.md` in the folder of a specification.
fn spec_kind(folder: &str) -> Option<DocumentKind> {
    let (specs, _) = folder.rsplit_once('/')?;
    if ends_with_path(specs, ".kiro/specs") {
        return Some(DocumentKind::KiroTasks);
    }
    ends_with_path(specs, "specs").then_some(DocumentKind::SpecKitTasks)
}

fn gates_kind(folder: &str, name: &str) -> Option<DocumentKind> {
    let is_in = |end: &str| ends_with_path(folder, end);
    // `.ralphify/checks/NAME`, and `.ralphify/ralphs/NAME/checks/NAME`.
    let is_below = |part: &str| {
        let above =
            folder.rsplit_once('/').and_then(|(above, _)| above.strip_suffix(part)?.strip_suffix('/'));
        above.is_some_and(|it| it.split('/').any(|part| [".ralphify", ".ralph"].contains(&part)))
    };
    match name {
        "config.jsonc" if is_in(".ralph") => Some(DocumentKind::QueueConfig),
        "run-config.json" if is_in(".ralph") => Some(DocumentKind::RunConfig),
        "verification.json" if is_in(".ralph") => Some(DocumentKind::Verification),
        "tasks.jsonl" if is_in(".ralph/agent") => Some(DocumentKind::RuntimeTasks),
        ".ralphrc" => Some(DocumentKind::Ralphrc),
        "config.yaml" if is_in(".ralphy") => Some(DocumentKind::RalphyConfig),
        ".ralph.toml" => Some(DocumentKind::VerifyCommands),
        "CHECK.md" if is_below("checks") => Some(DocumentKind::CheckFolder),
        "CONTEXT.md" if is_below("contexts") => Some(DocumentKind::ContextFolder),
        "INSTRUCTION.md" if is_below("instructions") => Some(DocumentKind::InstructionFolder),
        _ if name.strip_prefix("run.").is_some() && is_below("checks") => Some(DocumentKind::CheckScript),
        _ => None,
    }
}

fn ends_with_path(folder: &str, end: &str) -> bool {
    folder == end || folder.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}
