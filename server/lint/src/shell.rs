//! Splits a shell command into simple commands and the operators between them. Supports only as much of the grammar as
//! decides which exit status counts; substitutions and compound commands are opaque words.

use std::ops::Range;

/// How a simple command follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlOperator {
    First,
    /// `;` or a line end.
    Then,
    And,
    Or,
    Pipe,
    /// `&`
    Background,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimpleCommand<'a> {
    pub(crate) operator: ControlOperator,
    /// The text without the operator and surrounding blanks.
    pub(crate) text: &'a str,
    /// Byte range in the whole command, with the operator at its start.
    pub(crate) range: Range<usize>,
    /// Unquoted words, redirections excluded.
    pub(crate) words: Vec<String>,
}

/// Programs and words of the shell that only start another program.
const LAUNCHERS: &[&str] = &[
    "env", "time", "nice", "command", "exec", "sudo", "npx", "bunx", "pnpx", "uvx", "xvfb-run", "!",
    "dotenv", "(", "{", "if", "then", "do", "nohup", "stdbuf",
];
/// `uv run pytest`, `poetry run mypy`, `pnpm exec jest`.
const RUNNERS: &[(&str, &[&str])] = &[
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("npm", &["exec", "x"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("nix", &["run"]),
    ("mise", &["exec"]),
];

impl SimpleCommand<'_> {
    /// The words from the program on: without assignments and launchers.
    pub(crate) fn program_words(&self) -> &[String] {
        let mut words = self.words.as_slice();
        loop {
            let Some(first) = words.first() else { return words };
            let second = words.get(1).map(String::as_str).unwrap_or_default();
            let launches = RUNNERS.iter().any(|(it, verbs)| first == it && verbs.contains(&second));
            let skipped = if is_assignment(first) || LAUNCHERS.contains(&first.as_str()) {
                1
            } else if launches || first == "timeout" {
                2
            } else {
                return words;
            };
            words = words.get(skipped..).unwrap_or_default();
            // Flags of the launcher, as in `npx --yes tsc`.
            while words.len() > 1 && words.first().is_some_and(|it| it.starts_with('-')) {
                words = words.get(1..).unwrap_or_default();
            }
        }
    }

    /// The program's name without its folder.
    pub(crate) fn program(&self) -> Option<&str> {
        let word = self.program_words().first()?;
        Some(word.rsplit('/').next().unwrap_or(word)).filter(|it| !it.is_empty())
    }

    /// The arguments of the program.
    pub(crate) fn arguments(&self) -> &[String] {
        self.program_words().get(1..).unwrap_or_default()
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}

/// The simple commands of a command line, in order.
pub(crate) fn segments(command: &str) -> Vec<SimpleCommand<'_>> {
    let mut all = Vec::new();
    let mut scanner = ShellScanner { command, at: 0 };
    let mut operator = ControlOperator::First;
    let mut start = 0;
    loop {
        let begin = scanner.at;
        let end = scanner.skip_to_operator();
        let text = command.get(begin..end).unwrap_or_default().trim();
        if !text.is_empty() {
            all.push(SimpleCommand { operator, text, range: start..end, words: words(text) });
        }
        start = end;
        match scanner.take_operator() {
            Some(next) => operator = next,
            None => break,
        }
    }
    all
}

/// Whether the command ends in `&`.
pub(crate) fn ends_in_background(command: &str) -> bool {
    let command = command.trim_end();
    command.ends_with('&') && !command.ends_with("&&")
}

struct ShellScanner<'a> {
    command: &'a str,
    at: usize,
}

impl ShellScanner<'_> {
    fn rest(&self) -> &str {
        self.command.get(self.at..).unwrap_or_default()
    }

    /// Moves to the next operator outside quotes, brackets and substitutions.
    fn skip_to_operator(&mut self) -> usize {
        let (mut depth, mut quote) = (0_usize, None);
        let mut previous = ' ';
        let mut escaped = false;
        for (offset, char) in self.rest().char_indices() {
            let here = self.at + offset;
            match (quote, char) {
                _ if escaped => escaped = false,
                (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => escaped = true,
                (Some(_), _) => {}
                (None, '\'' | '"' | '`') => quote = Some(char),
                (None, '(') => depth += 1,
                (None, ')') => depth = depth.saturating_sub(1),
                // `2>&1`, `>&2`, `&>file` are redirections.
                (None, '&') if previous == '>' || self.follows(here, "&>") => {}
                (None, ';' | '|' | '&' | '\n') if depth == 0 => {
                    self.at = here;
                    return here;
                }
                _ => {}
            }
            previous = char;
        }
        self.at = self.command.len();
        self.at
    }

    fn follows(&self, at: usize, text: &str) -> bool {
        self.command.get(at..).is_some_and(|it| it.starts_with(text))
    }

    fn take_operator(&mut self) -> Option<ControlOperator> {
        let operators = [
            ("&&", ControlOperator::And),
            ("||", ControlOperator::Or),
            ("|&", ControlOperator::Pipe),
            ("|", ControlOperator::Pipe),
            (";", ControlOperator::Then),
            ("\n", ControlOperator::Then),
            ("&", ControlOperator::Background),
        ];
        let (text, operator) = operators.into_iter().find(|(text, _)| self.rest().starts_with(text))?;
        self.at += text.len();
        Some(operator)
    }
}

/// Splits at blanks outside quotes, and removes quotes and redirections.
fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let (mut word, mut quote, mut started, mut escaped) = (String::new(), None, false, false);
    let text = text.trim_start_matches(['(', '{', ' ']).trim_end_matches([')', '}', ' ']);
    for char in text.chars() {
        match (quote, char) {
            _ if escaped => {
                word.push(char);
                escaped = false;
            }
            (Some(open), _) if open == char => quote = None,
            (Some('\''), _) => word.push(char),
            (_, '\\') => escaped = true,
            (Some(_), _) => word.push(char),
            (None, '\'' | '"') => {
                quote = Some(char);
                started = true;
            }
            (None, _) if char.is_whitespace() => {
                if started || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                started = false;
            }
            (None, _) => word.push(char),
        }
    }
    if started || !word.is_empty() {
        all.push(word);
    }
    without_redirections(all)
}

fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let target = word.trim_start_matches(|it: char| it.is_ascii_digit() || it == '&');
        if !target.starts_with(['>', '<']) {
            kept.push(word);
        } else if target.trim_start_matches(['>', '<', '&', '|']).is_empty() {
            // The target is the next word.
            words.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{ControlOperator, ends_in_background, segments};

    #[test]
    fn a_command_is_split_at_its_operators() {
        let shape = |command: &str| -> Vec<(ControlOperator, String)> {
            segments(command).into_iter().map(|it| (it.operator, it.text.to_owned())).collect()
        };
        let one = |operator, text: &str| (operator, text.to_owned());
        assert_eq!(shape("npm test"), [one(ControlOperator::First, "npm test")]);
        assert_eq!(
            shape("a && b || c; d | e & f"),
            [
                one(ControlOperator::First, "a"),
                one(ControlOperator::And, "b"),
                one(ControlOperator::Or, "c"),
                one(ControlOperator::Then, "d"),
                one(ControlOperator::Pipe, "e"),
                one(ControlOperator::Background, "f")
            ]
        );
        assert_eq!(shape("echo 'a; b' \"c && d\" $(e; f)").len(), 1);
        assert_eq!(
            shape("cmd 2>&1 | tee log"),
            [one(ControlOperator::First, "cmd 2>&1"), one(ControlOperator::Pipe, "tee log")]
        );
        assert_eq!(shape("cmd &> log").len(), 1);
        assert_eq!(shape("").len(), 0);
    }

    #[test]
    fn the_program_is_found_behind_launchers() {
        let program = |command: &str| segments(command)[0].program().map(str::to_owned);
        for (command, expect) in [
            ("npx --yes tsc --noEmit", "tsc"),
            ("CI=1 FOO=bar env pytest -q", "pytest"),
            ("uv run pytest", "pytest"),
            ("timeout 60 cargo test", "cargo"),
            ("./node_modules/.bin/jest", "jest"),
            ("(cd api", "cd"),
            ("! grep TODO src", "grep"),
        ] {
            assert_eq!(program(command).as_deref(), Some(expect), "{command}");
        }
        assert_eq!(segments("cat < in > out x")[0].words, ["cat", "x"]);
        assert!(ends_in_background("serve &") && !ends_in_background("a &&"));
    }
}
