//! The places where the files of a tree mention others: imports of modules, paths of data.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::drift::names;
use crate::strays::TreeText;
use loopkeeper_text::pattern::ConstantPattern;

/// Longer lines are generated.
const MAX_LINE: usize = 2000;

/// The words by which other files mention one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MentionWords {
    /// Its name, in an import or a path.
    Module,
    /// Its name, which is that of its type: files of the same package need no import.
    TypeName,
    /// What it declares: files of the same package need no import.
    Declared(BTreeSet<String>),
    /// Its name or its folder, in a path or a literal.
    Data,
}

/// For each file, those that mention it.
pub(super) struct FileMentions<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> FileMentions<'a> {
    pub(super) fn of(&self, path: &str) -> impl Iterator<Item = &'a str> + '_ {
        self.0.get(path).into_iter().flatten().copied()
    }
}

/// Reads every file once, except for documents, which only describe.
pub(super) fn find_mentions<'a>(
    paths: &BTreeMap<&'a str, MentionWords>,
    files: &'a [TreeText],
) -> FileMentions<'a> {
    let mut by_word: HashMap<&str, Vec<(&'a str, &MentionWords)>> = HashMap::new();
    for (path, kind) in paths {
        for word in words_of(path, kind) {
            by_word.entry(word).or_default().push((path, kind));
        }
    }
    if by_word.is_empty() {
        return FileMentions(BTreeMap::new());
    }
    let mut found: BTreeMap<&'a str, BTreeSet<&'a str>> = BTreeMap::new();
    for file in files.iter().filter(|it| !is_document(&it.path)) {
        for line in file.text.lines().filter(|it| it.len() <= MAX_LINE) {
            for (at, word) in words(line) {
                for (path, kind) in by_word.get(word).into_iter().flatten() {
                    let is_found = *path != file.path
                        && match kind {
                            MentionWords::TypeName => true,
                            MentionWords::Declared(_) => is_use(path, &file.path, line, at),
                            MentionWords::Module | MentionWords::Data => {
                                is_mention((path, kind), line, (at, word))
                            }
                        };
                    if is_found {
                        found.entry(path).or_default().insert(&file.path);
                    }
                }
            }
        }
    }
    FileMentions(found)
}

/// The words by which a line can mention the file.
fn words_of<'a>(path: &'a str, kind: &'a MentionWords) -> Vec<&'a str> {
    let folder = path.rsplit_once('/').and_then(|(folders, _)| folders.rsplit('/').next());
    match kind {
        MentionWords::Module | MentionWords::TypeName => vec![names::stem(path)],
        MentionWords::Declared(declared) => declared.iter().map(String::as_str).collect(),
        MentionWords::Data => [names::stem(path)].into_iter().chain(folder).collect(),
    }
}

/// Whether the word at `at` in the line of a file of Go can be what the file at `path` declares: in the same package by
/// its name, in others behind that of the package.
fn is_use(path: &str, user: &str, line: &str, at: usize) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    let is_member = line.get(..at).is_some_and(|it| it.ends_with('.'));
    names::extension(user) == "go" && (is_member || folder(path) == folder(user))
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
fn is_mention((path, kind): (&str, &MentionWords), line: &str, (at, word): (usize, &str)) -> bool {
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
    is_in_path || is_literal || is_file || (*kind == MentionWords::Module && IMPORT.is_match(line))
}
