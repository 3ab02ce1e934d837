//! Mutations of `[ … ]`, `[[ … ]]` and `test …`.

use super::commands::ShellCommand;
use super::tokens::WordForm;
use super::{MutationKind, ScriptSource, SourceEdit, words};

const OPERATORS: &[(&str, &str)] = &[
    ("-eq", "-ne"),
    ("-ne", "-eq"),
    ("-lt", "-ge"),
    ("-ge", "-lt"),
    ("-gt", "-le"),
    ("-le", "-gt"),
    ("=", "!="),
    ("==", "!="),
    ("!=", "="),
    ("-z", "-n"),
    ("-n", "-z"),
];
/// Operators on files.
const PROPERTIES: &[&str] = &["-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-v"];

impl ScriptSource<'_> {
    pub(super) fn test_edits(&self, command: &ShellCommand) -> Vec<SourceEdit> {
        let Some(first) = command.words.first().filter(|it| matches!(self.word(**it), "[" | "[[" | "test"))
        else {
            return Vec::new();
        };
        // The words of `[[ … ]]` continue after `&&`, which ends a command elsewhere.
        let words = command.words.iter().copied().skip(1);
        words.filter(|it| self.is_plain(*it)).filter_map(|it| self.test_edit(*first, it)).collect()
    }

    fn is_plain(&self, token: usize) -> bool {
        self.script.tokens.get(token).is_some_and(|it| it.form == WordForm::Plain)
    }

    fn test_edit(&self, open: usize, token: usize) -> Option<SourceEdit> {
        let word = self.word(token);
        let before = self.word(token - 1);
        let is_prefix = token == open + 1 || matches!(before, "!" | "-a" | "-o" | "(" | "&&" | "||");
        let is_unary = PROPERTIES.contains(&word) || matches!(word, "-z" | "-n");
        if is_unary && !is_prefix {
            return None;
        }
        if let Some((_, other)) = OPERATORS.iter().find(|(sign, _)| *sign == word) {
            return self.edit(token, other, MutationKind::Comparison);
        }
        if PROPERTIES.contains(&word) {
            let has_sign = before == "!";
            let from = if has_sign { token - 1 } else { token };
            let (from, to) = (self.script.tokens.get(from)?, self.script.tokens.get(token)?);
            let replacement = if has_sign { word.to_owned() } else { format!("! {word}") };
            let range = from.range.start..to.range.end;
            return Some(SourceEdit { line: from.line, range, replacement, kind: MutationKind::Condition });
        }
        let compares = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"].contains(&before);
        let next = words::next_number(word).filter(|_| compares)?;
        self.edit(token, &next, MutationKind::Integer)
    }
}
