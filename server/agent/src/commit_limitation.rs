//! Describes what the safe mode of each agent cannot enforce if commits are left to it.

use loopkeeper_text::tr;

use super::codex;
use super::kind::AgentKind;
use crate::PermissionMode;

/// What the agent's safe mode cannot enforce, as the end of a sentence about the agent; `None` if it enforces
/// everything or its permissions allow everything anyway.
pub fn commit_limitation(
    kind: AgentKind,
    permissions: PermissionMode,
    argv: &[String],
) -> Option<&'static str> {
    if !matches!(permissions, PermissionMode::Edits | PermissionMode::Ask) {
        return None;
    }
    match kind {
        AgentKind::Codex if !argv.iter().any(|it| it == codex::start::PROFILE) => Some(tr!(
            "its sandbox keeps `.git` read-only here: it cannot commit (`git.commit = \"server\"` commits for it)"
        )),
        AgentKind::Codex => Some(tr!(
            "its sandbox does not distinguish commands: it can commit with `--no-verify` and `--amend`, and push to folders that it may write"
        )),
        AgentKind::Gemini | AgentKind::Copilot => Some(tr!(
            "its rules match only the start of a command: it can commit with `--no-verify` and `--amend`"
        )),
        AgentKind::Qwen => Some(tr!(
            "its rules ignore variables set before a command: it can commit past the repository's hooks"
        )),
        AgentKind::Amp => {
            Some(tr!("its own settings alone decide whether it can commit or push (`amp permissions`)"))
        }
        AgentKind::Claude
        | AgentKind::Opencode
        | AgentKind::Cursor
        | AgentKind::Acp(_)
        | AgentKind::Demo
        | AgentKind::Own(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::commit_limitation;
    use crate::PermissionMode;
    use crate::kind::{AgentKind, KNOWN_KINDS};

    /// Limitations are reported only where they apply.
    #[test]
    fn limitations_of_an_agents_rules_are_reported() {
        for kind in KNOWN_KINDS {
            for permissions in [PermissionMode::All, PermissionMode::SandboxedAll, PermissionMode::ReadOnly] {
                assert_eq!(commit_limitation(kind, permissions, &[]), None, "{kind:?}");
            }
            let limitation = commit_limitation(kind, PermissionMode::Edits, &[]);
            assert_eq!(
                limitation.is_none(),
                matches!(kind, AgentKind::Claude | AgentKind::Opencode | AgentKind::Cursor),
                "{kind:?}"
            );
        }
        let with_profile = [crate::codex::start::PROFILE.to_owned()];
        let codex =
            |argv| commit_limitation(AgentKind::Codex, PermissionMode::Edits, argv).unwrap_or_default();
        assert!(codex(&[]).contains("cannot commit"), "{}", codex(&[]));
        assert!(codex(&with_profile).contains("`--no-verify`"), "{}", codex(&with_profile));
    }
}
