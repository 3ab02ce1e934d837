//! Builds the command line that starts each agent headlessly from the settings and task data that determine it, with
//! one file per agent. No shell ever interprets any of it, and the prompt is not part of it.

mod other_agents;

use super::command_line::{AgentCommandLine, CommandLineParams};
use super::kind::AgentKind;
use super::{acp, claude, codex, gemini, opencode};
use crate::{PermissionMode, PromptBy};

impl AgentKind {
    /// The command line; for [`AgentKind::Demo`] the command as it is.
    pub fn command_line(self, start: &CommandLineParams<'_>) -> AgentCommandLine {
        let plain = |argv| AgentCommandLine { argv, env: Vec::new(), prompt: PromptBy::Stdin };
        match self {
            Self::Claude => plain(claude::start::build_argv(start)),
            Self::Codex => plain(codex::start::build_argv(start)),
            Self::Gemini => plain(gemini::start::build_argv(start)),
            Self::Opencode => AgentCommandLine {
                env: opencode::start::build_env(start),
                ..plain(opencode::start::build_argv(start))
            },
            Self::Qwen => plain(other_agents::qwen_argv(start)),
            Self::Copilot => plain(other_agents::copilot_argv(start)),
            Self::Cursor => plain(other_agents::cursor_argv(start)),
            Self::Amp => plain(other_agents::amp_argv(start)),
            Self::Acp(known) => acp::start::build_command_line(known.copied(), start),
            Self::Demo => plain(start.command.to_vec()),
            Self::Own(_) => AgentCommandLine { prompt: start.prompt, ..plain(custom_argv(start)) },
        }
    }

    /// The command line that resumes a session of the agent.
    pub fn resume_argv(self, argv: &[String]) -> Vec<String> {
        match self {
            Self::Codex => codex::start::resume_argv(argv),
            Self::Opencode => opencode::start::resume_argv(argv),
            Self::Cursor => other_agents::resume_cursor_argv(argv),
            Self::Amp => other_agents::resume_amp_argv(argv),
            // The same flag begins and resumes a session.
            Self::Copilot => argv.to_vec(),
            // The bridge is configured by its environment.
            Self::Acp(_) => argv.to_vec(),
            Self::Claude | Self::Gemini | Self::Qwen | Self::Demo | Self::Own(_) => replace_session_id(argv),
        }
    }

    /// Variables added to the agent's environment; the user's values take precedence.
    pub fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claude | Self::Demo => claude::start::ENVIRONMENT,
            Self::Codex => codex::start::ENVIRONMENT,
            Self::Gemini => gemini::start::ENVIRONMENT,
            Self::Opencode => opencode::start::ENVIRONMENT,
            Self::Acp(known) => known.map_or(&[], |it| it.environment()),
            // Other programs that the command may call ignore these variables.
            Self::Own(crate::kind::Dialect::Claude) => claude::start::ENVIRONMENT,
            Self::Qwen => other_agents::QWEN_ENVIRONMENT,
            Self::Copilot | Self::Cursor | Self::Amp | Self::Own(_) => &[],
        }
    }

    /// Whether it would refuse to start with these permissions as root.
    pub fn refuses_root(self, permissions: PermissionMode) -> bool {
        self == Self::Claude && permissions == PermissionMode::All
    }
}

/// The arguments of a user-defined command, with a placeholder for the prompt added if it has none.
fn custom_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    argv.extend(start.args.iter().cloned());
    let placeholder = match start.prompt {
        PromptBy::Stdin => None,
        PromptBy::Argument => Some("{prompt}"),
        PromptBy::File => Some("{prompt_file}"),
    };
    if let Some(added) = placeholder.filter(|placeholder| !argv.iter().any(|it| it.contains(placeholder))) {
        argv.push(added.to_owned());
    }
    argv
}

/// Replaces `--session-id`, which would be refused for an existing session.
fn replace_session_id(argv: &[String]) -> Vec<String> {
    let pairs = argv.iter().map(String::as_str).zip(argv.iter().skip(1).map(String::as_str).chain([""]));
    let replace = |(it, next): (&str, &str)| match (it, next) {
        ("--session-id", "{session}") => "--resume".to_owned(),
        _ => it.to_owned(),
    };
    pairs.map(replace).collect()
}

#[cfg(test)]
mod tests;
