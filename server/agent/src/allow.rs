//! Commands that an agent may run without asking: exactly the task's check commands and the detected test runner.
//! Formatted as rules of Claude Code; never wider than what the user trusted.

/// Test runners by the file at the root that indicates them, the most specific first.
const RUNNERS: &[(&str, &str)] = &[
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test"),
    ("package.json", "npm test"),
    ("pytest.ini", "pytest"),
    ("pyproject.toml", "pytest"),
    ("tox.ini", "pytest"),
    ("mix.exs", "mix test"),
    ("Makefile", "make test"),
    ("makefile", "make test"),
];

/// The test runner indicated by a file name at the root.
pub fn test_runner(names_at_root: &[String]) -> Option<&'static str> {
    RUNNERS.iter().find(|(file, _)| names_at_root.iter().any(|name| name == file)).map(|(_, runner)| *runner)
}

/// Builds rules for Claude Code's permission settings, sorted and without duplicates.
///
/// A rule has to equal the command. Backslashes and parentheses are escaped; `*` is a wildcard that cannot be escaped,
/// so a command with one gets no rule: the agent is denied it, but loopkeeper runs it anyway.
pub fn claude_allow_rules(commands: &[String], runner: Option<&str>) -> Vec<String> {
    let piped =
        |command| Some(pipeline_heads(command)).filter(|it| it.has_pipe).map_or_else(Vec::new, |it| it.parts);
    let mut rules: Vec<String> = commands
        .iter()
        .flat_map(|command| std::iter::once(command.trim()).chain(piped(command)))
        .filter(|command| !command.is_empty() && !command.contains(['*', '\n']))
        .map(exact_rule)
        .collect();
    if let Some(runner) = runner {
        rules.push(format!("Bash({runner})"));
        rules.push(format!("Bash({runner} *)"));
    }
    rules.sort();
    rules.dedup();
    rules
}

/// The unchanged commands, each once and in order, for agents that judge the parts of a line separately.
pub fn allowed_commands(commands: &[String], runner: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for command in commands {
        let parts = pipeline_heads(command).parts;
        for part in std::iter::once(command.trim()).chain(parts).chain(runner) {
            if !part.is_empty() && !part.contains('\n') && !all.iter().any(|it| it == part) {
                all.push(part.to_owned());
            }
        }
    }
    all
}

fn exact_rule(command: &str) -> String {
    let mut rule = String::from("Bash(");
    for c in command.chars() {
        if matches!(c, '\\' | '(' | ')') {
            rule.push('\\');
        }
        rule.push(c);
    }
    rule.push(')');
    rule
}

/// The parts of a command that read from no pipe, and whether there are parts that do.
struct PipelineHeads<'a> {
    parts: Vec<&'a str>,
    has_pipe: bool,
}

/// The first stage of each pipeline: agents judge the stages separately (Claude Code if there are pipes), so the rule
/// for the whole line is not enough. Later stages are left out because on their own they would run any input from the
/// agent (`| sh`), which the user did not trust.
fn pipeline_heads(command: &str) -> PipelineHeads<'_> {
    let mut parts = Vec::new();
    let (mut start, mut is_fed, mut has_pipe) = (0, false, false);
    for (at, length, separator) in separators(command) {
        if !is_fed {
            parts.push(command.get(start..at).unwrap_or_default().trim());
        }
        is_fed = separator == ShellSeparator::Pipe;
        has_pipe |= is_fed;
        start = at + length;
    }
    if !is_fed {
        parts.push(command.get(start..).unwrap_or_default().trim());
    }
    PipelineHeads { parts, has_pipe }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ShellSeparator {
    Pipe,
    Sequence,
}

/// Top-level `|`, `&&`, `||`, `;` with byte offset and length: outside quotes, escapes and brackets.
fn separators(command: &str) -> Vec<(usize, usize, ShellSeparator)> {
    let mut found = Vec::new();
    let (mut quote, mut depth) = (None, 0_u32);
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => quote = None,
            (None | Some('"' | '`'), '\\') => drop(chars.next()),
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth > 0 => {}
            (None, '|' | '&') if chars.next_if(|(_, next)| *next == c).is_some() => {
                found.push((at, 2, ShellSeparator::Sequence));
            }
            (None, '|') => found.push((at, 1, ShellSeparator::Pipe)),
            (None, ';') => found.push((at, 1, ShellSeparator::Sequence)),
            (None, _) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{claude_allow_rules, test_runner};

    fn check(commands: &[&str], runner: Option<&str>, expect: &[&str]) {
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        assert_eq!(claude_allow_rules(&commands, runner), expect, "{commands:?}");
    }

    #[test]
    fn rules_are_never_wider_than_the_commands() {
        check(&[], None, &[]);
        check(&["sh test.sh"], None, &["Bash(sh test.sh)"]);
        check(&["sh test.sh", " sh test.sh "], None, &["Bash(sh test.sh)"]);
        check(&["a && b; c"], None, &["Bash(a && b; c)"]);
        // A wildcard cannot be escaped.
        check(&["ls *.txt"], None, &[]);
        check(&["python3 -c 'print(\"a\\\\b\")'"], None, &["Bash(python3 -c 'print\\(\"a\\\\\\\\b\"\\)')"]);
        check(
            &["cargo test 2>&1 | tail -5"],
            None,
            &["Bash(cargo test 2>&1 | tail -5)", "Bash(cargo test 2>&1)"],
        );
        // A command that reads from a pipe is not allowed on its own.
        check(&["cat x | sh"], None, &["Bash(cat x | sh)", "Bash(cat x)"]);
        check(&["a | b && c"], None, &["Bash(a | b && c)", "Bash(a)", "Bash(c)"]);
        check(&["a || b"], None, &["Bash(a || b)"]);
        check(&["grep 'x|y' f"], None, &["Bash(grep 'x|y' f)"]);
        check(&["test \"$(a | b)\" -ge 1"], None, &["Bash(test \"$\\(a | b\\)\" -ge 1)"]);
        check(&["test $(a | b) -ge 1"], None, &["Bash(test $\\(a | b\\) -ge 1)"]);
        check(&["(a | b) | c"], None, &["Bash(\\(a | b\\) | c)", "Bash(\\(a | b\\))"]);
    }

    #[test]
    fn the_runner_may_be_called_with_arguments() {
        check(&["cargo test"], Some("cargo test"), &["Bash(cargo test *)", "Bash(cargo test)"]);
    }

    #[test]
    fn the_runner_is_found_by_the_files_at_the_root() {
        for (names, expect) in [
            (vec!["README.md"], None),
            (vec!["Cargo.toml", "Makefile"], Some("cargo test")),
            (vec!["pyproject.toml"], Some("pytest")),
            (vec!["Makefile"], Some("make test")),
            (vec!["xCargo.toml"], None),
        ] {
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            assert_eq!(test_runner(&names), expect, "{names:?}");
        }
    }
}
