//! Commands reserved for the user that other processes sent.

use std::collections::BTreeMap;

use crate::journal::{CommandSender, RestrictedCommand};
use serde::{Deserialize, Serialize};

/// CommandAttempts so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandAttempts {
    /// Recorded attempts of each kind.
    #[serde(with = "count_list")]
    pub counts: BTreeMap<(CommandSender, RestrictedCommand), u32>,
    /// The warden of the last agent.
    pub(crate) agent: Option<u32>,
}

impl CommandAttempts {
    pub(crate) fn record(&mut self, command: RestrictedCommand, by: CommandSender) {
        *self.counts.entry((by, command)).or_default() += 1;
    }

    pub(crate) fn total(&self) -> u32 {
        self.counts.values().sum()
    }
}

/// The counts as a list, because keys in JSON are strings.
mod count_list {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::journal::{CommandSender, RestrictedCommand};

    type AttemptCounts = BTreeMap<(CommandSender, RestrictedCommand), u32>;

    pub(super) fn serialize<S: Serializer>(counts: &AttemptCounts, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(counts)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AttemptCounts, D::Error> {
        let list: Vec<((CommandSender, RestrictedCommand), u32)> = Vec::deserialize(deserializer)?;
        Ok(list.into_iter().collect())
    }
}
