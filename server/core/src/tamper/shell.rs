//! Parses shell command lines as far as needed to find the files that they run: simple commands of words. No expansion
//! and no evaluation; anything more complex names no file.

use std::iter::Peekable;
use std::str::Chars;

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
