//! Parses shell command lines as far as needed to find the files that they run: simple commands of words. No expansion
//! and no evaluation; anything more complex names no file.

use std::iter::Peekable;
use std::str::Chars;

use super::file_name;

/// Programs that run a script which is their argument.
pub(super) const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "nodejs", "bun", "deno", "ruby", "perl",
    "php", "lua", "tsx", "ts-node", "Rscript", "source", ".",
];
/// Words before the command that runs.
const WRAPPERS: &[&str] = &[
    "env", "time", "timeout", "nice", "exec", "command", "uv", "poetry", "pipenv", "run", "npx", "xvfb-run",
    "bundle", "if", "then", "!", "while", "do", "else", "{",
];

/// The simple commands of a line, each as its words without quotes.
pub(super) fn split_commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|it| *it != '\'')),
            '"' => push_double_quoted(word.get_or_insert_default(), &mut chars),
            '\\' if chars.next_if_eq(&'\n').is_some() => {}
            '\\' => word.get_or_insert_default().extend(chars.next()),
            '|' | '&' | ';' | '(' | ')' | '`' | '\n' => {
                end_word(&mut all, &mut word);
                all.push(Vec::new());
            }
            '<' | '>' => {
                end_word(&mut all, &mut word);
                // The next word is read or written, not run.
                let target = chars
                    .clone()
                    .take_while(|it| it.is_whitespace() || matches!(it, '<' | '>' | '&'))
                    .count();
                chars.by_ref().take(target).for_each(drop);
                while chars
                    .next_if(|it| !it.is_whitespace() && !matches!(it, '|' | ';' | ')' | '&' | '('))
                    .is_some()
                {}
            }
            it if it.is_whitespace() => end_word(&mut all, &mut word),
            it => word.get_or_insert_default().push(it),
        }
    }
    end_word(&mut all, &mut word);
    all.retain(|it| !it.is_empty());
    all
}

fn push_double_quoted(word: &mut String, chars: &mut Peekable<Chars<'_>>) {
    while let Some(it) = chars.next().filter(|it| *it != '"') {
        let escaped =
            (it == '\\').then(|| chars.next_if(|it| matches!(it, '"' | '\\' | '$' | '`'))).flatten();
        word.push(escaped.unwrap_or(it));
    }
}

fn end_word(commands: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(last), Some(word)) = (commands.last_mut(), word.take()) {
        last.push(word);
    }
}

/// Removes prefixes that only run another command.
pub(super) fn strip_wrappers<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let mut remaining = words;
    while let Some((first, rest)) = remaining.split_first() {
        let is_variable =
            first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-']));
        let is_limit =
            first.ends_with(['s', 'm']) && first.trim_end_matches(['s', 'm']).parse::<u32>().is_ok();
        let is_number = first.parse::<u32>().is_ok();
        if !(WRAPPERS.contains(first) || is_variable || is_limit || is_number) {
            break;
        }
        remaining = rest;
    }
    remaining
}

/// The script argument of an interpreter.
pub(super) fn script_argument(words: &[&str]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-m" => return words.next().map(|it| it.replace('.', "/") + ".py"),
            "run" | "test" | "--" => {}
            it if it.starts_with('-') => {}
            it => return Some(it.to_owned()),
        }
    }
    None
}

/// Whether the file is a script of a shell.
pub(super) fn is_shell(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    match file_name(path).rsplit_once('.') {
        Some((_, extension)) => matches!(extension, "sh" | "bash"),
        None => !first.starts_with("#!") || first.contains("sh"),
    }
}
