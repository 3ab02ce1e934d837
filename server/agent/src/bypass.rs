//! Command-line flags that disable an agent's permission prompts regardless of its settings. Those of Claude Code and
//! Codex were measured to do so together with our own flags; Gemini CLI and Qwen Code refuse to start with both, except
//! in protocol mode. The others follow their help texts.

use super::kind::{AgentKind, KNOWN_KINDS};

/// The flags of one agent, and the values with which its other flags have the same effect.
struct BypassFlags {
    flags: &'static [&'static str],
    /// Flags that are too generic to be recognised in the arguments of an unknown program.
    vague: &'static [&'static str],
    values: &'static [(&'static [&'static str], &'static str)],
}

const NONE: BypassFlags = BypassFlags { flags: &[], vague: &[], values: &[] };

fn bypass_flags(kind: AgentKind) -> BypassFlags {
    const APPROVAL: &[&str] = &["--approval-mode"];
    match kind {
        AgentKind::Claude => BypassFlags {
            flags: &["--dangerously-skip-permissions"],
            values: &[(&["--permission-mode"], "bypassPermissions")],
            ..NONE
        },
        AgentKind::Codex => BypassFlags {
            flags: &["--dangerously-bypass-approvals-and-sandbox", "--yolo"],
            values: &[
                (&["-s", "--sandbox"], "danger-full-access"),
                (&["-c", "--config"], "sandbox_mode=danger-full-access"),
            ],
            ..NONE
        },
        AgentKind::Gemini | AgentKind::Qwen => {
            BypassFlags { flags: &["--yolo"], vague: &["-y"], values: &[(APPROVAL, "yolo")] }
        }
        AgentKind::Opencode => BypassFlags { vague: &["--auto"], ..NONE },
        AgentKind::Copilot => BypassFlags { flags: &["--allow-all", "--allow-all-tools", "--yolo"], ..NONE },
        AgentKind::Cursor => BypassFlags { flags: &["--yolo"], vague: &["--force", "-f"], ..NONE },
        AgentKind::Amp => BypassFlags { flags: &["--dangerously-allow-all"], ..NONE },
        AgentKind::Acp(known) => known.map_or(NONE, |it| bypass_flags(*it)),
        AgentKind::Demo | AgentKind::Own(_) => NONE,
    }
}

/// Returns the first such flag, as it is written. A user-defined command may run any agent, so its arguments are
/// checked against the unambiguous flags of all of them.
pub fn find_bypass_flag(kind: AgentKind, argv: &[String]) -> Option<String> {
    match kind {
        AgentKind::Own(_) | AgentKind::Acp(None) => KNOWN_KINDS
            .iter()
            .find_map(|it| find_flag(&BypassFlags { vague: &[], ..bypass_flags(*it) }, argv)),
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::Opencode
        | AgentKind::Qwen
        | AgentKind::Copilot
        | AgentKind::Cursor
        | AgentKind::Amp
        | AgentKind::Acp(Some(_))
        | AgentKind::Demo => find_flag(&bypass_flags(kind), argv),
    }
}

fn find_flag(bypass: &BypassFlags, argv: &[String]) -> Option<String> {
    let nexts = argv.iter().skip(1).map(String::as_str).chain([""]);
    argv.iter().zip(nexts).find_map(|(it, next)| {
        let (name, joined) = it.split_once('=').unwrap_or((it, ""));
        if bypass.flags.iter().chain(bypass.vague).any(|flag| name == *flag) && joined != "false" {
            return Some(it.clone());
        }
        let with_value = |flag: &str, value: &str| {
            if it == flag && equals_unquoted(next, value) {
                return Some(format!("{it} {next}"));
            }
            it.strip_prefix(flag).filter(|rest| equals_unquoted(rest, value)).map(|_| it.clone())
        };
        bypass.values.iter().find_map(|(flags, value)| flags.iter().find_map(|flag| with_value(flag, value)))
    })
}

/// Compares without the quotes of the configuration language.
fn equals_unquoted(written: &str, value: &str) -> bool {
    let bare = |it: char| !matches!(it, '"' | '\'' | ' ');
    written.trim_start_matches('=').chars().filter(|it| bare(*it)).eq(value.chars())
}

#[cfg(test)]
mod tests {
    use super::find_bypass_flag;
    use crate::command_line::CommandLineParams;
    use crate::kind::AgentKind;
    use crate::kind::Dialect;
    use crate::{PermissionMode, PromptBy};

    #[test]
    fn flags_that_bypass_permissions_are_known() {
        let check = |kind: AgentKind, argv: &[&str], expect: &str| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert_eq!(find_bypass_flag(kind, &argv).unwrap_or_default(), expect, "{kind:?} {argv:?}");
        };
        let mine = AgentKind::Own(Dialect::Text);
        let skip = "--dangerously-skip-permissions";
        check(AgentKind::Claude, &["claude", "-p", skip], skip);
        let mode = "--permission-mode bypassPermissions";
        check(
            AgentKind::Claude,
            &["--permission-mode", "plan", "--permission-mode", "bypassPermissions"],
            mode,
        );
        check(
            AgentKind::Claude,
            &["--permission-mode=bypassPermissions"],
            "--permission-mode=bypassPermissions",
        );
        check(AgentKind::Claude, &["--permission-mode", "plan", "--model", "bypassPermissions"], "");
        check(AgentKind::Codex, &["codex", "--yolo"], "--yolo");
        check(AgentKind::Codex, &["-sdanger-full-access"], "-sdanger-full-access");
        check(AgentKind::Codex, &["--sandbox=danger-full-access"], "--sandbox=danger-full-access");
        let by_key = "sandbox_mode = \"danger-full-access\"";
        check(AgentKind::Codex, &["-c", by_key], &format!("-c {by_key}"));
        check(AgentKind::Codex, &["-c", "sandbox_mode=\"workspace-write\""], "");
        check(AgentKind::Gemini, &["-y"], "-y");
        check(AgentKind::Qwen, &["--approval-mode=yolo"], "--approval-mode=yolo");
        check(AgentKind::Gemini, &["--yolo=false", "--approval-mode", "plan"], "");
        check(AgentKind::Acp(Some(&AgentKind::Gemini)), &["gemini", "--acp", "--yolo"], "--yolo");
        check(AgentKind::Opencode, &["opencode", "--auto"], "--auto");
        check(AgentKind::Amp, &["amp", "--dangerously-allow-all"], "--dangerously-allow-all");
        check(mine, &["./agent.sh", "-y", "-f", "--force", "--auto"], "");
        check(mine, &["npx", "claude", skip], skip);
        check(AgentKind::Acp(None), &["x", "--approval-mode", "yolo"], "--approval-mode yolo");
    }

    /// Flags of restricted modes are no bypass.
    #[test]
    fn our_own_flags_for_full_permissions_are_known() {
        for kind in crate::kind::KNOWN_KINDS {
            let line = |permissions| {
                kind.command_line(&CommandLineParams {
                    command: &["it".to_owned()],
                    permissions,
                    model: None,
                    effort: None,
                    args: &[],
                    checks: &[],
                    runner: None,
                    commits: None,
                    prompt: PromptBy::Stdin,
                })
            };
            assert_eq!(find_bypass_flag(kind, &line(PermissionMode::Edits).argv), None, "{kind:?}");
            // Amp is configured by its own settings alone.
            let is_found = find_bypass_flag(kind, &line(PermissionMode::All).argv).is_some();
            assert_eq!(is_found, kind != AgentKind::Amp, "{kind:?}");
        }
    }
}
