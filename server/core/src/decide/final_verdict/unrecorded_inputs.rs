//! Inputs of a final verdict besides the tree.

use crate::journal::{CheckProgram, OutsideFiles};

/// Inputs of the rounds in the clean room that no snapshot contains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnrecordedInputs {
    /// Ignored files of the agent without which a check fails, and which the check does not make.
    pub needed: Vec<String>,
    /// Files that a check needs and a rollback would not restore: ignored since the loop began, or in no manifest.
    pub unlisted: Vec<String>,
    /// Files of the home folder besides caches, tools and their settings, without which a check fails.
    pub needs_home: bool,
    /// Files of installed packages that changed although their package was not installed again.
    pub patched: Vec<String>,
    /// The programs that the checks ran by name, fit to be stored.
    pub ran: Vec<CheckProgram>,
    /// Programs that changed, without another of the same name.
    pub programs: Vec<String>,
    /// New programs that answered a `judge` check in place of others of the same name.
    pub of_judge: Vec<String>,
    /// Judges that changed, of which the version of the start is not stored.
    pub unstored: Vec<String>,
    /// New files that `clean` did not see, because rules outside the tree ignore them since the start.
    pub hidden_from_clean: Vec<String>,
    /// Too many ignored files changed to compare all of them.
    pub is_partial: bool,
    /// Files and folders that were made outside the work tree since the start, some of which a check needs.
    pub left_outside: Vec<String>,
    pub outside: OutsideFiles,
}

impl UnrecordedInputs {
    /// Whether something was not judged that may decide the checks.
    pub(super) fn is_open(&self) -> bool {
        self.is_partial
            || self.outside.is_partial
            || !self.unstored.is_empty()
            || !self.left_outside.is_empty()
            || !self.unlisted.is_empty()
            || !self.of_judge.is_empty()
            || !self.hidden_from_clean.is_empty()
    }
}
