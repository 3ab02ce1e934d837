//! The shell's `!` turns every failure into a success, also the failure to start: `! eslint src` passes on a machine
//! without ESLint. A check that consists of one negated pipeline therefore keeps the exit codes of such failures.

use std::borrow::Cow;

/// The script that runs a check's command: the command itself, or a negated pipeline with its exit code.
pub fn shell_script(command: &str) -> Cow<'_, str> {
    match negated_pipeline(command) {
        // On its own line, which also ends a comment.
        Some(pipeline) => Cow::Owned(format!(
            "{pipeline}\nstatus=$?; case $status in 126|127) exit $status;; 0) exit 1;; *) exit 0;; esac"
        )),
        None => Cow::Borrowed(command),
    }
}

/// The pipeline after `!`, if nothing else follows. `None` for everything that would need a complete parser.
fn negated_pipeline(command: &str) -> Option<&str> {
    let pipeline = command.trim_start().strip_prefix('!')?;
    let is_negation = pipeline.starts_with([' ', '\t']);
    (is_negation && is_one_pipeline(pipeline)).then(|| pipeline.trim())
}

fn is_one_pipeline(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut previous = ' ';
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match character {
            '\'' | '"' if !skip_quoted(&mut characters, character) => return false,
            '\\' if characters.next().is_none() => return false,
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            '`' | '\n' => return false,
            '<' if next == '<' => return false,
            // Only `2>&1` and the like, not a job in the background.
            '&' if !matches!(previous, '<' | '>') => return false,
            ';' if depth == 0 => return false,
            '|' if next == '|' && depth == 0 => return false,
            _ => {}
        }
        previous = character;
    }
    depth == 0
}

/// Skips the rest of a quoted word; false if it does not end, or contains a substitution with quotes of its own.
fn skip_quoted(characters: &mut impl Iterator<Item = char>, quote: char) -> bool {
    while let Some(character) = characters.next() {
        match character {
            it if it == quote => return true,
            '\\' if quote == '"' => drop(characters.next()),
            '`' | '(' if quote == '"' => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{negated_pipeline, shell_script};

    #[test]
    fn one_negated_pipeline_is_recognised() {
        for (command, pipeline) in [
            ("! grep -rn TODO src", "grep -rn TODO src"),
            ("  !\teslint . 2>&1", "eslint . 2>&1"),
            ("! git diff | grep -q 'a; b && c'", "git diff | grep -q 'a; b && c'"),
            ("! grep -q x file # none", "grep -q x file # none"),
            ("! (cd web; npm test)", "(cd web; npm test)"),
            ("! test -e $(pwd)/a", "test -e $(pwd)/a"),
        ] {
            assert_eq!(negated_pipeline(command), Some(pipeline), "{command}");
        }
    }

    #[test]
    fn other_commands_run_unchanged() {
        for command in [
            "cargo test",
            "!eslint",
            "!",
            "! a && b",
            "! a || b",
            "! a; b",
            "! a &",
            "! a &> b",
            "! a\nb",
            "! { a; }",
            "! cat << end",
            "! cat file # none; at all",
            "! echo `a`",
            "! echo \"$(a \"b\")\"",
            "! echo 'a",
            "! echo \"a",
            "! echo \\",
            "! (a",
            "! a)",
            "test ! -e a",
            "cd web && ! eslint .",
        ] {
            assert_eq!(shell_script(command), command);
        }
    }
}
