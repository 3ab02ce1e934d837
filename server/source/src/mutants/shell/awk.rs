//! Finds the program in the arguments of awk.

use super::super::lexer::SourcePart;
use super::commands::ShellCommand;
use super::tokens::{ShellScript, WordForm};

/// The program, where it is one quoted word.
pub(super) fn program(text: &str, script: &ShellScript, command: &ShellCommand) -> Option<SourcePart> {
    let name = command.program(text, script)?;
    if !matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        return None;
    }
    let mut words = command.words.iter().copied().skip_while(|it| script.text_of(text, *it) != name).skip(1);
    while let Some(word) = words.next() {
        match script.text_of(text, word) {
            "-F" | "-v" => drop(words.next()),
            it if it.starts_with("-f") || it.starts_with("--file") => return None,
            it if it.starts_with('-') => {}
            _ => {
                let token = script.tokens.get(word).filter(|it| it.form == WordForm::SingleQuoted)?;
                let range = token.range.start + 1..token.range.end - 1;
                return Some(SourcePart { range, line: token.line });
            }
        }
    }
    None
}
