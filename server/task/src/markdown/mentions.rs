//! Finds the paths that a document names after `CONTEXT:`. Their existence is checked elsewhere.

use std::ops::Range;

use super::strip_label;
use crate::item::{InlineContent, PieceKind};

type PathRange = (String, Range<usize>);

pub(super) fn is_context(plain: &str) -> bool {
    strip_label(plain, "context").is_some()
}

/// Paths in one item of the list: a link, code spans, a first word that looks like a path, or paths within its
/// sentence.
pub(super) fn parse_list_item(text: &InlineContent<'_>) -> Vec<PathRange> {
    if let Some(link) = text.link.as_deref().filter(|link| !link.contains("://") && !link.starts_with('#')) {
        return vec![(link.to_owned(), text.range.clone())];
    }
    let spans = text.pieces.iter().filter(|piece| piece.kind == PieceKind::Code).enumerate();
    let spans = spans.filter_map(|(at, piece)| {
        let path = clean_path(&piece.text).filter(|path| at == 0 || looks_like_path(path))?;
        Some((path, piece.range.clone()))
    });
    let spans: Vec<PathRange> = spans.collect();
    if !spans.is_empty() {
        return spans;
    }
    let plain = text.plain_text();
    let Some(first) = plain.split_whitespace().next() else { return Vec::new() };
    let is_alone = plain.trim() == first;
    match clean_path(first).filter(|path| is_alone || looks_like_path(path)) {
        Some(path) => vec![(path, text.range.clone())],
        None => find_in_prose(text),
    }
}

/// `Follow the patterns in lib/… and read docs/style.md`.
fn find_in_prose(text: &InlineContent<'_>) -> Vec<PathRange> {
    let mut paths = Vec::new();
    for piece in text.pieces.iter().filter(|piece| piece.kind == PieceKind::Text) {
        let is_exact = piece.text.len() == piece.range.len();
        for (at, word) in words(&piece.text) {
            let bare =
                word.trim_start_matches(['(', '"', '\'']).trim_end_matches([')', '"', '\'', '…', '!', '?']);
            let bare = bare.strip_suffix("...").unwrap_or(bare);
            let at = at + (word.len() - word.trim_start_matches(['(', '"', '\'']).len());
            if let Some(path) = clean_path(bare).filter(|path| is_path_in_prose(path)) {
                let start = piece.range.start + at + bare.find(&path).unwrap_or_default();
                let range = if is_exact { start..start + path.len() } else { piece.range.clone() };
                paths.push((path, range));
            }
        }
    }
    paths
}

/// A slash alone joins words as often as folders: `and/or`.
fn is_path_in_prose(word: &str) -> bool {
    let folders = word.matches('/').count();
    let joins = folders == 1 && !word.ends_with('/') && !word.contains(['.', '*', '_', '@']);
    looks_like_path(word) && !joins && !is_abbreviation(word)
}

/// `e.g`, `i.e`, `v1.2`.
fn is_abbreviation(word: &str) -> bool {
    !word.contains('/')
        && word.split('.').all(|part| part.len() <= 1 || part.chars().any(|it| it.is_ascii_digit()))
}

/// `CONTEXT: src/a.rs, docs/b.md` in one paragraph.
pub(super) fn after_colon(text: &InlineContent<'_>) -> Vec<PathRange> {
    let mut paths = Vec::new();
    let mut is_after = false;
    for piece in &text.pieces {
        if piece.kind == PieceKind::Code && is_after {
            paths.extend(clean_path(&piece.text).map(|path| (path, piece.range.clone())));
        }
        if piece.kind != PieceKind::Text {
            continue;
        }
        let label = piece.text.find([':', '：']).filter(|_| !is_after);
        let from = label.map_or(0, |at| {
            at + piece.text.get(at..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8)
        });
        if !is_after && label.is_none() {
            continue;
        }
        is_after = true;
        let is_exact = piece.text.len() == piece.range.len();
        for (at, word) in words(piece.text.get(from..).unwrap_or_default()) {
            if let Some(path) = clean_path(word).filter(|path| looks_like_path(path)) {
                let start = piece.range.start + from + at;
                let range = if is_exact { start..start + word.len() } else { piece.range.clone() };
                paths.push((path, range));
            }
        }
    }
    paths
}

/// Words with their offsets; commas separate them like spaces.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_gap = |char: char| char.is_whitespace() || ",，、;；".contains(char);
    let mut at = 0;
    text.split_inclusive(is_gap).map(move |word| {
        let start = at;
        at += word.len();
        (start, word.trim_end_matches(is_gap))
    })
}

/// Removes the `@` of a mention and final punctuation. `None`: an address or empty.
fn clean_path(word: &str) -> Option<String> {
    let path = word.trim().trim_start_matches('@').trim_end_matches([',', ';', ':', '，', '：']);
    let path = path.strip_suffix('.').unwrap_or(path);
    (!path.is_empty() && !path.contains("://")).then(|| path.to_owned())
}

fn looks_like_path(word: &str) -> bool {
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        (1..=8).contains(&extension.len())
            && (!stem.is_empty() || extension.len() > 1)
            && extension.chars().all(|char| char.is_ascii_alphanumeric())
            && extension.chars().any(|char| char.is_ascii_alphabetic())
    });
    has_extension || word.contains('/') && !word.starts_with("//")
}
