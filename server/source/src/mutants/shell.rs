//! Mutants of shell scripts: tests, `&&` and `||`, constants, statuses, arithmetic, statements that only compute or
//! print, and the programs of awk. A fault in a script can reach everything that the script reaches, so there are none
//! in a script that writes outside of files with constant names, or that is not understood to its last character.

mod awk;
mod commands;
mod nested;
mod test_expressions;
mod tokens;
mod words;

use std::collections::HashSet;

use self::commands::ShellCommand;
use self::tokens::{ShellScript, WordForm};
use super::lexer::SourcePart;
use super::{ChangedLines, MutationKind, SourceEdit};

/// Levels of command substitutions within each other that are read.
const MAX_DEPTH: u32 = 2;

/// Commands without an effect besides their output, so that they can be left out.
const FILTERS: &[&str] = &[
    "echo", "printf", "cat", "awk", "gawk", "mawk", "sed", "grep", "cut", "tr", "sort", "uniq", "head",
    "tail", "wc", "date", "seq", "rev", "paste", "join", "expr", "basename", "dirname", "jq", "bc", "fold",
    "nl", "column",
];

pub(super) fn is_script_name(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "sh" | "bash" | "dash" | "ksh"))
}

/// Whether a file is a script of a POSIX shell or bash.
pub(super) fn is_script(path: &str, text: &str) -> bool {
    const SHELLS: [&str; 4] = ["sh", "bash", "dash", "ksh"];
    let Some(line) = text.strip_prefix("#!").and_then(|it| it.lines().next()) else {
        return is_script_name(path);
    };
    let mut words = line.split_whitespace().map(|it| it.rsplit('/').next().unwrap_or(it));
    let is_option = |it: &&str| it.starts_with('-') || *it == "env";
    (is_script_name(path) || super::may_be_script(path))
        && words.find(|it| !is_option(it)).is_some_and(|it| SHELLS.contains(&it))
}

/// The edits of the changed lines of a script.
pub(super) fn edits(changed: &ChangedLines<'_>) -> Vec<SourceEdit> {
    let Some(scripts) = read_with_substitutions(changed.text) else { return Vec::new() };
    let commands: Vec<Vec<ShellCommand>> =
        scripts.iter().map(|it| commands::commands(changed.text, it)).collect();
    if scripts.iter().any(|it| commands::writes_elsewhere(changed.text, it)) {
        return Vec::new();
    }
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for (script, commands) in scripts.iter().zip(&commands) {
        let functions = commands::function_names(changed.text, script);
        let file = ScriptSource { changed, script, functions };
        found.extend(file.logic_edits());
        found.extend(file.arithmetic_edits());
        for command in commands {
            found.extend(file.command_edits(command, &known));
            known.extend(command.assigned_names(changed.text, script).map(str::to_owned));
        }
    }
    found.retain(|it| changed.numbers.contains(&it.line));
    found
}

/// The script, and those of its command substitutions. `None`: it is not understood.
fn read_with_substitutions(text: &str) -> Option<Vec<ShellScript>> {
    let mut scripts = vec![tokens::read(text, &SourcePart::whole(text))?];
    let mut inner: Vec<SourcePart> = scripts.iter().flat_map(|it| it.substitutions.clone()).collect();
    for _ in 0..MAX_DEPTH {
        let level: Vec<ShellScript> = inner.iter().map(|it| tokens::read(text, it)).collect::<Option<_>>()?;
        inner = level.iter().flat_map(|it| it.substitutions.clone()).collect();
        scripts.extend(level);
    }
    Some(scripts)
}

/// One script, or the text of one substitution.
struct ScriptSource<'a> {
    changed: &'a ChangedLines<'a>,
    script: &'a ShellScript,
    functions: HashSet<&'a str>,
}

impl ScriptSource<'_> {
    fn word(&self, token: usize) -> &str {
        self.script.text_of(self.changed.text, token)
    }

    fn edit(&self, token: usize, replacement: &str, kind: MutationKind) -> Option<SourceEdit> {
        let token = self.script.tokens.get(token)?;
        let replacement = replacement.to_owned();
        Some(SourceEdit { line: token.line, range: token.range.clone(), replacement, kind })
    }

    /// `&&` in place of `||`, and the reverse; `… || true` only hides a status.
    fn logic_edits(&self) -> Vec<SourceEdit> {
        let hides = |it: usize| matches!(self.word(it + 1), "true" | ":");
        let edit = |it: usize| {
            let other = match self.word(it) {
                "&&" => "||",
                "||" if !hides(it) => "&&",
                _ => return None,
            };
            self.edit(it, other, MutationKind::Logic)
        };
        let all = 0..self.script.tokens.len();
        all.filter(|it| self.script.is_control(*it)).filter_map(edit).collect()
    }

    fn arithmetic_edits(&self) -> Vec<SourceEdit> {
        let edits = |it: &SourcePart| super::text_edits(self.changed, it, &super::syntax::ARITHMETIC);
        self.script.arithmetic.iter().flat_map(edits).collect()
    }

    fn command_edits(&self, command: &ShellCommand, known: &HashSet<String>) -> Vec<SourceEdit> {
        let mut found = Vec::new();
        found.extend(self.test_edits(command));
        found.extend(self.negation_edit(command));
        found.extend(self.boolean_edit(command));
        found.extend(self.status_edit(command));
        found.extend(self.constant_edit(command));
        found.extend(self.removal_edit(command, known));
        found.extend(awk::program(self.changed.text, self.script, command).into_iter().flat_map(|it| {
            super::syntax::awk()
                .map(|syntax| super::text_edits(self.changed, &it, syntax))
                .unwrap_or_default()
        }));
        found
    }

    /// `if grep -q …` → `if ! grep -q …`; a loop could run forever.
    fn negation_edit(&self, command: &ShellCommand) -> Option<SourceEdit> {
        let is_condition = matches!(command.keyword.as_deref(), Some("if" | "elif"));
        let ends = matches!(command.after.as_str(), ";" | "\n" | "|");
        let first = *command.words.first()?;
        let is_test = matches!(self.word(first), "[" | "[[" | "test" | "true" | "false" | "((");
        let is_arithmetic = self.script.tokens.get(first).is_some_and(|it| it.form == WordForm::Arithmetic);
        let follows = matches!(command.before.as_str(), "&&" | "||" | "|");
        if !is_condition || !ends || is_test || is_arithmetic || follows || self.is_chain(command) {
            return None;
        }
        if let Some(sign) = command.negation {
            let (sign, first) = (self.script.tokens.get(sign)?, self.script.tokens.get(first)?);
            let range = sign.range.start..first.range.start;
            return Some(SourceEdit {
                line: sign.line,
                range,
                replacement: String::new(),
                kind: MutationKind::Condition,
            });
        }
        self.edit(first, &format!("! {}", self.word(first)), MutationKind::Condition)
    }

    /// Whether `&&` or `||` follow before the command of a condition ends.
    fn is_chain(&self, command: &ShellCommand) -> bool {
        let last = command.words.last().copied().unwrap_or_default();
        let mut rest = (last + 1..self.script.tokens.len()).filter(|it| self.script.is_control(*it));
        rest.find(|it| !matches!(self.word(*it), "|" | "|&"))
            .is_some_and(|it| matches!(self.word(it), "&&" | "||"))
    }

    /// The commands `true` and `false`.
    fn boolean_edit(&self, command: &ShellCommand) -> Option<SourceEdit> {
        let [word] = command.words[..] else { return None };
        let is_loop = matches!(command.keyword.as_deref(), Some("while" | "until"));
        let other = match self.word(word) {
            "true" if command.before != "||" => "false",
            "false" if !is_loop => "true",
            _ => return None,
        };
        self.edit(word, other, MutationKind::Boolean)
    }

    /// `return 1` → `return 0`
    fn status_edit(&self, command: &ShellCommand) -> Option<SourceEdit> {
        let [name, value] = command.words[..] else { return None };
        if !matches!(self.word(name), "return" | "exit") {
            return None;
        }
        let status: u32 = self.word(value).parse().ok()?;
        self.edit(value, if status == 0 { "1" } else { "0" }, MutationKind::Return)
    }

    /// `limit=5` → `limit=6`, `found=false` → `found=true`
    fn constant_edit(&self, command: &ShellCommand) -> Option<SourceEdit> {
        let [word] = command.words[..] else { return None };
        let token = self.script.tokens.get(word).filter(|it| it.form == WordForm::Plain)?;
        let (name, value) = self.word(word).split_once('=')?;
        if !words::is_name(name) || super::operators::is_tuning(self.word(word)) {
            return None;
        }
        let (other, kind) = match value {
            "true" => ("false".to_owned(), MutationKind::Boolean),
            "false" => ("true".to_owned(), MutationKind::Boolean),
            // A flag, of which all other values are the same.
            "1" => ("0".to_owned(), MutationKind::Integer),
            _ => (words::next_number(value)?, MutationKind::Integer),
        };
        let range = token.range.end - value.len()..token.range.end;
        Some(SourceEdit { line: token.line, range, replacement: other, kind })
    }

    /// A statement on one line that prints, calls a function of the script, or assigns again.
    fn removal_edit(&self, command: &ShellCommand, known: &HashSet<String>) -> Option<SourceEdit> {
        let (first, last) = (*command.words.first()?, *command.words.last()?);
        let is_alone = matches!(command.before.as_str(), "" | "\n" | ";" | ")" | "{" | ";;")
            && matches!(command.after.as_str(), "" | "\n" | ";" | ";;");
        if !is_alone || command.keyword.is_some() || command.negation.is_some() || command.has_redirection {
            return None;
        }
        let mut assigned = command.assigned_names(self.changed.text, self.script);
        let is_again = assigned.all(|it| known.contains(it));
        let acts = match command.program(self.changed.text, self.script) {
            Some(name) => FILTERS.contains(&name) || self.functions.contains(name),
            None => is_again,
        };
        let (first, last) = (self.script.tokens.get(first)?, self.script.tokens.get(last)?);
        let range = first.range.start..last.range.end;
        let is_one_line = self.changed.text.get(range.clone()).is_some_and(|it| !it.contains('\n'));
        let edit = SourceEdit {
            line: first.line,
            range,
            replacement: ":".to_owned(),
            kind: MutationKind::Statement,
        };
        (acts && is_one_line).then_some(edit)
    }
}
