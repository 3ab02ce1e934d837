//! The text of a first task file, which is read by the user, the agent and our own parser.

use std::collections::BTreeMap;
use std::fmt::Write;

use loopkeeper_task::template::{DESCRIPTION, TITLE};

use super::FoundCheck;

/// The location of the file: its checks run in the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplateLocation {
    Root,
    Below,
}

const SECTION: &str = "\
## Completion criteria

<!--
The loop is done when every item of this list holds. Text in backticks is a check, which loopkeeper runs
itself in the root of the project; add one for what you want to have changed, for example:

- The importer's tests pass: `$ cargo test importer`
- At least 80 % of the lines are covered: `$ ./coverage.sh` `>= 80`
- The guide is written: `exists docs/guide.md`
- It mentions the new option: `has \"--dry-run\" docs/guide.md`
- Nothing is left open: `lacks /TODO|FIXME/ src/**`

A command begins with \"$ \" and must exit with 0. An item without a check can only be claimed by the agent.
";

const BELOW: &str = "\
This file is below the root of the project: its commands begin with `cd`, its paths with the name of its folder.
";

const WITHOUT_CHECKS: &str = "- What is described above is done\n";

/// The document, with one criterion for each check. `comments` are those of commands that were tried.
pub(super) fn task(
    checks: &[FoundCheck],
    comments: &BTreeMap<String, String>,
    place: TemplateLocation,
) -> String {
    let mut text = format!("{TITLE}\n\n{DESCRIPTION}\n\n{SECTION}");
    if place == TemplateLocation::Below {
        text.push_str(BELOW);
    }
    text.push_str("-->\n\n");
    for check in checks {
        let comment = comments.get(&check.command).map_or(String::new(), |it| format!(" {it}"));
        let _ = writeln!(text, "- {}: `$ {}`{comment}", check.criterion(), check.command);
    }
    if checks.is_empty() {
        text.push_str(WITHOUT_CHECKS);
    }
    text
}
