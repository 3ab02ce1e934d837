//! Builds the command line of an agent that implements the Agent Client Protocol, and the settings of its bridge. They
//! are passed in the agent's environment, so that they are part of what the user is asked to trust.

use serde::{Deserialize, Serialize};

use super::policy::PermissionPolicy;
use crate::command_line::{AgentCommandLine, CommandLineParams, extend};
use crate::kind::AgentKind;
use crate::{PermissionMode, PromptBy, allow};

/// The variable in which the bridge finds its [`BridgeOptions`].
pub const VARIABLE: &str = "LOOPKEEPER_ACP";

/// The settings of the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeOptions {
    #[serde(flatten)]
    pub policy: PermissionPolicy,
    /// The model, selected from those that the agent offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// The command line that starts a known agent in protocol mode; for any other agent the user's own command.
pub fn build_command_line(known: Option<AgentKind>, start: &CommandLineParams<'_>) -> AgentCommandLine {
    let mut argv = start.command.to_vec();
    let flags: &[&str] = match known {
        Some(AgentKind::Opencode) => &["acp"],
        Some(_) => &["--acp"],
        None => &[],
    };
    extend(&mut argv, flags);
    argv.extend_from_slice(start.args);
    let options = BridgeOptions {
        policy: PermissionPolicy {
            permissions: start.permissions,
            commands: allow::allowed_commands(start.checks, start.runner),
            runner: start.runner.map(str::to_owned),
            commits: start.commits.is_some(),
        },
        model: start.model.map(str::to_owned),
        effort: start.effort.map(str::to_owned),
    };
    let options = serde_json::to_string(&options).unwrap_or_default();
    let mut env = vec![(VARIABLE.to_owned(), options)];
    if known == Some(AgentKind::Opencode) {
        env.extend(permission_env(start.permissions));
    }
    AgentCommandLine { argv, env, prompt: PromptBy::Stdin }
}

/// The permissions for an agent that would not ask by default.
fn permission_env(permissions: PermissionMode) -> Option<(String, String)> {
    let rules = match permissions {
        PermissionMode::ReadOnly | PermissionMode::Edits | PermissionMode::Ask => {
            r#"{"edit":"ask","bash":"ask","external_directory":"ask","webfetch":"ask","websearch":"ask"}"#
        }
        PermissionMode::SandboxedAll | PermissionMode::All => return None,
    };
    Some(("OPENCODE_PERMISSION".to_owned(), rules.to_owned()))
}
