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
    /// `ralph.yml`: a prompt in `event_loop.prompt`, or gates for the tasks beside it
    OrchestratorConfig,
    /// `.ralph/ralph-loop.state.json`: the prompt of a loop
    LoopState,
    /// `prd.json`
    Prd,
    /// `.agents/tasks/prd*.json`: stories with a `status`
    AgentStories,
    /// `.ralph/tasks.json` beside a `state.json`, `.ralph/queue.jsonc`: tasks with a `status`
    TaskQueue,
    /// `PRD.md`, beside the configuration of a tool that works through its boxes
    RequirementsPlan,
    /// `docs/plans/*.md`, in a root with `.ralphex`
    ExecutionPlan,
    /// `.ralphrc` with `TEST_COMMAND`, `QUALITY_GATES` or `OPTIONAL_SECTIONS`
    Ralphrc,
    /// `.ralph/config.jsonc` with `agent.ci_gate`
    QueueConfig,
    /// `.ralphy/config.yaml`
    RalphyConfig,
    /// `.ralph.toml`
    VerifyCommands,
    /// `.ralphify/checks/*/CHECK.md`
    CheckFolder,
    /// `fix_plan.md`, `@fix_plan.md`, `IMPLEMENTATION_PLAN.md`, `.ralph/ralph-tasks.md`
    FixPlan,
}

impl DocumentKind {
    /// A file of another tool that names commands, found by its place and not by the search for tasks.
    pub fn is_gates(self) -> bool {
        matches!(
            self,
            Self::Ralphrc | Self::QueueConfig | Self::RalphyConfig | Self::VerifyCommands | Self::CheckFolder
        )
    }

    /// A file of another tool that is a task only if it contains a prompt.
    pub fn is_embedded(self) -> bool {
        matches!(self, Self::OrchestratorConfig | Self::LoopState)
    }

    /// A document that is a task by itself, and not together with the others in its folder.
    pub fn is_apart(self) -> bool {
        matches!(self, Self::AgentStories | Self::ExecutionPlan)
    }

    /// Files and folders of which one must be in the folder `up` levels above the document's, for a document whose name
    /// alone says too little.
    pub fn markers(self) -> Option<(usize, &'static [&'static str])> {
        match self {
            Self::RequirementsPlan => {
                Some((0, &[".ralphy/config.yaml", ".ralph.toml", ".ralph/session.json", "knowledge.md"]))
            }
            Self::ExecutionPlan => Some((2, &[".ralphex"])),
            Self::TaskQueue => Some((0, &["state.json", "queue.jsonc"])),
            _ => None,
        }
    }

    /// A JSON document of stories.
    pub fn is_story_file(self) -> bool {
        matches!(self, Self::Prd | Self::AgentStories | Self::TaskQueue)
    }

    /// Whether its stories have a `status` in the place of `passes`.
    pub fn has_status(self) -> bool {
        matches!(self, Self::AgentStories | Self::TaskQueue)
    }

    /// Belongs to the task in the same folder.
    pub fn is_plan(self) -> bool {
        match self {
            Self::Prd
            | Self::AgentStories
            | Self::TaskQueue
            | Self::Ralphrc
            | Self::QueueConfig
            | Self::RequirementsPlan
            | Self::ExecutionPlan
            | Self::RalphyConfig
            | Self::VerifyCommands
            | Self::CheckFolder
            | Self::FixPlan => true,
            Self::Prompt
            | Self::RalphFolderPrompt
            | Self::Ralph
            | Self::NamedRalph
            | Self::RalphTask
            | Self::ScriptsPrompt
            | Self::BuildPrompt
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
        _ if is_in(".agents/tasks") && name.starts_with("prd") && name.strip_suffix(".json").is_some() => {
            Some(DocumentKind::AgentStories)
        }
        "prd.json" => Some(DocumentKind::Prd),
        "tasks.json" | "queue.jsonc" if is_in(".ralph") => Some(DocumentKind::TaskQueue),
        "ralph-loop.state.json" if is_in(".ralph") || is_in(".opencode") => Some(DocumentKind::LoopState),
        "ralph-tasks.md" if is_in(".ralph") => Some(DocumentKind::FixPlan),
        "config.jsonc" if is_in(".ralph") => Some(DocumentKind::QueueConfig),
        "ralph.yml" => Some(DocumentKind::OrchestratorConfig),
        ".ralphrc" => Some(DocumentKind::Ralphrc),
        "PRD.md" => Some(DocumentKind::RequirementsPlan),
        "config.yaml" if is_in(".ralphy") => Some(DocumentKind::RalphyConfig),
        ".ralph.toml" => Some(DocumentKind::VerifyCommands),
        "CHECK.md"
            if folder
                .rsplit_once('/')
                .is_some_and(|(above, _)| ends_with_path(above, ".ralphify/checks")) =>
        {
            Some(DocumentKind::CheckFolder)
        }
        "fix_plan.md" | "@fix_plan.md" | "IMPLEMENTATION_PLAN.md" => Some(DocumentKind::FixPlan),
        _ if is_in("docs/plans") && name.strip_suffix(".md").is_some() => Some(DocumentKind::ExecutionPlan),
        _ if name.strip_suffix(".ralph.md").is_some_and(|stem| !stem.is_empty()) => {
            Some(DocumentKind::NamedRalph)
        }
        _ => None,
    }
}

fn ends_with_path(folder: &str, end: &str) -> bool {
    folder == end || folder.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}
