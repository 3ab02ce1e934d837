//! Words of a command line by which an agent asks nobody any more, whatever is said elsewhere. Those of Claude Code
//! and Codex were measured to do so beside our own; Gemini CLI and Qwen Code refuse to start with both, except where
//! they speak the protocol. The rest is what their help says.

use super::kind::{KNOWN, Kind};

/// The flags of one agent, and the values by which others of its flags mean the same.
struct Words {
    flags: &'static [&'static str],
    /// They can mean anything to a program that nobody knows.
    vague: &'static [&'static str],
    values: &'static [(&'static [&'static str], &'static str)],
}

const NONE: Words = Words { flags: &[], vague: &[], values: &[] };

fn words(kind: Kind) -> Words {
    const APPROVAL: &[&str] = &["--approval-mode"];
    match kind {
        Kind::Claude => Words {
            flags: &["--dangerously-skip-permissions"],
            values: &[(&["--permission-mode"], "bypassPermissions")],
            ..NONE
        },
        Kind::Codex => Words {
            flags: &["--dangerously-bypass-approvals-and-sandbox", "--yolo"],
            values: &[
                (&["-s", "--sandbox"], "danger-full-access"),
                (&["-c", "--config"], "sandbox_mode=danger-full-access"),
            ],
            ..NONE
        },
        Kind::Gemini | Kind::Qwen => {
            Words { flags: &["--yolo"], vague: &["-y"], values: &[(APPROVAL, "yolo")] }
        }
        Kind::Opencode => Words { vague: &["--auto"], ..NONE },
        Kind::Copilot => Words { flags: &["--allow-all", "--allow-all-tools", "--yolo"], ..NONE },
        Kind::Cursor => Words { flags: &["--yolo"], vague: &["--force", "-f"], ..NONE },
        Kind::Amp => Words { flags: &["--dangerously-allow-all"], ..NONE },
        Kind::Acp(known) => known.map_or(NONE, |it| words(*it)),
        Kind::Demo | Kind::Own(_) => NONE,
    }
}

/// The first such word, as it is written. `kind`: of a command of the user's own nobody knows whose words it takes, so
/// those of all count that can mean nothing else.
pub fn word(kind: Kind, argv: &[String]) -> Option<String> {
    match kind {
        Kind::Own(_) | Kind::Acp(None) => {
            KNOWN.iter().find_map(|it| found(&Words { vague: &[], ..words(*it) }, argv))
        }
        _ => found(&words(kind), argv),
    }
}

fn found(words: &Words, argv: &[String]) -> Option<String> {
    let nexts = argv.iter().skip(1).map(String::as_str).chain([""]);
    argv.iter().zip(nexts).find_map(|(it, next)| {
        let (name, joined) = it.split_once('=').unwrap_or((it, ""));
        if words.flags.iter().chain(words.vague).any(|flag| name == *flag) && joined != "false" {
            return Some(it.clone());
        }
        let says = |flag: &str, value: &str| {
            if it == flag && same(next, value) {
                return Some(format!("{it} {next}"));
            }
            it.strip_prefix(flag).filter(|rest| same(rest, value)).map(|_| it.clone())
        };
        words.values.iter().find_map(|(flags, value)| flags.iter().find_map(|flag| says(flag, value)))
    })
}

/// Quotes are those of a configuration's language.
fn same(written: &str, value: &str) -> bool {
    let bare = |it: char| !matches!(it, '"' | '\'' | ' ');
    written.trim_start_matches('=').chars().filter(|it| bare(*it)).eq(value.chars())
}

#[cfg(test)]
mod tests {
    use super::word;
    use crate::agent::kind::Kind;
    use crate::agent::starting::Start;
    use crate::settings::{Dialect, Permissions, PromptBy};

    #[test]
    fn whatever_asks_nobody_any_more_is_known() {
        let check = |kind: Kind, argv: &[&str], expect: &str| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert_eq!(word(kind, &argv).unwrap_or_default(), expect, "{kind:?} {argv:?}");
        };
        let mine = Kind::Own(Dialect::Text);
        let skip = "--dangerously-skip-permissions";
        check(Kind::Claude, &["claude", "-p", skip], skip);
        let mode = "--permission-mode bypassPermissions";
        check(Kind::Claude, &["--permission-mode", "plan", "--permission-mode", "bypassPermissions"], mode);
        check(Kind::Claude, &["--permission-mode=bypassPermissions"], "--permission-mode=bypassPermissions");
        check(Kind::Claude, &["--permission-mode", "plan", "--model", "bypassPermissions"], "");
        check(Kind::Codex, &["codex", "--yolo"], "--yolo");
        check(Kind::Codex, &["-sdanger-full-access"], "-sdanger-full-access");
        check(Kind::Codex, &["--sandbox=danger-full-access"], "--sandbox=danger-full-access");
        let by_key = "sandbox_mode = \"danger-full-access\"";
        check(Kind::Codex, &["-c", by_key], &format!("-c {by_key}"));
        check(Kind::Codex, &["-c", "sandbox_mode=\"workspace-write\""], "");
        check(Kind::Gemini, &["-y"], "-y");
        check(Kind::Qwen, &["--approval-mode=yolo"], "--approval-mode=yolo");
        check(Kind::Gemini, &["--yolo=false", "--approval-mode", "plan"], "");
        check(Kind::Acp(Some(&Kind::Gemini)), &["gemini", "--acp", "--yolo"], "--yolo");
        check(Kind::Opencode, &["opencode", "--auto"], "--auto");
        check(Kind::Amp, &["amp", "--dangerously-allow-all"], "--dangerously-allow-all");
        check(mine, &["./agent.sh", "-y", "-f", "--force", "--auto"], "");
        check(mine, &["npx", "claude", skip], skip);
        check(Kind::Acp(None), &["x", "--approval-mode", "yolo"], "--approval-mode yolo");
    }

    /// What our own setting does is among what is known, and what it does without is not.
    #[test]
    fn our_own_words_for_it_are_among_them() {
        for kind in crate::agent::kind::KNOWN {
            let line = |permissions| {
                kind.line(&Start {
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
            assert_eq!(word(kind, &line(Permissions::Edits).argv), None, "{kind:?}");
            // Amp is told by its own settings alone.
            let is_told = word(kind, &line(Permissions::All).argv).is_some();
            assert_eq!(is_told, kind != Kind::Amp, "{kind:?}");
        }
    }
}
