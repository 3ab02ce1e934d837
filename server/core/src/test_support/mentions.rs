//! The places where the files of a tree mention others: imports of modules, paths of data.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::drift::names;
use crate::strays::TreeText;
use loopkeeper_text::pattern::ConstantPattern;

/// Longer lines are generated.
const MAX_LINE: usize = 2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MentionKind {
    /// By an import or a path.
    Module,
    /// By the name of the file, or by its folder.
    Data,
}

/// For each file, those that mention it.
pub(super) struct Mentions<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Mentions<'a> {
    pub(super) fn of(&self, path: &str) -> impl Iterator<Item = &'a str> + '_ {
        self.0.get(path).into_iter().flatten().copied()
    }
}

/// Reads every file once, except for documents, which only describe.
pub(super) fn find_mentions<'a>(
    paths: &BTreeMap<&'a str, MentionKind>,
    files: &'a [TreeText],
) -> Mentions<'a> {
    let mut by_word: HashMap<&str, Vec<(&'a str, MentionKind)>> = HashMap::new();
    for (path, kind) in paths {
        for word in words_of(path, *kind) {
            by_word.entry(word).or_default().push((path, *kind));
        }
    }
    let mut found: BTreeMap<&'a str, BTreeSet<&'a str>> = BTreeMap::new();
    for file in files.iter().filter(|it| !is_document(&it.path)) {
        for line in file.text.lines().filter(|it| it.len() <= MAX_LINE) {
            for (at, word) in words(line) {
                for (path, kind) in by_word.get(word).into_iter().flatten() {
                    if *path != file.path && is_mention((path, *kind), line, (at, word)) {
                        found.entry(path).or_default().insert(&file.path);
                    }
                }
            }
        }
    }
    Mentions(found)
}

/// The words by which a line can mention the file.
fn words_of(path: &str, kind: MentionKind) -> Vec<&str> {
    let folder = path.rsplit_once('/').and_then(|(folders, _)| folders.rsplit('/').next());
    match kind {
        MentionKind::Module => vec![names::stem(path)],
        MentionKind::Data => [names::stem(path)].into_iter().chain(folder).collect(),
    }
}

fn is_document(path: &str) -> bool {
    ["md", "rst", "adoc", "mdx"].contains(&names::extension(path))
}

/// The words of a line, with their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_of_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let mut rest = 0;
    std::iter::from_fn(move || {
        let begin = rest + line.get(rest..)?.find(is_of_word)?;
        let behind = line.get(begin..)?;
        let end = begin + behind.find(|it| !is_of_word(it)).unwrap_or(behind.len());
        rest = end;
        Some((begin, line.get(begin..end)?))
    })
}

/// Whether the word in the line imports the file, or is part of a path or a literal.
fn is_mention((path, kind): (&str, MentionKind), line: &str, (at, word): (usize, &str)) -> bool {
    static IMPORT: ConstantPattern = ConstantPattern::new(
        r"\b(?:import|from|require|require_relative|include|source|load|use|mod|export)\b|(?:^|[;&|]\s*)\s*\.\s",
    );
    let before = line.get(..at).and_then(|it| it.chars().next_back());
    let after = line.get(at + word.len()..).unwrap_or_default();
    let is_quote = |it: char| matches!(it, '"' | '\'' | '`');
    let is_in_path = before == Some('/') || after.starts_with('/');
    let is_literal = before.is_some_and(is_quote) && after.starts_with(is_quote);
    let ending = names::extension(path);
    let is_file = !ending.is_empty() && after.strip_prefix('.').is_some_and(|it| it.starts_with(ending));
    is_in_path || is_literal || is_file || (kind == MentionKind::Module && IMPORT.is_match(line))
}
