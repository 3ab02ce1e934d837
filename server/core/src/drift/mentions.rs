//! Reads the files, folders and identifiers that a task mentions.

use std::collections::HashSet;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::{TaskTexts, companions, names};
use loopkeeper_source::test_inventory::is_test_path;
use loopkeeper_task::criterion::Check;

/// Maximum number of bytes of text that are read. A longer task has no share: the rest may mention any file.
const MAX_TEXT: usize = 512 * 1024;
const MAX_GLOBS: usize = 100;
/// Minimum number of letters of a word that can be the name of a file; words of paths may be shorter.
const MIN_LETTERS: usize = 4;

/// Characters that end a word, in addition to whitespace.
const SEPARATORS: &str = "\"'()[]{}<>,;|=!?，。、；：！？（）「」《》“”‘’【】";
/// Folders of documents and tests, which do not say where the work is.
const SUPPORT_FOLDERS: [&str; 5] = ["docs", "doc", "examples", "scripts", "ci"];

/// What a task mentions.
#[derive(Debug, Clone)]
pub struct TaskMentions {
    /// Single words, and whole names of files and folders, in lower case.
    words: HashSet<String>,
    /// Words of one name, joined: `user login`.
    joined: HashSet<String>,
    globs: GlobSet,
    names_source: bool,
}

/// Whether a word that looks like a source is the subject of the task, or an argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MentionContext {
    Prose,
    Command,
}

#[derive(Default)]
struct MentionReader {
    words: HashSet<String>,
    joined: HashSet<String>,
    globs: Vec<Glob>,
    glob_count: usize,
    names_source: bool,
    bytes: usize,
}

impl TaskMentions {
    pub fn of(texts: &TaskTexts<'_>) -> Self {
        let mut reader = MentionReader::default();
        reader.read_markdown(texts.prompt);
        for path in texts.context {
            reader.read(path, MentionContext::Prose);
        }
        for criterion in texts.criteria {
            reader.read_markdown(&criterion.name);
            reader.read_check(criterion.check.as_ref());
        }
        for item in texts.plan {
            reader.read_markdown(&item.title);
        }
        let complete = reader.bytes <= MAX_TEXT && reader.glob_count <= MAX_GLOBS;
        let mut globs = GlobSetBuilder::new();
        for glob in reader.globs {
            globs.add(glob);
        }
        Self {
            words: reader.words,
            joined: reader.joined,
            globs: globs.build().unwrap_or_default(),
            names_source: reader.names_source && complete,
        }
    }

    /// Whether the task names any source. Otherwise every file would be off topic.
    pub fn name_a_source(&self) -> bool {
        self.names_source
    }

    /// Whether the file or one of its folders is mentioned, or its name consists of mentioned words.
    pub fn mention(&self, path: &str) -> bool {
        let has = |it: &str| {
            let word = it.to_lowercase();
            self.words.contains(&word) || self.words.contains(&names::singular(&word))
        };
        let words = names::words(names::stem(path));
        path.split('/').any(has)
            || has(names::stem(path))
            || self.globs.is_match(path)
            || (!words.is_empty() && words.iter().all(|it| self.words.contains(it)))
            || self.mention_part(&words)
    }

    /// `auth_helpers` where `auth.py` is mentioned.
    fn mention_part(&self, words: &[String]) -> bool {
        (0..words.len()).any(|from| {
            (from + 1..=words.len())
                .filter_map(|to| words.get(from..to))
                .any(|part| self.joined.contains(&part.join(" ")))
        })
    }
}

impl MentionReader {
    /// Code spans with blanks and fenced blocks are commands.
    fn read_markdown(&mut self, text: &str) {
        let mut fenced = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
                fenced = !fenced;
                continue;
            }
            for (at, part) in line.split('`').enumerate() {
                let is_span = at % 2 == 1;
                let is_command = fenced || (is_span && part.trim().contains(char::is_whitespace));
                self.read(part, if is_command { MentionContext::Command } else { MentionContext::Prose });
            }
        }
    }

    fn read_check(&mut self, check: Option<&Check>) {
        match check {
            Some(Check::Command { command, .. }) => self.read(command, MentionContext::Command),
            Some(
                Check::Exists { globs }
                | Check::Missing { globs }
                | Check::Has { globs, .. }
                | Check::Lacks { globs, .. },
            ) => globs.iter().for_each(|it| self.read_token(it, MentionContext::Prose)),
            Some(Check::Judge { prose, .. }) => self.read_markdown(prose),
            Some(Check::Clean | Check::Get { .. }) | None => {}
        }
    }

    fn read(&mut self, text: &str, kind: MentionContext) {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > MAX_TEXT {
            return;
        }
        for token in text.split(|it: char| it.is_whitespace() || SEPARATORS.contains(it)) {
            // The path of a URL is not a path of the project.
            if token.is_empty() || token.contains("://") {
                continue;
            }
            self.read_token(token, kind);
            if !token.is_ascii() {
                // Words of languages without blanks touch paths.
                token.split(|it: char| !it.is_ascii()).for_each(|it| self.read_token(it, kind));
            }
        }
    }

    fn read_token(&mut self, token: &str, kind: MentionContext) {
        let token = token.trim_start_matches(['@', '-', ':', '*']).trim_end_matches(['.', ':', '-']);
        let token = token.strip_prefix("./").unwrap_or(token);
        // A location: `src/auth.py:12:3`.
        let token = token.split(':').next().filter(|it| it.contains(['/', '.'])).unwrap_or(token);
        if token.contains('*') {
            self.read_glob(token, kind);
        }
        for word in token.split(|it: char| !it.is_alphanumeric()) {
            if word.chars().count() >= MIN_LETTERS {
                self.add_word(word);
            }
        }
        if token.contains(['/', '.']) && !token.contains('*') {
            self.read_path(token, kind);
        }
        for part in token.split([':', '.', '/', '*']) {
            if names::is_identifier(part) {
                self.add_name(part, MIN_LETTERS);
            }
        }
    }

    fn read_glob(&mut self, glob: &str, kind: MentionContext) {
        // Emphasis is not a glob.
        if !glob.contains(['/', '.']) {
            return;
        }
        self.glob_count += 1;
        if self.glob_count > MAX_GLOBS {
            return;
        }
        let anywhere = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
        if let Ok(it) = GlobBuilder::new(&anywhere).literal_separator(true).build() {
            self.globs.push(it);
            self.names_source |=
                kind == MentionContext::Prose && companions::is_source(glob) && !is_test_path(glob);
        }
    }

    fn read_path(&mut self, path: &str, kind: MentionContext) {
        let name = names::file_name(path);
        if !name.chars().any(char::is_alphabetic) {
            return;
        }
        self.words.insert(name.to_lowercase());
        self.add_name(names::stem(path), 3);
        let is_folder = path.ends_with('/');
        let is_subject = if is_folder {
            !SUPPORT_FOLDERS.contains(&name) && !companions::accompanies(&format!("{path}a.rs"))
        } else {
            !companions::accompanies(path)
        };
        self.names_source |= kind == MentionContext::Prose && is_subject;
    }

    fn add_word(&mut self, word: &str) {
        let word = word.to_lowercase();
        self.words.insert(names::singular(&word));
        self.words.insert(word);
    }

    fn add_name(&mut self, name: &str, min_letters: usize) {
        self.add_word(name);
        let words = names::words(name);
        for word in &words {
            self.add_word(word);
        }
        let joined = words.join(" ");
        if joined.chars().count() >= min_letters {
            self.joined.insert(joined);
        }
    }
}
