//! The demo's project: a small real program with tests, half done. Creates the folder, runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{Repository, RepositoryInitOptions, Signature};
use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};

/// The files in the folder before the first iteration.
const FILES: [(&str, &str); 6] = [
    ("PROMPT.md", include_str!("demo/start/task.md")),
    ("loopkeeper.toml", include_str!("demo/start/loopkeeper.toml")),
    ("README.md", include_str!("demo/start/README.md")),
    ("receipt.sh", include_str!("demo/start/receipt.sh")),
    ("test.sh", include_str!("demo/start/test.sh")),
    ("examples/basket.txt", include_str!("demo/start/examples/basket.txt")),
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error("{}", tr!("the demo needs an empty folder: {path} is not empty", path = path.display()))]
    Taken { path: PathBuf },
    #[error("{}", tr!("cannot {action} {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{}", tr!("cannot make a git repository of {path}: {source}", path = path.display(), source))]
    Git { path: PathBuf, source: git2::Error },
}

impl HintedError for DemoError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Taken { .. } => tr!("name a folder that does not exist yet."),
            Self::Io { .. } | Self::Git { .. } => tr!("name a folder you may write to with `--keep`."),
        };
        Some(hint.to_owned())
    }
}

/// Creates the project in `folder`, which does not exist yet or is empty.
pub(crate) fn create(folder: &Path) -> Result<(), DemoError> {
    let io = |action, path: &Path| {
        let path = path.to_owned();
        move |source| DemoError::Io { action, path, source }
    };
    fs::create_dir_all(folder).map_err(io(tr_later!("create"), folder))?;
    if fs::read_dir(folder).map_err(io(tr_later!("read"), folder))?.next().is_some() {
        return Err(DemoError::Taken { path: folder.to_owned() });
    }
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io(tr_later!("create"), parent))?;
        }
        fs::write(&path, text).map_err(io(tr_later!("write"), &path))?;
    }
    commit(folder).map_err(|source| DemoError::Git { path: folder.to_owned(), source })
}

/// In-process and without the user's git templates, so that none of their hooks is installed.
fn commit(folder: &Path) -> Result<(), git2::Error> {
    let mut options = RepositoryInitOptions::new();
    options.external_template(false).initial_head("main").no_reinit(true);
    let repository = Repository::init_opts(folder, &options)?;
    let mut index = repository.index()?;
    for (name, _) in FILES {
        index.add_path(Path::new(name))?;
    }
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let author = Signature::now("loopkeeper demo", "demo@localhost")?;
    repository.commit(Some("HEAD"), &author, &author, "A receipt printer, begun", &tree, &[])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use loopkeeper_agent::claims;
    use loopkeeper_core::settings::{Layer, LayerKind, resolve};
    use loopkeeper_task::{TaskDocument, parse_task};

    use super::{DemoError, FILES, create};

    fn text(name: &str) -> String {
        FILES.iter().find(|(it, _)| *it == name).map(|(_, text)| (*text).to_owned()).unwrap()
    }

    #[test]
    fn the_task_has_no_lint_findings() {
        let task = parse_task(&[TaskDocument { path: "PROMPT.md".into(), text: text("PROMPT.md") }]);
        assert_eq!(task.findings, []);
        assert_eq!(task.criteria.len(), 5);
        assert!(task.criteria.iter().all(|it| it.required && it.check.is_some()), "{:?}", task.criteria);
        assert_eq!(task.promise.as_deref(), Some("COMPLETE"));
        assert!(!claims::promise(&task.prompt, "COMPLETE"), "the task itself is no claim");
    }

    #[test]
    fn the_settings_are_taken_as_written() {
        let layer = Layer {
            kind: LayerKind::Workspace,
            file: "loopkeeper.toml".into(),
            text: text("loopkeeper.toml"),
        };
        let resolved = resolve(&[layer], &[]);
        let settings = resolved.settings().unwrap();
        assert_eq!((settings.agent.as_str(), settings.limits.iterations), ("demo", 8));
    }

    #[test]
    fn the_folder_is_a_clean_repository() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("new/demo");
        create(&project).unwrap();
        let repository = git2::Repository::open(&project).unwrap();
        assert_eq!(repository.head().unwrap().shorthand(), Ok("main"));
        assert!(repository.statuses(None).unwrap().is_empty());
        let log = repository.head().unwrap().peel_to_commit().unwrap();
        assert_eq!(log.author().name(), Ok("loopkeeper demo"));
    }

    #[test]
    fn a_folder_with_anything_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "").unwrap();
        assert!(matches!(create(folder.path()), Err(DemoError::Taken { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
