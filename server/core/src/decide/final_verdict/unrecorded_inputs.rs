//! What a final verdict depends on besides the tree.

use crate::journal::{CheckProgram, OutsideFiles};

/// What the rounds in the clean room depended on, and no snapshot holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnrecordedInputs {
    /// Ignored files of the agent without which a check fails, and which the check does not make.
    pub needed: Vec<String>,
    /// What a check needs and the tree would not bring back: ignored since the loop began, or listed in no manifest.
    pub unlisted: Vec<String>,
    /// Files of the home folder besides caches, tools and their settings, without which a check fails.
    pub needs_home: bool,
    /// Files of installed packages that changed although their package was not installed again.
    pub patched: Vec<String>,
    /// The programs that the checks ran by name, fit to be stored.
    pub ran: Vec<CheckProgram>,
    /// Programs that changed, without another of the same name.
    pub programs: Vec<String>,
    /// New programs that the agent of a `judge` check is, in place of others.
    pub of_judge: Vec<String>,
    /// Judges that changed, of which the version of the start is not stored.
    pub unstored: Vec<String>,
    /// New files that `clean` did not see, because rules outside the tree ignore them since the start.
    pub hidden_from_clean: Vec<String>,
    /// There was too much to compare.
    pub is_partial: bool,
    /// Files and folders that were made outside the work tree since the start, some of which a check needs.
    pub left_outside: Vec<String>,
    pub outside: OutsideFiles,
}

impl UnrecordedInputs {
    /// Something that may decide the checks was not judged.
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
