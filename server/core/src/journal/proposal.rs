//! An agent's edits of criteria in the documents. They are shown and never take effect.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One edit. In the journal it is one text: `added: All tests pass`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Proposal {
    pub edit: Edit,
    /// The criterion's name.
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edit {
    Added,
    Altered,
    Removed,
    /// Written by another version.
    Other,
}

impl Edit {
    const NAMED: [(Self, &str); 3] =
        [(Self::Added, "added: "), (Self::Altered, "altered: "), (Self::Removed, "removed: ")];

    fn prefix(self) -> &'static str {
        Self::NAMED.iter().find(|(it, _)| *it == self).map_or("", |(_, prefix)| prefix)
    }
}

impl Proposal {
    pub fn new(edit: Edit, name: &str) -> Self {
        Self { edit, name: name.to_owned() }
    }
}

impl From<String> for Proposal {
    fn from(text: String) -> Self {
        let named = Edit::NAMED.iter().find_map(|(edit, prefix)| Some((*edit, text.strip_prefix(prefix)?)));
        named.map_or_else(|| Self::new(Edit::Other, &text), |(edit, name)| Self::new(edit, name))
    }
}

impl From<Proposal> for String {
    fn from(proposal: Proposal) -> Self {
        proposal.to_string()
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.edit.prefix(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_one_text() {
        let check = |text: &str, edit, name: &str| {
            let proposal = Proposal::from(text.to_owned());
            assert_eq!(proposal, Proposal::new(edit, name));
            assert_eq!(String::from(proposal), text);
        };
        check("added: removed: a", Edit::Added, "removed: a");
        check("altered: a", Edit::Altered, "a");
        check("removed: a", Edit::Removed, "a");
        check("a new line", Edit::Other, "a new line");
        check("", Edit::Other, "");
    }
}
