//! Finds paths that the sandbox closes in the output of programs. The kernel only reports that access is denied, so the
//! paths that a program prints are compared with the rules. A hint for people and agents, which decides nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_text::pattern::ConstantPattern;

use super::FileAccess;

/// Paths that are named in one iteration.
const MAX_NAMED: usize = 5;
/// Longer paths are not named.
const MAX_PATH_BYTES: usize = 200;

static ACCESS_DENIED: ConstantPattern = ConstantPattern::new(
    r"(?i)permission denied|\bEACCES\b|read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b|operation not permitted|\bEPERM\b",
);
/// A hidden folder is empty, and a hidden socket accepts no connection.
static NOT_FOUND: ConstantPattern = ConstantPattern::new(
    r"(?i)no such file or directory|\bENOENT\b|cannot connect|connection refused|\bECONNREFUSED\b",
);

/// A shell prints the script and its line before the denied path.
static LINE_OF_SCRIPT: ConstantPattern = ConstantPattern::new(r"^: (?:line )?\d+: ");

/// Paths that a text reports as denied, as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeniedPaths {
    pub hidden: Vec<String>,
    /// Can be read, but not written.
    pub read_only: Vec<String>,
}

impl DeniedPaths {
    pub fn append(&mut self, mut more: Self) {
        self.hidden.append(&mut more.hidden);
        self.read_only.append(&mut more.read_only);
    }
}

/// The closed paths of a sandbox, and those that were found.
#[derive(Debug, Clone, Default)]
pub struct ClosedPaths {
    /// Each as it may be written, and whether it is hidden.
    paths: Vec<(String, bool)>,
    /// Open paths below closed ones.
    open: Vec<PathBuf>,
    home: Option<PathBuf>,
    named: BTreeSet<PathBuf>,
}

impl ClosedPaths {
    pub(super) fn new(files: &FileAccess, home: Option<&Path>) -> Self {
        let hidden = files.hidden.iter().chain(&files.services).map(|it| (it, true));
        let others = files.other_paths();
        let read_only = files.read_only.iter().chain(&files.agent_settings).chain(&others);
        let all = hidden.chain(read_only.map(|it| (it, false)));
        let mut paths = Vec::new();
        for (path, is_hidden) in all {
            let Some(text) = path.to_str() else { continue };
            paths.push((text.to_owned(), is_hidden));
            if let Some(below) = home.and_then(|home| path.strip_prefix(home).ok()) {
                paths.push((format!("~/{}", below.display()), is_hidden));
            }
        }
        let (open, home) = (files.writable.clone(), home.map(Path::to_owned));
        Self { paths, open, home, named: BTreeSet::new() }
    }

    /// The closed paths that a text reports as denied; each path once. The lines of a text may be those of a string in
    /// JSON.
    pub fn find(&mut self, text: &str) -> DeniedPaths {
        let mut found = DeniedPaths::default();
        if self.paths.is_empty()
            || self.is_full()
            || !(ACCESS_DENIED.is_match(text) || NOT_FOUND.is_match(text))
        {
            return found;
        }
        for line in text.split('\n').flat_map(|it| it.split("\\n")) {
            let Some(path) = self.find_in_line(line) else { continue };
            if self.named.insert(path.clone()) {
                let list = if self.is_hidden(&path) { &mut found.hidden } else { &mut found.read_only };
                list.push(self.shown(&path));
            }
            if self.is_full() {
                break;
            }
        }
        found
    }

    fn is_full(&self) -> bool {
        self.named.len() >= MAX_NAMED
    }

    fn find_in_line(&self, line: &str) -> Option<PathBuf> {
        let is_denied = ACCESS_DENIED.is_match(line);
        if !is_denied && !NOT_FOUND.is_match(line) {
            return None;
        }
        let candidates = self.paths.iter().filter(|(_, is_hidden)| is_denied || *is_hidden);
        let named = candidates.filter_map(|(closed, _)| word_below(line, closed));
        let mut real = named.filter_map(|word| self.resolve(word));
        real.find(|path| !self.open.iter().any(|it| path.starts_with(it)))
    }

    /// The path itself, or for a new file its folder, which exists outside.
    fn resolve(&self, word: &str) -> Option<PathBuf> {
        let path = match (word.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(word),
        };
        let exists = |it: &Path| fs::symlink_metadata(it).is_ok();
        if exists(&path) {
            Some(path)
        } else {
            path.parent().filter(|it| exists(it) && self.is_closed(it)).map(Path::to_owned)
        }
    }

    fn is_closed(&self, path: &Path) -> bool {
        self.paths.iter().any(|(closed, _)| path.starts_with(closed))
    }

    fn is_hidden(&self, path: &Path) -> bool {
        self.paths.iter().any(|(closed, is_hidden)| *is_hidden && path.starts_with(closed))
    }

    fn shown(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}

/// The word of a line that is `closed` or a path below it.
fn word_below<'a>(line: &'a str, closed: &str) -> Option<&'a str> {
    let is_end = |it: char| it.is_whitespace() || "\"'`:,;()[]{}<>\\|‘’“”".contains(it);
    line.match_indices(closed).find_map(|(at, _)| {
        let before = line.get(..at)?.chars().next_back();
        let rest = line.get(at..)?;
        let word = rest.split(is_end).next()?.trim_end_matches(['.', '/']);
        let below = word.get(closed.len()..)?;
        let begins = before.is_none_or(|it| is_end(it) || it == '=' || closed.starts_with('/') && it == '/');
        let is_path = begins && (below.is_empty() || below.starts_with('/')) && word.len() <= MAX_PATH_BYTES;
        let is_script = || rest.get(word.len()..).is_some_and(|it| LINE_OF_SCRIPT.is_match(it));
        (is_path && !below.contains("/..") && !is_script()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_paths_that_were_denied_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in [".ssh/id", ".ssh/known_hosts", ".bashrc", ".netrc", ".other"] {
            fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            fs::write(home.join(path), "").unwrap();
        }
        let files = FileAccess {
            hidden: vec![home.join(".ssh"), home.join(".netrc")],
            read_only: vec![home.join(".bashrc")],
            writable: vec![home.join(".ssh/known_hosts")],
            ..FileAccess::default()
        };
        let find = |line: &str| {
            let line = line.replace('H', home.to_str().unwrap());
            ClosedPaths::new(&files, Some(&home)).find(&line)
        };
        let check = |line: &str, expect: &[&str]| {
            let found = find(line);
            assert_eq!([found.hidden, found.read_only].concat(), expect, "{line}");
        };
        assert_eq!(find("H/.netrc: EACCES\nH/.bashrc: EACCES").read_only, ["~/.bashrc"]);
        check("cat: H/.ssh/id: No such file or directory", &["~/.ssh/id"]);
        check("Load key \"H/.ssh/id\": Permission denied", &["~/.ssh/id"]);
        check("ls: cannot open directory '~/.ssh': Permission denied", &["~/.ssh"]);
        check("sh: 1: cannot create H/.bashrc: Read-only file system", &["~/.bashrc"]);
        check("touch: cannot touch 'H/.ssh/new': Read-only file system", &["~/.ssh"]);
        check("Error: EACCES: permission denied, open 'H/.netrc'", &["~/.netrc"]);
        check(
            r#"{"out":"cat: H/.netrc: Permission denied\ncat: H/.ssh/id: EACCES\n"}"#,
            &["~/.netrc", "~/.ssh/id"],
        );
        check("cat: H/.netrc: Permission denied\ncat: H/.netrc: Permission denied", &["~/.netrc"]);
        check("H/.bashrc: 3: cannot create ../x: Read-only file system", &[]);
        check("H/.bashrc: line 3: H/.ssh/new: Permission denied", &["~/.ssh"]);
        // Neither closed, nor there, nor denied.
        check("cat: H/.other: Permission denied", &[]);
        check("cat: H/.ssh/absent/x: No such file or directory", &[]);
        check("cat: H/.bashrc2: Permission denied", &[]);
        check("cat: H/.ssh/known_hosts: Permission denied", &[]);
        check("H/.bashrc: No such file or directory", &[]);
        check("read H/.ssh/id", &[]);
        check(r#"{"file":"Permission denied\n see H/.netrc"}"#, &[]);
        check("H/.ssh/../.other: Permission denied", &[]);
        check("", &[]);
    }

    #[test]
    fn only_the_first_paths_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let names: Vec<String> = (0..9).map(|it| format!("{}/f{it}", home.display())).collect();
        for name in &names {
            fs::write(name, "").unwrap();
        }
        let files = FileAccess { hidden: vec![home.clone()], ..FileAccess::default() };
        let mut closed = ClosedPaths::new(&files, None);
        let found: Vec<String> =
            names.iter().flat_map(|it| closed.find(&format!("{it}: EACCES")).hidden).collect();
        assert_eq!(found, names[..MAX_NAMED]);
    }
}
