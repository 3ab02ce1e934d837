//! `has` and `lacks`: a pattern in the files that globs match.
//!
//! Both fail if no file matches, because then nothing was verified. Contents are bytes; `^` and `$` match at line ends,
//! also before `\r\n`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use loopkeeper_core::check::{Location, MAX_LOCATIONS, Status};
use loopkeeper_task::criterion::{PatternKind, TextPattern};
use loopkeeper_text::{sanitize, tr, words};
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::OFlags;

use super::walk::{FileKind, GlobWalk};
use crate::checks::RawResult;

/// Maximum bytes read of one file.
pub(super) const FILE_BYTES: u64 = 16 * 1024 * 1024;
const MESSAGE_CHARS: usize = 200;

/// Passes if some file contains the pattern.
pub(super) fn check_contains(walk: &GlobWalk<'_>, pattern: &TextPattern) -> Result<RawResult, String> {
    let sought = SearchPattern::new(pattern)?;
    let files = match files(walk)? {
        MatchedFiles { named, .. } if named.is_empty() => return Ok(nothing_matches(walk)),
        files => files,
    };
    let mut problem = files.problem;
    for name in &files.named {
        match sought.lines_in(walk.root(), name) {
            Ok(seen) if !seen.lines.is_empty() => {
                return Ok(RawResult::new(Status::Pass, tr!("found in {name}", name = name.display())));
            }
            Ok(seen) => problem = problem.or(seen.cut),
            Err(reason) => problem = problem.or(Some(reason)),
        }
        walk.check_stop()?;
    }
    match problem {
        Some(problem) => Err(problem),
        None => Ok(RawResult::new(
            Status::Fail,
            tr!("{sought} not found in {files}", sought, files = counted(&files.named)),
        )),
    }
}

/// Passes if no file contains the pattern and every file was read to its end.
pub(super) fn check_lacks(walk: &GlobWalk<'_>, pattern: &TextPattern) -> Result<RawResult, String> {
    let sought = SearchPattern::new(pattern)?;
    let files = files(walk)?;
    let mut problem = files.problem;
    let mut with_it = Vec::new();
    let mut locations = Vec::new();
    for name in &files.named {
        match sought.lines_in(walk.root(), name) {
            Ok(seen) if !seen.lines.is_empty() => {
                with_it.push(name.clone());
                locations.extend(seen.lines);
            }
            Ok(seen) => problem = problem.or(seen.cut),
            Err(reason) => problem = problem.or(Some(reason)),
        }
        locations.truncate(MAX_LOCATIONS);
        walk.check_stop()?;
    }
    if !with_it.is_empty() {
        let fact = tr!("{sought} found in {files}", sought, files = counted(&with_it));
        return Ok(RawResult { status: Status::Fail, fact, locations });
    }
    match problem {
        Some(problem) => Err(problem),
        None if files.named.is_empty() => Ok(nothing_matches(walk)),
        None => Ok(RawResult::new(Status::Pass, tr!("not in {files}", files = counted(&files.named)))),
    }
}

#[derive(Default)]
struct MatchedFiles {
    /// Paths relative to the root, without duplicates.
    named: Vec<PathBuf>,
    problem: Option<String>,
}

fn files(walk: &GlobWalk<'_>) -> Result<MatchedFiles, String> {
    let mut files = MatchedFiles::default();
    for glob in walk.globs() {
        let problem = walk.for_each_match(glob, |entry| {
            if entry.kind == FileKind::File {
                files.named.push(entry.path.clone());
            }
            true
        })?;
        files.problem = files.problem.or(problem);
    }
    files.named.sort();
    files.named.dedup();
    Ok(files)
}

fn nothing_matches(walk: &GlobWalk<'_>) -> RawResult {
    let written: Vec<&str> = walk.globs().iter().map(|it| it.written.as_str()).collect();
    let folder = walk.globs().iter().find(|it| it.literal && walk.root().join(&it.path).is_dir());
    let remedy = folder.map_or_else(String::new, |it| tr!(", write {path}/**", path = it.path.display()));
    RawResult::new(
        Status::Fail,
        tr!("no file matches {written}{remedy}", written = written.join(" "), remedy),
    )
}

fn counted(files: &[PathBuf]) -> String {
    match files {
        [one] => one.display().to_string(),
        many => words::counted(many.len() as u64, "file"),
    }
}

struct SearchPattern {
    regex: Regex,
    shown: String,
}

/// Matches in one file.
#[derive(Default)]
struct FileMatches {
    lines: Vec<Location>,
    /// Why the file was not read to its end.
    cut: Option<String>,
}

impl SearchPattern {
    fn new(pattern: &TextPattern) -> Result<Self, String> {
        let shown = pattern.written();
        let is_literal = pattern.kind == PatternKind::Literal;
        let written = if is_literal { regex::escape(&pattern.source) } else { pattern.source.clone() };
        let built = RegexBuilder::new(&written)
            .multi_line(true)
            .crlf(!is_literal)
            .case_insensitive(pattern.kind == PatternKind::RegexIgnoreCase)
            .build();
        built
            .map(|regex| Self { regex, shown: shown.clone() })
            .map_err(|_| tr!("{shown} is not a pattern", shown))
    }

    /// The first [`MAX_LOCATIONS`] lines on which the pattern begins.
    fn lines_in(&self, root: &Path, name: &Path) -> Result<FileMatches, String> {
        let (bytes, whole) = read(&root.join(name))
            .map_err(|error| tr!("could not read {path}: {error}", path = name.display(), error))?;
        let mut seen = FileMatches::default();
        if !whole {
            seen.cut = Some(tr!(
                "{name} is over {size} MiB",
                name = name.display(),
                size = FILE_BYTES / 1024 / 1024
            ));
        }
        let (mut line, mut counted) = (1_u32, 0);
        for found in self.regex.find_iter(&bytes) {
            let before = bytes.get(counted..found.start()).unwrap_or_default();
            let crossed = memchr::memchr_iter(b'\n', before).count() as u32;
            counted = found.start();
            line = line.saturating_add(crossed);
            if seen.lines.last().is_some_and(|it: &Location| it.line == line) {
                continue;
            }
            seen.lines.push(location(name, line, &bytes, found.start()));
            if seen.lines.len() >= MAX_LOCATIONS {
                break;
            }
        }
        Ok(seen)
    }
}

impl std::fmt::Display for SearchPattern {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.shown)
    }
}

fn location(name: &Path, line: u32, bytes: &[u8], at: usize) -> Location {
    let (before, after) = bytes.split_at(at.min(bytes.len()));
    let start = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    let end = at + after.iter().position(|it| *it == b'\n').unwrap_or(after.len());
    let text = bytes.get(start..end).unwrap_or_default();
    let text = String::from_utf8_lossy(text.get(..4 * MESSAGE_CHARS).unwrap_or(text));
    let message = sanitize::line_within(&text, MESSAGE_CHARS);
    Location { file: name.to_string_lossy().into_owned(), line, message, ..Location::default() }
}

/// The content, and whether it is complete. Never blocks, even if the file was replaced by a pipe in between.
fn read(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let nonblocking = OFlags::NONBLOCK.bits() as i32;
    let file: File = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(tr!("no longer a file")));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= FILE_BYTES;
    bytes.truncate(FILE_BYTES as usize);
    Ok((bytes, whole))
}
