//! Suggests a flag or command for a flag of other tools that does not exist here.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

/// Flags of other tools, and what does the same here: flags, of which the first that the subcommand has is named.
const SYNONYMS: [(&[&str], &[&str]); 10] = [
    (&["-y", "--yes", "--assume-yes", "--no-confirm"], &["trust", "anyway"]),
    (&["-f", "--force"], &["anyway", "now"]),
    (&["-d", "--background", "--daemon", "--bg"], &["detach"]),
    (&["-n", "--iterations", "--max-iters", "--max-loops", "--loops"], &["max-iterations"]),
    (&["--budget", "--max-budget", "--cost", "--max-budget-usd"], &["max-cost"]),
    (&["--timeout", "--time", "--max-runtime", "--max-time"], &["max-duration"]),
    (&["--promise"], &["completion-promise"]),
    (&["-p", "--message", "--task"], &["prompt"]),
    (&["--test", "--verify", "--gate"], &["check"]),
    (&["--dryrun", "--plan", "--preview"], &["dry-run"]),
];

/// Flags whose effect another command or a setting has here: subcommand (empty: any), flags, remedy.
const MISPLACED_FLAGS: [(&str, &[&str], &str); 8] = [
    ("log", &["-f", "--follow"], tr_later!("`loopkeeper watch` follows a loop")),
    ("status", &["-f", "--follow", "-w", "--watch"], tr_later!("`loopkeeper watch` follows a loop")),
    ("status", &["-a", "--all"], tr_later!("`status` lists the loops of every folder without a flag")),
    ("check", &["-a", "--all"], tr_later!("`check` runs every check without a flag")),
    (
        "trust",
        &["-y", "--yes", "-f", "--force"],
        tr_later!("to trust without a question, pass `--trust` to `run` or `check`"),
    ),
    ("diff", &["--stat", "--name-only"], tr_later!("pipe it: `loopkeeper diff LOOP | git apply --stat`")),
    (
        "",
        &["-m", "--model"],
        tr_later!("set `agents.NAME.model` in loopkeeper.toml, such as `agents.claude.model`"),
    ),
    ("", &["-v", "--verbose", "--debug"], tr_later!("set the environment variable `LOOPKEEPER_LOG=debug`")),
];

/// The hint for `error`, if it is about a flag whose meaning is known; `None` leaves it to the general hint.
pub(super) fn hint(error: &clap::Error, root: &clap::Command, args: &[String]) -> Option<String> {
    let flag = unknown_flag(error)?;
    let command = args.iter().skip(1).find_map(|word| root.find_subcommand(word))?;
    if command.get_name() == "init" && !flag.starts_with('-') {
        return Some(tr!("`init --task \"{words}\"` writes a task for one sentence.", words = flag));
    }
    remedy(command, &flag)
}

fn unknown_flag(error: &clap::Error) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => Some(flag.clone()),
        _ => None,
    }
}

fn remedy(command: &clap::Command, flag: &str) -> Option<String> {
    let of_command = |it: &&(&str, &[&str], &'static str)| it.0 == command.get_name() && it.1.contains(&flag);
    if let Some((_, _, remedy)) = MISPLACED_FLAGS.iter().find(of_command) {
        return Some(translate(remedy).to_owned());
    }
    let has = |long: &str| command.get_arguments().any(|it| it.get_long() == Some(long));
    let names = SYNONYMS.iter().filter(|(flags, _)| flags.contains(&flag)).flat_map(|(_, longs)| *longs);
    if let Some(long) = names.copied().find(|long| has(long)) {
        return Some(tr!(
            "The flag is `--{long}` here; `{command} --help` lists all.",
            long,
            command = command.get_name()
        ));
    }
    let of_any = |it: &&(&str, &[&str], &'static str)| it.0.is_empty() && it.1.contains(&flag);
    MISPLACED_FLAGS.iter().find(of_any).map(|(_, _, remedy)| translate(remedy).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn a_flag_of_another_tool_names_the_one_here() {
        for (line, expected) in [
            ("rollback latest 0 --yes", "`--anyway`"),
            ("stop --force", "`--now`"),
            ("stop -f", "`--now`"),
            ("run --yes", "`--trust`"),
            ("check -y", "`--trust`"),
            ("resume --force", "`--anyway`"),
            ("run --background", "`--detach`"),
            ("run -d", "`--detach`"),
            ("run --max-loops 3", "`--max-iterations`"),
            ("run --model opus", "`agents.claude.model`"),
            ("check --all", "without a flag"),
            ("status --all", "every folder"),
            ("log --follow", "`loopkeeper watch`"),
            ("diff --stat", "git apply --stat"),
            ("trust -y", "`--trust`"),
            ("init faster", "`init --task \"faster\"`"),
            ("log --verbose", "LOOPKEEPER_LOG=debug"),
        ] {
            let args: Vec<String> =
                std::iter::once("loopkeeper").chain(line.split(' ')).map(Into::into).collect();
            let error = Cli::try_parse_from(&args).expect_err(line);
            let hint = hint(&error, &Cli::command(), &args);
            assert!(hint.as_deref().is_some_and(|it| it.contains(expected)), "{line}: {hint:?}");
        }
    }

    #[test]
    fn an_unknown_flag_without_a_counterpart_has_no_hint_of_its_own() {
        for line in ["stop --later", "status --trust", "nonsense --yes", "diff latest seven"] {
            let args: Vec<String> =
                std::iter::once("loopkeeper").chain(line.split(' ')).map(Into::into).collect();
            let error = Cli::try_parse_from(&args).expect_err(line);
            assert_eq!(hint(&error, &Cli::command(), &args), None, "{line}");
        }
    }
}
