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
    /// `fix_plan.md`, `@fix_plan.md`, `IMPLEMENTATION_PLAN.md`
    FixPlan,
}

impl DocumentKind {
    /// Belongs to the task in the same folder.
    pub fn is_plan(self) -> bool {
        match self {
            Self::Prd | Self::FixPlan => true,
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
        "PROMPT_build.md" => Some(DocumentKind::BuildPrompt),
        "prd.json" => Some(DocumentKind::Prd),
        "fix_plan.md" | "@fix_plan.md" | "IMPLEMENTATION_PLAN.md" => Some(DocumentKind::FixPlan),
        _ if name.strip_suffix(".ralph.md").is_some_and(|stem| !stem.is_empty()) => {
            Some(DocumentKind::NamedRalph)
        }
        _ => None,
    }
}
