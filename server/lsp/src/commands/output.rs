//! `output`: the output of a check or an agent, as a file that an editor can open. The file is a sanitized copy without
//! escape sequences and control characters.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::check::{MAX_LOCATIONS, excerpt};
use loopkeeper_text::tr;
use lsp_types::Url;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{CommandResult, OutputArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::failure::Failure;
use loopkeeper_workspace::snapshot::{StoredResult, TaskSnapshot};

/// Larger than any output a user reads.
const MAX_BYTES: u64 = 16 << 20;

pub(super) async fn output(shared: &Arc<ServerState>, args: OutputArgs) -> CommandOutcome {
    let task = target::task(shared, &args.task).await?;
    let is_shown = args.show != Some(false);
    let page = run_blocking(move || {
        let (source, name) = output_source(&task, &args)?;
        let text = excerpt::readable(&String::from_utf8_lossy(&read_head_and_tail(&source)?));
        let heading = failures(&task, &args, &source).unwrap_or_default();
        let pages = VirtualDocuments::of(&task.root)?;
        Ok(pages.write_page(&name, [heading, text].concat().as_bytes())?)
    })
    .await?;
    let uri = virtual_documents::uri(&page);
    if is_shown {
        virtual_documents::open_page(shared, &uri);
    }
    Ok(CommandResult { uri: Some(uri), ..CommandResult::default() })
}

/// The file that contains the output, and the name of its copy.
fn output_source(task: &TaskSnapshot, args: &OutputArgs) -> Result<(PathBuf, String), CommandRefusal> {
    let no_output = |fact: &'static str| CommandRefusal::internal_error(fact);
    if let Some(id) = &args.criterion {
        // The id becomes a part of paths.
        if !is_known(task, id) {
            return Err(no_output(tr!("there is no output of this check yet")));
        }
        let stored = task.results.iter().find(|(it, _)| it.0 == *id).map(|(_, stored)| stored);
        let of_iteration = args.iteration.and_then(|number| {
            let folder = task.last_loop.as_ref()?.dir.output();
            Some(folder.join(format!("{number:04}.{id}.out"))).filter(|it| it.is_file())
        });
        let last = || stored.and_then(stored_output_path);
        let found = of_iteration.or_else(last);
        let found = found.ok_or_else(|| no_output(tr!("there is no output of this check yet")))?;
        return Ok((found, format!("check-{id}.txt")));
    }
    let loop_view = task
        .last_loop
        .as_ref()
        .ok_or_else(|| no_output(tr!("there is no output of this task: no loop ran yet")))?;
    let number = args.iteration.unwrap_or(loop_view.state.iteration);
    let found = loop_view.dir.output().join(format!("{number:04}.out"));
    if found.is_file() {
        Ok((found, format!("{}-{number:04}.txt", loop_view.status.id)))
    } else {
        Err(CommandRefusal::internal_error(tr!("there is no output of iteration {number} yet", number)))
    }
}

/// Whether it is the id of a criterion of the task or of its last loop, whose task may have been edited since.
fn is_known(task: &TaskSnapshot, id: &str) -> bool {
    let pinned = task.last_loop.iter().flat_map(|it| &it.state.criteria.pinned).map(|it| &it.criterion.id);
    let ids = task.task.criteria.iter().map(|it| &it.id).chain(task.results.keys()).chain(pinned);
    ids.into_iter().any(|it| it.0 == id)
}

/// The locations where a check failed, shown above its output.
fn failures(task: &TaskSnapshot, args: &OutputArgs, source: &Path) -> Option<String> {
    let (_, stored) = task.results.iter().find(|(it, _)| Some(&it.0) == args.criterion.as_ref())?;
    let is_of_result = stored_output_path(stored).is_some_and(|it| it == source);
    let places = stored.result.failure_lines(MAX_LOCATIONS, usize::MAX);
    (is_of_result && !places.is_empty())
        .then(|| [tr!("Where it fails:"), &places.join("\n"), tr!("Its output:"), ""].join("\n\n"))
}

fn stored_output_path(stored: &StoredResult) -> Option<PathBuf> {
    Url::parse(stored.output.as_ref()?).ok()?.to_file_path().ok()
}

/// Reads the beginning, and also the end where the middle was dropped.
fn read_head_and_tail(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for part in [path.to_owned(), path.with_extension("tail")] {
        let read = File::open(&part).and_then(|it| it.take(MAX_BYTES).read_to_end(&mut bytes));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound && part != path => {}
            Err(error) => return Err(unreadable(&part, &error)),
        }
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::NotFound {
        return Failure::ended(tr!("this output was removed"))
            .hint(tr!("Old loops are removed with their output; run the check again."));
    }
    Failure::of_system(tr!("cannot read {path}: {error}", path = path.display(), error), error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read_head_and_tail;

    #[test]
    fn an_output_that_cannot_be_read_is_no_empty_page() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0001.out");
        let fact = || read_head_and_tail(&path).map_err(|it| it.message.fact().to_owned());
        assert_eq!(fact(), Err("this output was removed".to_owned()));
        fs::write(&path, "head ").unwrap();
        assert_eq!(fact(), Ok(b"head ".to_vec()));
        fs::write(path.with_extension("tail"), "tail").unwrap();
        assert_eq!(fact(), Ok(b"head tail".to_vec()));
        fs::remove_file(path.with_extension("tail")).unwrap();
        fs::create_dir(path.with_extension("tail")).unwrap();
        assert!(fact().unwrap_err().starts_with("cannot read "));
    }
}
