//! Finds and reads the task documents of a root. Runs nothing, follows no link out of the root, blocks on no pipe, and
//! reads no file that is longer than a task can be.

mod discover;
mod gate_files;
mod open;
mod replace;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_task::{
    self as task, ContextPath, DocumentKind, Finding, FindingCode, Task, TaskDocument, TaskId,
};
use loopkeeper_text::message::HintedError;
use loopkeeper_text::truncate::shortened_at_start;
use loopkeeper_text::{DocumentRange, tr};
use thiserror::Error;

pub use discover::{discover, has_marker, is_in_plans_folder, plans_folder, task_at};
pub use replace::replace;

/// Larger than any hand-written file; a story file of ten thousand stories is smaller.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Of a path in a message.
const NAME_CHARS: usize = 48;

/// A task identified by its files, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredTask {
    pub id: TaskId,
    /// The prompt document, absolute.
    pub path: PathBuf,
    /// The plans in its folder, absolute.
    pub plans: Vec<PathBuf>,
}

/// A task as its files contained it at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedTask {
    /// The texts that the positions in `task` refer to, the prompt document first. Shared: a task may have ten thousand
    /// criteria.
    pub documents: Arc<Vec<TaskDocument>>,
    pub task: Arc<Task>,
}

/// A task document that cannot be read. A task is never read with one of its files missing.
#[derive(Debug, Error)]
pub enum TaskFileError {
    #[error("{}", tr!("cannot read {path}: {source}", path = path.display(), source))]
    Read { path: PathBuf, source: io::Error },
    #[error("{}", tr!("{path} is not a regular file", path = path.display()))]
    NotAFile { path: PathBuf },
    #[error("{}", tr!("{path} is larger than {size} MiB", path = path.display(), size = MAX_BYTES / (1024 * 1024)))]
    TooLarge { path: PathBuf },
    #[error("{}", tr!("{path} is a link that leaves the root", path = path.display()))]
    OutsideRoot { path: PathBuf },
    #[error("{}", tr!("cannot write {path}: {source}", path = path.display(), source))]
    Write { path: PathBuf, source: io::Error },
    #[error("{}", tr!("{path} was changed by another program in the meantime, or is not UTF-8 text", path = path.display()))]
    Changed { path: PathBuf },
    #[error("{}", tr!("`{glob}` of `[tasks] exclude` is not a glob: {source}", glob, source))]
    BadGlob { glob: String, source: globset::Error },
}

impl HintedError for TaskFileError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { .. } => tr!("make the file readable, or name another task."),
            Self::NotAFile { .. } => tr!("put the task document there, or name another task."),
            Self::TooLarge { .. } => tr!("split the document, or name another task."),
            Self::OutsideRoot { .. } => tr!("copy the file into the root."),
            Self::Write { .. } => tr!("make the file and its folder writable."),
            Self::Changed { .. } => tr!("check it, and try again."),
            Self::BadGlob { .. } => tr!("correct the glob in loopkeeper.toml."),
        };
        Some(hint.to_owned())
    }
}

/// One file of a task as it is on disk.
struct RawTaskFile {
    /// Relative to the root.
    name: String,
    bytes: Vec<u8>,
}

/// Reads all files of a task.
pub fn load(root: &Path, found: &DiscoveredTask) -> Result<LoadedTask, TaskFileError> {
    reload(root, found, &LoadedTask::default())
}

/// Reads all files of a task; parses them only if they differ from those of `last`.
pub fn reload(root: &Path, found: &DiscoveredTask, last: &LoadedTask) -> Result<LoadedTask, TaskFileError> {
    let files = read_task_files(root, found)?;
    let is_same = |(file, document): (&RawTaskFile, &TaskDocument)| {
        file.name == document.path && file.bytes == document.text.as_bytes()
    };
    // A file that is not UTF-8 may decode to the same text as another one.
    let is_exact = last.task.findings.iter().all(|it| it.code != FindingCode::Syntax);
    let specification = specification(root, found);
    let is_last = is_exact
        && files.len() == last.documents.len()
        && files.iter().zip(&*last.documents).all(is_same)
        && last.task.context.iter().filter(|it| it.is_implicit()).eq(&specification);
    if is_last {
        return Ok(last.clone());
    }
    let mut loaded = parse_task(&files);
    Arc::make_mut(&mut loaded.task).context.extend(specification);
    Ok(loaded)
}

/// The existing files that specify the items of a plan: `spec.md` beside `tasks.md`. They are context of the task,
/// although no document mentions them.
fn specification(root: &Path, found: &DiscoveredTask) -> Vec<ContextPath> {
    let mut all = Vec::new();
    for path in std::iter::once(&found.path).chain(&found.plans) {
        let names = task::kind_of(&relative(root, path)).map_or(&[][..], DocumentKind::specification);
        let beside = names.iter().map(|it| path.with_file_name(it)).filter(|it| it.is_file());
        all.extend(beside.map(|it| ContextPath::implicit(relative(root, &it))));
    }
    all
}

/// Contents of all files of a task, the prompt document first.
fn read_task_files(root: &Path, found: &DiscoveredTask) -> Result<Vec<RawTaskFile>, TaskFileError> {
    let paths = std::iter::once(&found.path).chain(&found.plans);
    paths.map(|path| Ok(RawTaskFile { name: relative(root, path), bytes: read(root, path)? })).collect()
}

/// Parses these files as one task.
fn parse_task(files: &[RawTaskFile]) -> LoadedTask {
    let mut documents = Vec::new();
    let mut findings = Vec::new();
    for RawTaskFile { name, bytes } in files {
        let (text, broken) = decode(bytes);
        findings.extend(broken.map(|at| not_utf8(name, bytes, at)));
        documents.push(TaskDocument { path: name.clone(), text });
    }
    let mut task = task::parse_task(&documents);
    task.findings.splice(0..0, findings);
    LoadedTask { documents: Arc::new(documents), task: Arc::new(task) }
}

/// The first bytes of a text file inside the root, as UTF-8.
pub fn read_beginning(root: &Path, path: &Path, limit: u64) -> Result<String, TaskFileError> {
    Ok(decode(&read_up_to(root, path, limit)?).0)
}

/// Paths after `CONTEXT:` that do not exist: the agent could not find them.
pub fn missing_context(root: &Path, task: &Task) -> Vec<Finding> {
    let missing = task.context.iter().filter_map(|mention| {
        let fact = missing_reason(root, &mention.text)?;
        let message = tr!("{name}: {fact}", name = shortened_at_start(&mention.text, NAME_CHARS), fact);
        Some(Finding { code: FindingCode::BadValue, message, place: mention.place.clone(), fix: None })
    });
    missing.collect()
}

/// The file inside the root that a path after `CONTEXT:` names, and the line number that it may end in: `src/a.rs:12`.
pub fn context_target(root: &Path, mention: &str) -> Option<(PathBuf, Option<u32>)> {
    let root = root.canonicalize().ok()?;
    let resolve = |path: &str| root.join(path).canonicalize().ok().filter(|it| it.starts_with(&root));
    if let Some(path) = resolve(mention) {
        return Some((path, None));
    }
    let (path, line) = mention.split_once([':', '#'])?;
    let digits: String = line.trim_start_matches('L').chars().take_while(char::is_ascii_digit).collect();
    Some((resolve(path)?, digits.parse().ok()))
}

/// Relative to the root, with `/` separators.
fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// The bytes of a file inside the root.
pub fn read(root: &Path, path: &Path) -> Result<Vec<u8>, TaskFileError> {
    let bytes = read_up_to(root, path, MAX_BYTES + 1)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(TaskFileError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

fn read_up_to(root: &Path, path: &Path, limit: u64) -> Result<Vec<u8>, TaskFileError> {
    let failed = |source| TaskFileError::Read { path: path.to_owned(), source };
    let file = open::open_beneath(root, path)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(TaskFileError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The text, and the offset of the first byte that is not UTF-8. Each invalid byte becomes one `?`, so that positions
/// in the text match the file.
fn decode(bytes: &[u8]) -> (String, Option<usize>) {
    let mut text = String::with_capacity(bytes.len());
    let mut broken = None;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            broken.get_or_insert(text.len());
            text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
        }
    }
    (text, broken)
}

fn not_utf8(name: &str, bytes: &[u8], at: usize) -> Finding {
    let fact = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => tr!("UTF-16 text").to_owned(),
        _ => tr!("byte {at} is not UTF-8", at),
    };
    let message =
        tr!("{name}: {fact}. Save the file as UTF-8.", name = shortened_at_start(name, NAME_CHARS), fact);
    let place = DocumentRange { file: name.to_owned(), range: at..at + 1 };
    Finding { code: FindingCode::Syntax, message, place, fix: None }
}

/// Why `mention` does not exist; `None`: it exists.
fn missing_reason(root: &Path, mention: &str) -> Option<&'static str> {
    let path = Path::new(mention);
    if path.is_absolute()
        || mention.starts_with('~')
        || path.components().any(|part| part.as_os_str() == "..")
    {
        return Some(tr!("leaves the root. Name a path inside it."));
    }
    // Matches of a glob are not listed; only the folder before it must exist.
    let is_plain =
        |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let plain: PathBuf = path.components().take_while(is_plain).collect();
    let is_inside = |path: &Path| {
        let real = root.join(path).canonicalize().ok()?;
        Some(real.starts_with(root.canonicalize().ok()?))
    };
    let without_line = plain.to_string_lossy().split([':', '#']).next().map(PathBuf::from);
    match is_inside(&plain).or_else(|| is_inside(&without_line?)) {
        Some(true) => None,
        Some(false) => Some(tr!("is a link that leaves the root.")),
        None => Some(tr!("does not exist. Correct the path or remove it.")),
    }
}
