//! The sources of settings: configuration files, and values that override them.

/// One configuration file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub kind: LayerKind,
    /// For display: relative to the root, absolute outside of it.
    pub file: String,
    pub text: String,
}

/// In order of increasing precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The user's `config.toml`.
    User,
    /// A configuration of another tool: `ralph.yml`, `.ralph-tui/config.toml`.
    OtherTool,
    /// A `.ralphrc`, read as plain lines.
    Ralphrc,
    /// `loopkeeper.toml` at the root.
    Workspace,
    /// A setting in a task document, such as its front matter.
    Task,
}

/// The author of an override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverrideSource {
    /// The user: an option of the command line, an argument of an editor's command.
    Argument,
    /// The author of a task document.
    Task,
}

/// A value given on the command line, `--max-iterations 3` for `limits.iterations`, or in a task document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingOverride {
    pub option: String,
    pub key: String,
    pub value: String,
    pub source: OverrideSource,
}

impl SettingOverride {
    /// The path of a program that is used in place of an agent's name.
    pub fn program(&self) -> Option<&str> {
        (self.key == "agent" && self.value.contains('/')).then_some(self.value.as_str())
    }
}
