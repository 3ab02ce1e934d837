//! Paths and globs after `exists`, `missing`, `has` and `lacks`, with the number of files that each matches.

use std::collections::BTreeMap;
use std::ops::Range;

use globset::GlobBuilder;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::{Suggestion, SuggestionKind, json_escaped};
use crate::editor::project_facts::is_writable;

/// An editor shows about ten at once, and asks again after the next `/`.
const MAX_SUGGESTIONS: usize = 100;
/// Endings of names that are proposed as globs: the most frequent ones.
const MAX_ENDINGS: usize = 3;

/// The unfinished glob at the end of a check of files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathArgument<'a> {
    /// Offset of the glob, with its quote, in the code span.
    start: usize,
    /// Its typed part, without the quote.
    typed: &'a str,
    /// The quote as the document writes it.
    quote: Option<&'static str>,
    is_json: bool,
}

impl<'a> PathArgument<'a> {
    /// `None` if the span is no check of files, or its pattern is unfinished.
    pub(super) fn of(span: &'a str, is_json: bool) -> Option<Self> {
        let quote = if is_json { "\\\"" } else { "\"" };
        let (word, rest) = span.split_once(' ')?;
        let globs = match word {
            "exists" | "missing" => rest,
            "has" | "lacks" => after_pattern(rest.trim_start(), quote)?,
            _ => return None,
        };
        let (start, is_quoted) = last_word(globs, quote);
        let typed = globs.get(start + if is_quoted { quote.len() } else { 0 }..)?;
        let start = span.len() - globs.len() + start;
        Some(Self { start, typed, quote: is_quoted.then_some(quote), is_json })
    }

    /// The entries of the typed folder, globs for everything below it, and the typed glob itself.
    pub(super) fn suggestions(&self, span: usize, files: &[String]) -> Vec<Suggestion> {
        // Of `src/**/*.r` the folder is `src/`.
        let plain = self.typed.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let (folder, name) = self.typed.split_at(plain.rfind('/').map_or(0, |it| it + 1));
        let below: Vec<&str> = files.iter().filter_map(|it| it.strip_prefix(folder)).collect();
        let typed = span + self.start..span + self.start + self.typed.len() + self.quote.map_or(0, str::len);
        let item = |path: String, kind, count| self.suggestion(path, kind, (count, typed.clone()));
        let has_wildcard = self.typed.contains(['*', '?', '[', '{']);
        let own = matches(self.typed, files).filter(|_| has_wildcard);
        let own =
            own.and_then(|count| Some((count, item(self.typed.to_owned(), SuggestionKind::File, count)?)));
        // One that matches nothing is probably unfinished.
        let (mut all, last) = match own {
            Some((0, it)) => (Vec::new(), Some(it)),
            own => (own.map(|it| it.1).into_iter().collect(), None),
        };
        for (entry, count) in entries(&below, name) {
            let kind = if entry.ends_with('/') { SuggestionKind::Folder } else { SuggestionKind::File };
            all.extend(item(format!("{folder}{entry}"), kind, count));
            if all.len() >= MAX_SUGGESTIONS {
                break;
            }
        }
        if name.is_empty() || name.starts_with('*') {
            let globs = globs(&below, !folder.is_empty()).into_iter();
            let is_new = |it: &(String, usize)| it.0.starts_with(name) && it.0 != name;
            all.extend(
                globs
                    .filter(is_new)
                    .filter_map(|(glob, count)| item(format!("{folder}{glob}"), SuggestionKind::File, count)),
            );
        }
        all.extend(last);
        all
    }

    fn suggestion(
        &self,
        path: String,
        kind: SuggestionKind,
        (count, replaces): (usize, Range<usize>),
    ) -> Option<Suggestion> {
        if !is_writable(&path) || path.contains(['"', '\\']) {
            return None;
        }
        // A folder stays open for what follows, so its quote does too.
        let is_folder = kind == SuggestionKind::Folder;
        let needs_quote = self.quote.is_some() || path.contains(char::is_whitespace);
        let close = if needs_quote && !is_folder { "\"" } else { "" };
        let open = if needs_quote { "\"" } else { "" };
        let text = format!("{open}{path}{close}");
        let text = if self.is_json { json_escaped(&text) } else { text };
        let detail = words::counted(count as u64, "file");
        Some(Suggestion {
            kind,
            detail: if count == 0 { tr!("no file").to_owned() } else { detail },
            documentation: String::new(),
            replaces,
            filter: Some(format!("{}{path}", self.quote.unwrap_or_default())),
            text,
            label: path,
        })
    }
}

/// What follows the complete pattern of `has` and `lacks`, and a space.
fn after_pattern<'a>(text: &'a str, quote: &str) -> Option<&'a str> {
    let (rest, end) =
        text.strip_prefix('/').map(|it| (it, "/")).or_else(|| Some((text.strip_prefix(quote)?, quote)))?;
    let mut from = 0;
    loop {
        let at = from + rest.get(from..)?.find(end)?;
        let slashes = rest.get(..at)?.chars().rev().take_while(|it| *it == '\\').count();
        from = at + end.len();
        if slashes.is_multiple_of(2) {
            break;
        }
    }
    let rest = rest.get(from..)?;
    let rest = rest.strip_prefix('i').filter(|_| end == "/").unwrap_or(rest);
    rest.strip_prefix(' ')
}

/// Offset of the last word, which may be empty, and whether it begins with an open quote.
fn last_word(globs: &str, quote: &str) -> (usize, bool) {
    let (mut at, mut start, mut is_quoted) = (0, 0, false);
    while let Some(rest) = globs.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with(quote) {
            if !is_quoted {
                start = at;
            }
            is_quoted = !is_quoted;
            at += quote.len();
            continue;
        }
        let next = rest.chars().next().map_or(1, char::len_utf8);
        if rest.starts_with(' ') && !is_quoted {
            start = at + next;
        }
        at += next;
    }
    (start, is_quoted)
}

/// The folders and files directly below a folder whose names begin with `name`, with the number of files in each.
fn entries<'a>(below: &[&'a str], name: &str) -> BTreeMap<&'a str, usize> {
    let mut found = BTreeMap::new();
    // Hidden files are offered once a dot was typed.
    let is_wanted = |it: &&&str| it.starts_with(name) && (!it.starts_with('.') || name.starts_with('.'));
    for path in below.iter().filter(is_wanted) {
        let end = path.find('/').map_or(path.len(), |it| it + 1);
        *found.entry(path.get(..end).unwrap_or(path)).or_default() += 1;
    }
    found
}

/// `**` and `**/*.rs` with the number of files of each.
fn globs(below: &[&str], is_folder: bool) -> Vec<(String, usize)> {
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for path in below {
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some((stem, ending)) = name.rsplit_once('.')
            && !stem.is_empty()
            && ending.chars().all(|it| it.is_ascii_alphanumeric())
        {
            *endings.entry(ending).or_default() += 1;
        }
    }
    let mut endings: Vec<(&str, usize)> = endings.into_iter().filter(|it| it.1 > 1).collect();
    endings.sort_by_key(|it| std::cmp::Reverse(it.1));
    let everything = (is_folder && below.len() > 1).then(|| ("**".to_owned(), below.len()));
    let of_ending = |(ending, count)| (format!("**/*.{ending}"), count);
    everything.into_iter().chain(endings.into_iter().take(MAX_ENDINGS).map(of_ending)).collect()
}

/// The number of files that a glob matches; `None` if it is not one yet.
fn matches(glob: &str, files: &[String]) -> Option<usize> {
    let matcher = GlobBuilder::new(glob).literal_separator(true).build().ok()?.compile_matcher();
    Some(files.iter().filter(|it| matcher.is_match(it)).count())
}
