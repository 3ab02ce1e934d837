//! Converts other sources to a task document: a loop of Claude Code's plugin, a requirements document, the text of an
//! issue, the log of a failed run. The source is read, never written; the new document is returned before it is
//! written.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use loopkeeper_task::import::{file_stem, log_document, task_document};
use loopkeeper_task::{TaskDocument, parse_task};
use loopkeeper_text::{sanitize, tr, truncate};

use loopkeeper_lint::Gate;

use super::failure::Failure;
use super::foreign::{self, ImportResult, PluginLoopFile};
use super::project_checks::{InstalledTools, ProposedChecks};
use loopkeeper_core::plugin_loop::FILES;
use loopkeeper_system::config_files::{self, root_of};
use loopkeeper_system::config_text;
use loopkeeper_system::task_files;

/// Extensions of the files that are read as texts.
const TEXTS: [&str; 3] = ["md", "txt", "log"];
/// Of a longer text the end is read, because failures are reported there.
const MAX_BYTES: usize = 1024 * 1024;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportFormat {
    /// Detected from its content.
    Any,
    Log,
}

/// What a task can be made of.
pub enum ImportSource {
    PluginLoop(PluginLoopFile),
    Text(ImportedText),
}

/// A task document that is not written yet.
pub struct ImportedText {
    folder: PathBuf,
    name: String,
    document: String,
}

impl ImportSource {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let absolute = std::path::absolute(path)?;
        if FILES.iter().any(|it| absolute.ends_with(it)) {
            return foreign::open(path).map(Self::PluginLoop);
        }
        let is_text = absolute.extension().is_some_and(|it| TEXTS.iter().any(|known| it == *known));
        refuse_task(&absolute)?;
        if is_text {
            ImportedText::read(&absolute).map(Self::Text)
        } else {
            foreign::open(path).map(Self::PluginLoop)
        }
    }

    /// The document as it will be written.
    pub fn document(&self) -> Result<String, Failure> {
        match self {
            Self::PluginLoop(found) => found.document(),
            Self::Text(text) => Ok(text.document.clone()),
        }
    }

    /// Writes the document, and cancels a loop of the plugin. Overwrites nothing.
    pub fn write(&self) -> Result<ImportResult, Failure> {
        match self {
            Self::PluginLoop(found) => found.take_over(),
            Self::Text(text) => {
                let document = foreign::write_new(&text.folder, &text.name, &text.document)?;
                Ok(ImportResult { document, problem: None })
            }
        }
    }
}

impl ImportedText {
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Where the document would be written now.
    pub fn path(&self) -> PathBuf {
        foreign::free_path(&self.folder, &self.name)
    }

    /// Whether a criterion has no check, or there is no criterion.
    pub fn lacks_checks(&self) -> bool {
        let document = TaskDocument { path: self.name.clone(), text: self.document.clone() };
        let criteria = parse_task(&[document]).criteria;
        criteria.is_empty() || criteria.iter().any(|it| it.check.is_none())
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let shown = sanitize::visible(&path.to_string_lossy());
        let is_log = path.extension().is_some_and(|it| it == "log");
        let text = if is_log { read_end(path)? } else { config_text::read_text(path)? };
        let text = text.filter(|it| !it.trim().is_empty());
        let text = text.ok_or_else(|| {
            Failure::usage(tr!("{shown} is empty, or does not exist", shown))
                .hint(tr!("Name a file with the text of the task."))
        })?;
        let folder = path.parent().unwrap_or(path).canonicalize()?;
        let stem = path.file_stem().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let kind = if is_log { ImportFormat::Log } else { ImportFormat::Any };
        Self::of_kind(kind, (&folder, Some(&stem)), &text)
    }

    /// A text without a file, for a task in `folder`: named by its title unless it has a `name`.
    pub fn of(folder: &Path, name: Option<&str>, text: &str) -> Result<Self, Failure> {
        Self::of_kind(ImportFormat::Any, (folder, name), text)
    }

    fn of_kind(
        kind: ImportFormat,
        (folder, name): (&Path, Option<&str>),
        text: &str,
    ) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::usage(tr!("there is no text to import"))
                .hint(tr!("Copy or select the text of the task.")));
        }
        let folder = folder.to_owned();
        let text = truncate::last_bytes(text, MAX_BYTES);
        let checks = ProposedChecks::of(&root_of(&folder)?, &folder, &InstalledTools::of_environment());
        let mut checks = checks.unwrap_or_default();
        // The tool that complained is installed where the run was.
        let complained = gate_of_log(text);
        checks
            .found
            .extend(checks.left_out.into_iter().filter(|it| complained.is_some() && it.gate() == complained));
        let checks: Vec<_> = checks.found.into_iter().map(|it| (it.criterion(), it.command)).collect();
        let title = sanitize::line(name.unwrap_or("Imported task"));
        let document = sanitize::text(&match kind {
            ImportFormat::Log => log_document(text, &checks),
            ImportFormat::Any => task_document(&title, text, &checks),
        });
        let stem = name.map_or_else(|| file_stem(&document), |_| title.to_lowercase());
        Ok(Self { folder, name: format!("{stem}.ralph.md"), document })
    }
}

/// The gate of the project that a log shows to have failed, where that is not the tests.
fn gate_of_log(text: &str) -> Option<Gate> {
    const LOG_EXCERPTS: [(&str, Gate); 9] = [
        (": error TS", Gate::Types),
        (" in 1 file (checked ", Gate::Types),
        (" files (checked ", Gate::Types),
        (" problems (", Gate::Lint),
        (" problem (", Gate::Lint),
        ("rust-clippy", Gate::Lint),
        ("[*] fixable with the `--fix` option", Gate::Lint),
        ("would be reformatted", Gate::Format),
        ("Code style issues found", Gate::Format),
    ];
    LOG_EXCERPTS.iter().find(|(sign, _)| text.contains(sign)).map(|it| it.1)
}

/// The end of a log, which can be long and contain any bytes; `None` if it does not exist.
fn read_end(path: &Path) -> Result<Option<String>, Failure> {
    let metadata = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if !metadata.is_file() {
        let shown = sanitize::visible(&path.to_string_lossy());
        return Err(
            Failure::usage(tr!("{shown} is not a regular file", shown)).hint(tr!("Name the file of a log."))
        );
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(MAX_BYTES as u64)))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// `tasks/prd-*.md`, the requirements from which another tool makes its stories; the first by name.
pub fn requirements_in(root: &Path) -> Option<String> {
    const MAX_ENTRIES: usize = 1_000;
    let entries = std::fs::read_dir(root.join("tasks")).ok()?.take(MAX_ENTRIES).flatten();
    let names = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    let names = names.filter_map(|it| it.file_name().into_string().ok());
    let is_markdown = |it: &str| Path::new(it).extension().is_some_and(|it| it == "md");
    let first = names.filter(|it| it.starts_with("prd-") && is_markdown(it)).min()?;
    Some(format!("tasks/{first}"))
}

/// A second task on the same document would do the work twice.
fn refuse_task(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent().and_then(|it| it.canonicalize().ok()) else { return Ok(()) };
    let root = root_of(&folder)?;
    let real = folder.join(path.file_name().unwrap_or_default());
    let resolved = config_files::load(&root, &[])?;
    let settings = resolved.settings().cloned().unwrap_or_default();
    let tasks = task_files::discover(&root, &settings.task_exclude, &settings.task_files)?;
    let Some(task) = tasks.iter().find(|it| it.path == real || it.plans.contains(&real)) else {
        return Ok(());
    };
    let (shown, id) = (sanitize::visible(&path.to_string_lossy()), sanitize::visible(&task.id.0));
    let fact = if task.path == real {
        tr!("{shown} is already a task", shown)
    } else {
        tr!("{shown} is a part of the task {id}", shown, id)
    };
    Err(Failure::usage(fact).hint(tr!("`loopkeeper run {id}` starts it.", id)))
}

#[cfg(test)]
mod tests {
    use loopkeeper_lint::Gate;

    use super::{gate_of_log, requirements_in};

    #[test]
    fn requirements_of_another_tool_are_found() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(requirements_in(root.path()), None);
        std::fs::create_dir_all(root.path().join("tasks/prd-folder.md")).unwrap();
        for name in ["prd-shop.md", "prd-bill.md", "notes.md", "prd-shop.json"] {
            std::fs::write(root.path().join("tasks").join(name), "# Shop\n").unwrap();
        }
        assert_eq!(requirements_in(root.path()).as_deref(), Some("tasks/prd-bill.md"));
    }

    #[test]
    fn the_gate_that_failed_is_recognised_in_its_log() {
        let check = |log: &str, expect: Option<Gate>| assert_eq!(gate_of_log(log), expect, "{log}");
        check("src/a.ts(1,2): error TS2322: Type 'a' is not assignable", Some(Gate::Types));
        check("Found 1 error in 1 file (checked 1 source file)", Some(Gate::Types));
        check("Found 12 errors in 1 file (checked 40 source files)", Some(Gate::Types));
        check("Found 12 errors in 3 files (checked 40 source files)", Some(Gate::Types));
        check("\u{2716} 3 problems (2 errors, 1 warning)", Some(Gate::Lint));
        check("would reformat a.py\n1 file would be reformatted", Some(Gate::Format));
        check("test result: FAILED. 3 passed; 1 failed", None);
    }
}
