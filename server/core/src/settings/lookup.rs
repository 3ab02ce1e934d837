//! Finds the key of a dotted path.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::keys::KEYS;
use super::table::Key;

/// The meaning of a dotted path.
#[derive(Debug, Clone, Copy)]
pub enum KeyLookup {
    Key(&'static Key),
    /// The first part of a longer key: a table.
    Section,
    Unknown,
}

/// Looks a path up. `agents.mine.command` finds `agents.*.command` unless the agent has a specific key.
pub fn look_up(path: &[&str]) -> KeyLookup {
    let Some(keys) = path.first().and_then(|name| KEYS_BY_TABLE.get(name)) else { return KeyLookup::Unknown };
    let mut is_section = false;
    for (key, parts) in keys.iter().filter(|(_, parts)| starts_with(parts, path)) {
        if parts.len() == path.len() {
            return KeyLookup::Key(key);
        }
        is_section = true;
    }
    if is_section { KeyLookup::Section } else { KeyLookup::Unknown }
}

type SplitKey = (&'static Key, Vec<&'static str>);

/// Each key with the names of its path, by the first name: a file may have ten thousand entries, each is looked up.
static KEYS_BY_TABLE: LazyLock<HashMap<&'static str, Vec<SplitKey>>> = LazyLock::new(|| {
    let mut tables: HashMap<_, Vec<SplitKey>> = HashMap::new();
    for key in KEYS {
        let parts: Vec<_> = key.path.split('.').collect();
        tables.entry(parts.first().copied().unwrap_or_default()).or_default().push((key, parts));
    }
    tables
});

fn starts_with(parts: &[&str], path: &[&str]) -> bool {
    path.len() <= parts.len() && path.iter().zip(parts).all(|(name, part)| *part == "*" || part == name)
}
