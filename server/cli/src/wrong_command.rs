//! Suggests a command for one that does not exist here.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use loopkeeper_text::tr;

/// Commands of other tools, and what does the same here.
const SYNONYMS: [(&[&str], &str); 17] = [
    (&["start", "go", "begin", "launch", "loop"], "run"),
    (&["new", "create", "add", "task"], "init --task SENTENCE"),
    (&["setup", "scaffold"], "init"),
    (&["continue", "unpause"], "resume"),
    (&["kill", "cancel", "abort", "end", "quit"], "stop"),
    (&["list", "ls", "ps", "loops", "tasks"], "status"),
    (&["undo", "revert", "restore", "reset-files"], "rollback"),
    (&["logs", "show", "history", "tail", "output"], "log"),
    (&["follow", "top", "ui", "tui"], "watch"),
    (&["test", "tests"], "check"),
    (&["lint", "grade", "validate"], "check --lint"),
    (&["changes"], "diff"),
    (&["hint", "tell", "say"], "steer"),
    (&["clean", "prune", "remove", "rm", "delete"], "gc"),
    (&["cost", "costs", "stats"], "insight"),
    (&["config", "settings"], "run --dry-run"),
    (&["version"], "--version"),
];

/// The hint for `error`, if it is about a command whose meaning is known; `None` leaves it to the general hint.
pub(super) fn hint(error: &clap::Error, args: &[String]) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    // Not a subcommand of one that exists.
    args.get(1).filter(|it| *it == word)?;
    let (_, command) = SYNONYMS.iter().find(|(words, _)| words.contains(&word.as_str()))?;
    Some(tr!("The command is `loopkeeper {command}` here; `--help` lists all.", command))
}

#[cfg(test)]
mod tests {
    use super::{SYNONYMS, hint};
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    fn hint_for(line: &str) -> Option<String> {
        let args: Vec<String> =
            std::iter::once("loopkeeper").chain(line.split(' ')).map(Into::into).collect();
        hint(&Cli::try_parse_from(&args).expect_err(line), &args)
    }

    #[test]
    fn a_command_of_another_tool_names_the_one_here() {
        let expect = "The command is `loopkeeper rollback` here; `--help` lists all.";
        assert_eq!(hint_for("undo").as_deref(), Some(expect));
        for (words, command) in SYNONYMS {
            for word in words {
                assert!(hint_for(word).is_some_and(|it| it.contains(command)), "{word}");
            }
            let name = command.split(' ').next().unwrap_or_default();
            assert!(name.starts_with('-') || Cli::command().find_subcommand(name).is_some(), "{command}");
        }
    }

    #[test]
    fn a_misspelt_command_is_left_to_the_parser() {
        assert_eq!(hint_for("stopp"), None);
        assert_eq!(hint_for("nonsense"), None);
        assert_eq!(hint_for("hook delete"), None);
    }
}
