//! Parses `LOOPKEEPER_LOG`, which selects the spans and events to log.

use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;
use thiserror::Error;
use tracing_subscriber::filter::Targets;

const VARIABLE: &str = "LOOPKEEPER_LOG";

/// Crates whose events reach the log; `loopkeeper` selects all of ours.
const CRATES: [&str; 8] = [
    "loopkeeper",
    "loopkeeper_cli",
    "loopkeeper_keeper",
    "loopkeeper_lsp",
    "loopkeeper_operations",
    "loopkeeper_system",
    "loopkeeper_workspace",
    "tower_lsp",
];

/// The variable cannot be read as a filter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", tr!("`LOOPKEEPER_LOG` is \"{value}\": {problem}", value, problem))]
pub struct LogFilterError {
    value: String,
    problem: String,
}

impl HintedError for LogFilterError {
    fn hint(&self) -> Option<String> {
        let hint = tr!(
            "set it to off, error, warn, info, debug or trace, or to a list such as `info,loopkeeper_keeper=trace`"
        );
        Some(hint.to_owned())
    }
}

/// The filter from the environment; `None` if the variable is unset or empty.
pub fn filter_from_env() -> Result<Option<Targets>, LogFilterError> {
    let value = std::env::var_os(VARIABLE).unwrap_or_default();
    parse(&value.to_string_lossy())
}

pub(super) fn parse(value: &str) -> Result<Option<Targets>, LogFilterError> {
    let directives: Vec<&str> = value.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    if directives.is_empty() {
        return Ok(None);
    }
    let error = |problem: String| LogFilterError { value: value.to_owned(), problem };
    let targets: Targets = directives.join(",").parse().map_err(|it| error(format!("{it}")))?;
    // A mistyped level would be read as the name of a crate and log nothing.
    let unknown = targets.iter().find(|(target, _)| !is_known(target)).map(|(target, _)| target.to_owned());
    match unknown {
        Some(target) => Err(error(tr!("`{target}` is neither a level nor a module of loopkeeper", target))),
        None => Ok(Some(targets)),
    }
}

fn is_known(target: &str) -> bool {
    target.split("::").next().is_some_and(|it| CRATES.contains(&it))
}
