//! The commands of the terminal that a hint names, as data: clients show their own command of the same effect instead.

use serde::{Deserialize, Serialize};

/// A command of the terminal in the hint of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HintCommand {
    /// As the message has it between backticks: `loopkeeper stop ID`.
    pub(crate) text: String,
    pub(crate) name: HintCommandName,
}

/// The commands for which editors have one of the same effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum HintCommandName {
    Run,
    Status,
    Watch,
    Stop,
    Pause,
    Resume,
    Steer,
    Answer,
    Rollback,
    Trust,
}

/// The commands between backticks in a hint, each once. Only the hint is read: the fact before it may quote an agent.
pub(crate) fn hint_commands(hint: Option<&str>) -> Vec<HintCommand> {
    let spans = hint.unwrap_or_default().split('`').skip(1).step_by(2);
    let mut all: Vec<HintCommand> = Vec::new();
    for text in spans {
        let Some(name) = command_name(text) else { continue };
        if all.iter().all(|it| it.text != text) {
            all.push(HintCommand { text: text.to_owned(), name });
        }
    }
    all
}

/// `None` for a command whose arguments no editor's command has: options, and the paths of a rollback.
fn command_name(text: &str) -> Option<HintCommandName> {
    let mut words = text.strip_prefix("loopkeeper ")?.split(' ');
    let name = match words.next()? {
        "run" => HintCommandName::Run,
        "status" => HintCommandName::Status,
        "watch" => HintCommandName::Watch,
        "stop" => HintCommandName::Stop,
        "pause" => HintCommandName::Pause,
        "resume" => HintCommandName::Resume,
        "steer" => HintCommandName::Steer,
        "answer" => HintCommandName::Answer,
        "rollback" => HintCommandName::Rollback,
        "trust" => HintCommandName::Trust,
        _ => return None,
    };
    let arguments: Vec<&str> = words.collect();
    let is_list = |it: &&str| name == HintCommandName::Rollback && *it == "--list";
    let has_option = arguments.iter().any(|it| it.starts_with("--") && !is_list(it));
    let has_paths = name == HintCommandName::Rollback && arguments.len() > 2;
    (!has_option && !has_paths).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::hint_commands;

    #[test]
    fn commands_of_a_hint_are_data() {
        let check = |hint: &str, expect: &[&str]| {
            let named: Vec<String> =
                hint_commands(Some(hint)).iter().map(|it| format!("{}: {:?}", it.text, it.name)).collect();
            assert_eq!(named, expect, "{hint}");
        };
        check("`loopkeeper run` starts a new one", &["loopkeeper run: Run"]);
        check(
            "`loopkeeper resume x` continues it, `loopkeeper stop x` ends it",
            &["loopkeeper resume x: Resume", "loopkeeper stop x: Stop"],
        );
        check(
            "`loopkeeper rollback x --list` shows the iterations",
            &["loopkeeper rollback x --list: Rollback"],
        );
        check("`loopkeeper rollback x 3` restores it", &["loopkeeper rollback x 3: Rollback"]);
        check("`loopkeeper run`, or `loopkeeper run`", &["loopkeeper run: Run"]);
        // The commands of editors do something else, or there is none.
        check("`loopkeeper rollback x 0 calc.py` restores it", &[]);
        check("`loopkeeper resume x --more 10` continues", &[]);
        check("`loopkeeper run --prompt` starts it again", &[]);
        check("`loopkeeper stop --now x` ends it", &[]);
        check("`loopkeeper doctor` shows it; `claude login`, then again", &[]);
        check("loopkeeper run", &[]);
        check("`loopkeeper ", &[]);
        check("", &[]);
    }
}
