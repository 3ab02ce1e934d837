//! How Claude Code is started headless: arguments and environment. The prompt goes to stdin.

use serde_json::json;

use crate::agent::allow;
use crate::settings::Permissions;

/// What of the settings and the task shapes the command line.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The program as found, with what the user wants in front of every other argument.
    pub command: &'a [String],
    pub permissions: Permissions,
    pub model: Option<&'a str>,
    /// The user's own arguments.
    pub args: &'a [String],
    /// The commands of the task's checks.
    pub checks: &'a [String],
    /// The detected test runner ([`allow::test_runner`]).
    pub runner: Option<&'a str>,
}

/// The whole argv; `{session}` stands for the iteration's session id.
///
/// The rules go through `--settings` and not through `--allowedTools`: that flag splits its values at commas,
/// spaces and parentheses, so that many commands would not arrive as they are written.
pub fn argv(start: &Start<'_>) -> Vec<String> {
    let fixed = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", "{session}"];
    let mut argv = start.command.to_vec();
    argv.extend(fixed.map(str::to_owned));
    match start.permissions {
        Permissions::Edits => {
            argv.extend(["--permission-mode", "acceptEdits"].map(str::to_owned));
            let rules = allow::rules(start.checks, start.runner);
            if !rules.is_empty() {
                argv.extend(["--settings".to_owned(), settings(&rules)]);
            }
        }
        Permissions::SandboxedAll | Permissions::All => {
            argv.push("--dangerously-skip-permissions".to_owned());
        }
    }
    if let Some(model) = start.model {
        argv.extend(["--model".to_owned(), model.to_owned()]);
    }
    argv.extend_from_slice(start.args);
    argv
}

/// The same, for a session that the agent began before: `--session-id` would be refused as used already.
pub fn resuming(argv: &[String]) -> Vec<String> {
    let before = argv.iter().map(String::as_str).zip(argv.iter().skip(1).map(String::as_str).chain([""]));
    let word = |(it, next): (&str, &str)| match (it, next) {
        ("--session-id", "{session}") => "--resume".to_owned(),
        _ => it.to_owned(),
    };
    before.map(word).collect()
}

/// Braces inside commands are written as escapes, so that none of them can be taken for a placeholder.
fn settings(rules: &[String]) -> String {
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| json!(rule).to_string().replace('{', "\\u007b").replace('}', "\\u007d"))
        .collect();
    format!(r#"{{"permissions":{{"allow":[{}]}}}}"#, rules.join(","))
}

/// Added to the agent's environment; what the user sets wins.
///
/// Background tasks would outlive their turn and yield a second `result`; retries are loopkeeper's, which
/// records them, so that the CLI's own ten do not hide a bad key for minutes.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// Besides, for [`Permissions::SandboxedAll`] inside a PID namespace: root is refused otherwise.
pub const SANDBOXED: (&str, &str) = ("IS_SANDBOX", "1");

#[cfg(test)]
mod tests {
    use super::{Start, argv, resuming};
    use crate::settings::Permissions;

    fn check(permissions: Permissions, commands: &[&str], expect: &[&str]) {
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        let args = vec!["--effort".to_owned(), "low".to_owned()];
        let start = Start {
            command: &["/bin/claude".to_owned()],
            permissions,
            model: Some("m"),
            args: &args,
            checks: &commands,
            runner: None,
        };
        let fixed =
            ["/bin/claude", "-p", "--output-format", "stream-json", "--verbose", "--session-id", "{session}"];
        let expect: Vec<&str> = fixed
            .into_iter()
            .chain(expect.iter().copied())
            .chain(["--model", "m", "--effort", "low"])
            .collect();
        assert_eq!(argv(&start), expect);
    }

    #[test]
    fn the_command_line_says_what_is_permitted() {
        check(Permissions::Edits, &[], &["--permission-mode", "acceptEdits"]);
        check(
            Permissions::Edits,
            &["sh test.sh", "test \"{session}\" = x"],
            &[
                "--permission-mode",
                "acceptEdits",
                "--settings",
                r#"{"permissions":{"allow":["Bash(sh test.sh)","Bash(test \"\u007bsession\u007d\" = x)"]}}"#,
            ],
        );
        check(Permissions::All, &["sh test.sh"], &["--dangerously-skip-permissions"]);
        check(Permissions::SandboxedAll, &[], &["--dangerously-skip-permissions"]);
    }

    #[test]
    fn a_session_that_exists_is_resumed() {
        let check = |argv: &[&str], expect: &[&str]| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert_eq!(resuming(&argv), expect);
        };
        check(
            &["claude", "-p", "--session-id", "{session}", "-x"],
            &["claude", "-p", "--resume", "{session}", "-x"],
        );
        check(&["claude", "--session-id", "mine"], &["claude", "--session-id", "mine"]);
        check(&["claude", "--session-id"], &["claude", "--session-id"]);
        check(&[], &[]);
    }

    #[test]
    fn the_rules_survive_their_encoding() {
        let commands = vec!["awk '{print \"}\"}' a\tb 'é\"\\'".to_owned()];
        let start = Start {
            command: &["claude".to_owned()],
            permissions: Permissions::Edits,
            model: None,
            args: &[],
            checks: &commands,
            runner: Some("cargo test"),
        };
        let argv = argv(&start);
        let settings: serde_json::Value = serde_json::from_str(argv.last().unwrap()).unwrap();
        let expect = crate::agent::allow::rules(&commands, Some("cargo test"));
        assert_eq!(settings["permissions"]["allow"], serde_json::json!(expect));
    }
}
