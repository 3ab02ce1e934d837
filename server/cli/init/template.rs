//! The text of a first task file. It is read by people, by the agent and by our own parser.

use std::fmt::Write;

use super::FoundCheck;

const BEGINNING: &str = "\
# Say in one line what should be done

Describe here what should be different when the work is done: what you want, where it belongs, what must stay as
it is. The agent is given this whole file at the start of every iteration and remembers nothing else.

## Completion criteria

<!--
The loop is done when every item of this list holds. What stands in backticks is a check, which loopkeeper runs
itself in the root of the project; add one for what you want to have changed, for example:

- The importer's tests pass: `$ cargo test importer`
- At least 80 % of the lines are covered: `$ ./coverage.sh` `>= 80`
- The guide is written: `exists docs/guide.md`
- It mentions the new option: `has \"--dry-run\" docs/guide.md`
- Nothing is left open: `lacks /TODO|FIXME/ src/**`

A command begins with \"$ \" and must exit with 0. An item without a check counts only on the agent's word.
-->

";

const WITHOUT_CHECKS: &str = "- What is described above is done\n";

/// The document, with one criterion for each check.
pub(super) fn task(checks: &[FoundCheck]) -> String {
    let mut text = BEGINNING.to_owned();
    for check in checks {
        let _ = writeln!(text, "- {}: `$ {}`", check.name, check.command);
    }
    if checks.is_empty() {
        text.push_str(WITHOUT_CHECKS);
    }
    text
}
