//! Finds the files of a workspace that make an agent run programs without being asked: hooks, tool servers. Reads only,
//! never through a link that leads out of the root, and never more than a user could review.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use loopkeeper_core::trust::{TrustContent, TrustItem, TrustSubject};
use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;
use rustix::fs::{Mode, OFlags};

const FILES: [&str; 6] = [
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".cursor/mcp.json",
    ".cursor/hooks.json",
    ".cursor/cli.json",
];
/// Folders that count with all their contents.
const FOLDERS: [&str; 5] = [".codex", ".gemini", ".opencode", ".qwen", ".amp"];
/// Size limit of one file.
pub const MAX_BYTES: u64 = 1024 * 1024;
/// Limit of the number of files.
pub const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 16;

/// Why the files could not be read: in this case nothing may start.
#[derive(Debug, thiserror::Error)]
pub enum AgentFileError {
    #[error("{}", tr!("cannot read {path}: {source}", path = path.display(), source))]
    Io { path: PathBuf, source: io::Error },
    #[error("{}", tr!("{path} contains more than {MAX_BYTES} bytes", path = path.display(), MAX_BYTES))]
    TooBig { path: PathBuf },
    #[error("{}", tr!("{path} and others like it are more than {MAX_FILES} files", path = path.display(), MAX_FILES))]
    TooMany { path: PathBuf },
    #[error("{}", tr!("{path} is neither a file, a folder nor a link", path = path.display()))]
    Special { path: PathBuf },
}

impl HintedError for AgentFileError {
    fn hint(&self) -> Option<String> {
        let hint = tr!(
            "Agents run programs from there, so it has to be readable in full before it can be trusted: remove what \
         does not belong there."
        );
        Some(hint.to_owned())
    }
}

/// All such files under `root`, by path.
pub fn find_agent_files(root: &Path) -> Result<Vec<TrustItem>, AgentFileError> {
    let real = root.canonicalize().map_err(|source| AgentFileError::Io { path: root.to_owned(), source })?;
    let mut search = SurfaceSearch { root: real, items: Vec::new(), visits: 0 };
    for file in FILES {
        search.visit_path(Path::new(file), 0)?;
    }
    search.add_settings(Path::new(".claude"))?;
    for folder in FOLDERS {
        search.visit_path(Path::new(folder), 0)?;
    }
    search.items.sort_by(|one, other| one.runs.cmp(&other.runs));
    Ok(search.items)
}

struct SurfaceSearch {
    /// Real path.
    root: PathBuf,
    items: Vec<TrustItem>,
    /// Limits the work: links to their own parent folders would multiply without end.
    visits: usize,
}

impl SurfaceSearch {
    /// Only the settings of this folder; the rest of it is prose.
    fn add_settings(&mut self, folder: &Path) -> Result<(), AgentFileError> {
        if self.leads_out(folder) {
            return self.visit_path(folder, 0);
        }
        for name in self.names_in(folder)? {
            let text = name.to_string_lossy();
            if text.starts_with("settings") && text.ends_with(".json") {
                self.visit_path(&folder.join(name), 0)?;
            }
        }
        Ok(())
    }

    fn leads_out(&self, path: &Path) -> bool {
        let full_path = self.root.join(path);
        full_path.is_symlink() && !full_path.canonicalize().is_ok_and(|it| it.starts_with(&self.root))
    }

    /// Adds `path` (relative to the root): a file, a folder with all its contents, a link.
    fn visit_path(&mut self, path: &Path, depth: usize) -> Result<(), AgentFileError> {
        let full_path = self.root.join(path);
        self.visits += 1;
        if self.visits > 4 * MAX_FILES {
            return Err(AgentFileError::TooMany { path: full_path });
        }
        let Some(found) =
            ignore_not_found(std::fs::symlink_metadata(&full_path)).map_err(io_at(&full_path))?
        else {
            return Ok(());
        };
        if !found.is_symlink() {
            return self.visit_resolved(path, &full_path, &found, depth);
        }
        // The agent follows the link. Inside the root, its target is the workspace's own content; elsewhere it is not
        // ours to read, and the link itself is the content.
        if self.leads_out(path) {
            let to = std::fs::read_link(&full_path).map_err(io_at(&full_path))?;
            return self.add(path, TrustContent::Link(to.as_os_str().as_bytes().to_vec()));
        }
        let real = full_path.canonicalize().map_err(io_at(&full_path))?;
        let found = std::fs::metadata(&real).map_err(io_at(&real))?;
        self.visit_resolved(path, &real, &found, depth)
    }

    fn visit_resolved(
        &mut self,
        path: &Path,
        real: &Path,
        found: &Metadata,
        depth: usize,
    ) -> Result<(), AgentFileError> {
        if found.is_dir() {
            if depth == MAX_DEPTH {
                return Err(AgentFileError::TooMany { path: self.root.join(path) });
            }
            // opencode installs the dependencies of plugins there.
            for name in self.names_in(path)?.into_iter().filter(|it| it != "node_modules") {
                self.visit_path(&path.join(name), depth + 1)?;
            }
            return Ok(());
        }
        if !found.is_file() {
            return Err(AgentFileError::Special { path: self.root.join(path) });
        }
        let content = TrustContent::File(read(real)?);
        self.add(path, content)
    }

    fn add(&mut self, path: &Path, content: TrustContent) -> Result<(), AgentFileError> {
        if self.items.len() == MAX_FILES {
            return Err(AgentFileError::TooMany { path: self.root.join(path) });
        }
        let path = path.as_os_str().as_bytes().to_vec();
        self.items.push(TrustItem::new(TrustSubject::AgentFile { path, content }));
        Ok(())
    }

    /// Names in a folder; empty if it does not exist.
    fn names_in(&self, path: &Path) -> Result<Vec<OsString>, AgentFileError> {
        let full_path = self.root.join(path);
        let entries = match std::fs::read_dir(&full_path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            other => other.map_err(io_at(&full_path))?,
        };
        let mut names_in = Vec::new();
        for entry in entries {
            if names_in.len() > MAX_FILES {
                return Err(AgentFileError::TooMany { path: full_path });
            }
            names_in.push(entry.map_err(io_at(&full_path))?.file_name());
        }
        Ok(names_in)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, AgentFileError> {
    // If it was swapped since the check, a pipe must not block us and a link must not lead us out.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| io_at(path)(error.into()))?;
    let mut bytes = Vec::new();
    File::from(file).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io_at(path))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(AgentFileError::TooBig { path: path.to_owned() });
    }
    Ok(bytes)
}

fn ignore_not_found(found: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match found {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        other => other.map(Some),
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> AgentFileError {
    let path = path.to_owned();
    move |source| AgentFileError::Io { path, source }
}
