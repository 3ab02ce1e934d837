//! Facts about the project for completion and quick fixes, which come from manifests and names of files.

use loopkeeper_lint::ProjectCommand;
use loopkeeper_text::sanitize;

/// The known facts about the project of a task.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectFacts<'a> {
    pub commands: &'a [DeclaredCommand],
    /// The files that are not ignored, relative to the root, sorted.
    pub files: &'a [String],
}

/// The commands of the project that quick fixes write.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectCommands<'a> {
    /// Those that decide the usual gates.
    pub gates: &'a [ProjectCommand],
    /// All of them.
    pub declared: &'a [DeclaredCommand],
    /// The criteria of a new task for the same sentence, without their bullets.
    pub proposed: &'a [String],
}

/// A command by which the project checks itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredCommand {
    /// Runs in the root, by `sh -c`.
    pub command: String,
    /// The file that declares it, relative to the root.
    pub file: String,
    /// What holds if it passes: `All tests pass`.
    pub criterion: String,
}

impl DeclaredCommand {
    /// Whether a code span can contain it, and shows all of it.
    pub(crate) fn is_writable(&self) -> bool {
        is_writable(&self.command) && is_writable(&self.file) && is_writable(&self.criterion)
    }
}

/// Whether a text from the project fits into a code span and has no hidden characters.
pub(crate) fn is_writable(text: &str) -> bool {
    !text.is_empty() && !text.contains('`') && sanitize::visible(text) == text
}
