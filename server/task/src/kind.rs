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
    /// `prd.json`
    Prd,
    /// `.agents/tasks/prd*.json`: stories with a `status`
    AgentStories,
    /// `fix_plan.md`, `@fix_plan.md`, `IMPLEMENTATION_PLAN.md`
    FixPlan,
}

impl DocumentKind {
    /// A JSON document of stories.
    pub fn is_story_file(self) -> bool {
        matches!(self, Self::Prd | Self::AgentStories)
    }

    /// Belongs to the task in the same folder.
    pub fn is_plan(self) -> bool {
        match self {
            Self::Prd | Self::AgentStories | Self::FixPlan => true,
            Self::Prompt
            | Self::RalphFolderPrompt
            | Self::Ralph
            | Self::NamedRalph
            | Self::RalphTask
            | Self::ScriptsPrompt
            | Self::BuildPrompt => false,
        }
    }
}

/// The kind of the file at `path` (`/` separators, relative to the root). `None`: no task document by its name.
pub fn kind_of(path: &str) -> Option<DocumentKind> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in =
        |end: &str| folder == end || folder.strip_suffix(end).is_some_and(|before| before.ends_with('/'));
    match name {
        "PROMPT.md" if is_in(".ralph") => Some(DocumentKind::RalphFolderPrompt),
        "PROMPT.md" => Some(DocumentKind::Prompt),
        "RALPH.md" => Some(DocumentKind::Ralph),
        "RALPH_TASK.md" => Some(DocumentKind::RalphTask),
        "prompt.md" if is_in("scripts/ralph") => Some(DocumentKind::ScriptsPrompt),
        // A template there, filled in by the tool that it belongs to.
        "PROMPT_build.md" if is_in(".agents/ralph") => None,
        "PROMPT_build.md" => Some(DocumentKind::BuildPrompt),
        _ if is_in(".agents/tasks") && name.starts_with("prd") && name.ends_with(".json") => {
            Some(DocumentKind::AgentStories)
        }
        "prd.json" => Some(DocumentKind::Prd),
        "fix_plan.md" | "@fix_plan.md" | "IMPLEMENTATION_PLAN.md" => Some(DocumentKind::FixPlan),
        _ if name.strip_suffix(".ralph.md").is_some_and(|stem| !stem.is_empty()) => {
            Some(DocumentKind::NamedRalph)
        }
        _ => None,
    }
}
