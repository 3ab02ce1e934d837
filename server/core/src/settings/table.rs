//! The type of a configuration key: its path, kind of value, default, meaning, and whether this version supports it.
//! The keys themselves are in `keys.rs`, which is the only list.

use std::fmt;

use loopkeeper_text::clauses::list;
use loopkeeper_text::tr;

/// One key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Dotted; `*` is a placeholder for the name of an agent.
    pub(crate) path: &'static str,
    pub takes: ValueKind,
    /// The default as written in TOML; empty if there is none.
    pub default: &'static str,
    /// One sentence with a capital and a period; translated where it is shown.
    pub doc: &'static str,
    pub since: KeySupport,
}

/// Whether this version supports a key. An unsupported key is an error, never ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySupport {
    Built,
    NotYet,
}

/// The kind of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// One of a few words; those of `later` are known and refused.
    Word {
        now: &'static [&'static str],
        later: &'static [&'static str],
    },
    /// The name of an agent, or `auto`.
    Agent,
    /// The name of an agent, `auto`, or a list of names.
    Agents,
    Text,
    /// The name of a branch, in which `{task}` is replaced by the task; or empty.
    Branch,
    /// The text between promise tags.
    Promise,
    /// A whole number, at least 1.
    Count,
    /// 1 to 100.
    Percent,
    /// Above zero.
    Duration,
    /// Zero means: do not wait.
    Pause,
    Cost,
    Size,
    Flag,
    /// Whether there is a network, or a list of hosts.
    Network,
    /// A path relative to the root.
    Path,
    /// Paths relative to the root.
    Paths,
    Globs,
    /// A program and its arguments, no shell.
    Command,
    /// A program and its arguments, or an empty list.
    CommandOrNone,
    Texts,
    /// Names of environment variables.
    Names,
    /// Environment variables with their values.
    Variables,
    /// An expression of `exit.when`.
    When,
    /// A table of texts with a weight each.
    Weights,
    /// An array of tables.
    Services,
}

impl Key {
    /// The table of a key: `limits`, `agents.*`, or nothing for the top.
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Whether it counts only in the user's own file: a bound of other files, or a property of the reader.
    pub fn is_users_own(&self) -> bool {
        self.section() == "max" || self.path == "language"
    }

    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// Follows the word "takes" in messages.
impl fmt::Display for ValueKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Word { now, .. } => {
                let words: Vec<String> = now.iter().map(|it| format!("\"{it}\"")).collect();
                return match words.as_slice() {
                    [only] => write!(out, "{only}"),
                    [rest @ .., last] => {
                        write!(out, "{}", tr!("{list} or {last}", list = list(rest), last))
                    }
                    [] => Ok(()),
                };
            }
            Self::Agent => tr!("the name of an agent"),
            Self::Agents => tr!("the name of an agent, or a list of names"),
            Self::Text => tr!("a text on one line"),
            Self::Branch => tr!("the name of a branch, in which `{task}` is replaced by the task, or `\"\"`"),
            Self::Promise => tr!("a text of 1 to 200 characters on one line, without `<` and `>`"),
            Self::Count => tr!("a whole number from 1"),
            Self::Percent => tr!("a whole number from 1 to 100"),
            Self::Duration => tr!("a duration such as \"30m\" or \"1h30m\""),
            Self::Pause => tr!("a duration such as \"0s\" or \"2m\""),
            Self::Cost => tr!("an amount in US dollars such as 2.50"),
            Self::Size => tr!("a size such as \"5GiB\""),
            Self::Flag => tr!("true or false"),
            Self::Network => tr!("true, false or a list of hosts"),
            Self::Path => tr!("a path below the root"),
            Self::Paths => tr!("a list of paths below the root"),
            Self::Globs => tr!("a list of globs"),
            Self::Command => tr!("a program and its arguments as a list of strings"),
            Self::CommandOrNone => tr!("a program and its arguments as a list of strings, or `[]`"),
            Self::Texts => tr!("a list of strings"),
            Self::Names => tr!("a list of names of environment variables"),
            Self::Variables => tr!("a table of environment variables and their values"),
            Self::When => tr!("conditions joined by `and`, `or` and `not`, such as \"criteria and plan\""),
            Self::Weights => tr!("a table of phrases with a number above 0, at most 1, each"),
            Self::Services => tr!("tables with `command`, `ready` and optionally `timeout`"),
        };
        write!(out, "{text}")
    }
}
