//! `init`: a first task file, with the checks that the project already has. It reads manifests and writes one
//! new file; it runs nothing, overwrites nothing and asks nobody.

mod found;
mod template;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use loopkeeper_core::sanitize;
use loopkeeper_core::task::kind_of;
use thiserror::Error;

use self::found::FoundCheck;
use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::out::Out;
use crate::adapters::config_files::{ConfigFileError, root_of};

const FILE: &str = "PROMPT.md";

/// The subcommand: writes the file and says what to do with it.
pub(crate) fn command(out: &mut Out) -> Answer {
    let root = root_of(Path::new("."))?;
    let report = run(&root).map_err(|error| {
        let failure = match &error {
            InitError::Exists { .. } => Failure::usage(&error),
            _ => Failure::ended(&error),
        };
        failure.hint(error.hint())
    })?;
    out.line(format_args!("Wrote {}", sanitize::visible(&report.file.to_string_lossy())));
    for check in &report.checks {
        out.line(format_args!("  {}: `$ {}` (found in {})", check.name, check.command, check.file));
    }
    if report.checks.is_empty() {
        out.line(
            "No checks were found: until you add one, only the agent's word says that the work is done.",
        );
    }
    out.line("Say in it what should be done, then start: loopkeeper run");
    Ok(Exit::Done)
}

/// What `init` did.
#[derive(Debug)]
pub(super) struct InitReport {
    /// The new task document.
    pub(crate) file: PathBuf,
    /// Its checks; empty: the user has to write the first.
    pub(crate) checks: Vec<FoundCheck>,
}

#[derive(Debug, Error)]
pub(super) enum InitError {
    #[error("there is a task document already: {}", files.join(", "))]
    Exists { files: Vec<String> },
    #[error(transparent)]
    Manifest(#[from] ConfigFileError),
    #[error("{} is not JSON: {source}", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
    #[error("cannot list {}: {source}", path.display())]
    List { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl InitError {
    /// The remedy.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Exists { files } => match files.as_slice() {
                [only] => format!("`loopkeeper run {only}` starts a loop on it."),
                _ => "`loopkeeper run FILE` starts a loop on one of them.".to_owned(),
            },
            Self::Manifest(error) => error.hint().to_owned(),
            Self::NotJson { .. } => "correct the file; `init` reads its scripts.".to_owned(),
            Self::List { .. } | Self::Write { .. } => "check the folder's permissions.".to_owned(),
        }
    }
}

/// Writes the task file into `root`.
pub(super) fn run(root: &Path) -> Result<InitReport, InitError> {
    let existing = existing_tasks(root)?;
    if !existing.is_empty() {
        let files = existing.iter().map(|it| sanitize::visible(it)).collect();
        return Err(InitError::Exists { files });
    }
    let checks = found::checks(root)?;
    let file = root.join(FILE);
    write_new(&file, &template::task(&checks))?;
    Ok(InitReport { file, checks })
}

/// Task documents that a run in this folder would find beside the new one.
fn existing_tasks(root: &Path) -> Result<Vec<String>, InitError> {
    let failed = |source| InitError::List { path: root.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(root).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        // A plan alone is no obstacle: it becomes the plan of the new task.
        if kind_of(&name).is_some_and(|kind| !kind.is_plan()) {
            files.push(name);
        }
    }
    files.sort();
    let deeper = [".ralph/PROMPT.md", "scripts/ralph/prompt.md"];
    files.extend(deeper.into_iter().filter(|it| root.join(it).exists()).map(str::to_owned));
    Ok(files)
}

fn write_new(file: &Path, text: &str) -> Result<(), InitError> {
    let failed = |source: io::Error| match source.kind() {
        // Somebody wrote it in between.
        ErrorKind::AlreadyExists => InitError::Exists { files: vec![FILE.to_owned()] },
        _ => InitError::Write { path: file.to_owned(), source },
    };
    let mut open = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
    open.write_all(text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests;
