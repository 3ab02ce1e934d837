//! Why an agent does not support one of its settings, with the remedy.

use loopkeeper_text::tr;

/// Why an agent does not support a setting below `[agents.NAME]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedField {
    NoSuchSetting,
    /// Its own configuration has the permissions.
    OwnPermissions,
    /// It does not implement the Agent Client Protocol.
    NoProtocol,
    /// It is built in.
    BuiltIn,
    /// The demo agent.
    FixedScript,
    /// The Agent Client Protocol determines it.
    SetByProtocol,
    /// The flags of a custom command are not known.
    UnknownFlags,
    /// Not the name of an agent.
    InvalidName,
    /// It cannot wait for the answer to a permission request.
    NoQuestions,
}

impl UnsupportedField {
    /// The problem, without a period. `path`: the setting, dotted.
    pub(super) fn message(self, path: &str) -> String {
        match self {
            Self::NoSuchSetting => tr!("`{path}` has no effect on this agent: it has no such setting", path),
            Self::OwnPermissions => {
                tr!("`{path}` has no effect on this agent: only its own settings decide", path)
            }
            Self::NoProtocol => tr!(
                "`{path}` cannot be `acp`: this agent does not speak the Agent Client Protocol natively",
                path
            ),
            Self::BuiltIn => tr!("`{path}` is fixed for a built-in agent", path),
            Self::FixedScript => tr!("`{path}` cannot be set: the demo agent plays a fixed script", path),
            Self::SetByProtocol => {
                tr!("`{path}` has no effect with `output = \"acp\"`: the protocol defines it", path)
            }
            Self::UnknownFlags => tr!(
                "`{path}` has no effect on a command of your own: loopkeeper does not know its flags",
                path
            ),
            Self::InvalidName => tr!("`{path}` does not name an agent", path),
            Self::NoQuestions => tr!(
                "`{path}` cannot be `ask`: only an agent that speaks the Agent Client Protocol waits for an \
                 answer",
                path
            ),
        }
    }

    /// The remedy, without a period.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::NoSuchSetting | Self::FixedScript | Self::SetByProtocol => tr!("remove the line"),
            Self::OwnPermissions => tr!("remove the line; `amp permissions` shows and changes them"),
            Self::NoProtocol => {
                tr!(
                    "remove the line, or give the command of an adapter an agent of your own: `[agents.mine]`"
                )
            }
            Self::BuiltIn => tr!("remove the line, or give your own agent another name"),
            Self::UnknownFlags => tr!("remove the line and put the flag into `command`"),
            Self::InvalidName => tr!("use 1 to 40 letters, digits, `-` or `_`, and not `auto`"),
            Self::NoQuestions => tr!("add `output = \"acp\"` where the agent can do that, or use `edits`"),
        }
    }
}
