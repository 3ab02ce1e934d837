//! Creates the branch that a loop works on, or checks it out if that loses nothing. Uses only libgit2, which runs no
//! hook and no filter of the repository; a checkout that needs one is refused.

use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{
    AttrCheckFlags, BranchType, ErrorClass, ErrorCode, ObjectType, Oid, Reference, Repository,
    RepositoryState, Status, Tree,
};
use loopkeeper_core::decide::LoopBranch;
use loopkeeper_text::{sanitize, tr};

use super::{special_files, special_message};
use crate::regular_file::read_linked;

const HEADS: &str = "refs/heads/";

/// Why a branch cannot be used; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the branch `{name}` cannot be checked out: {why}", name = sanitize::line(name), why))]
pub struct BranchError {
    name: String,
    why: String,
}

/// What [`switch_to_branch`] would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchStep {
    /// There is no repository.
    Nothing,
    CheckedOut,
    Make,
    CheckOut,
}

/// Whether and how [`switch_to_branch`] would switch. Changes nothing.
pub fn preview_switch(root: &Path, name: &str) -> Result<BranchStep, BranchError> {
    let step = |action: BranchAction| match action {
        BranchAction::Unavailable(_) => BranchStep::Nothing,
        BranchAction::CheckedOut => BranchStep::CheckedOut,
        BranchAction::Create { .. } => BranchStep::Make,
        BranchAction::Switch { .. } => BranchStep::CheckOut,
    };
    plan_action(root, name).map(step).map_err(|why| BranchError { name: name.to_owned(), why })
}

/// Creates the branch at HEAD if it does not exist, and checks it out. A new branch leaves files and index as they are;
/// an existing one is checked out only if this touches no file that differs from HEAD. Idempotent.
pub fn switch_to_branch(root: &Path, name: &str) -> Result<LoopBranch, BranchError> {
    let outcome = plan_action(root, name).and_then(|action| apply_action(name, action));
    outcome.map_err(|why| BranchError { name: name.to_owned(), why })
}

/// How to switch to the branch.
enum BranchAction {
    /// There is no repository to create it in.
    Unavailable(&'static str),
    CheckedOut,
    Create {
        repo: Repository,
        from: Option<String>,
    },
    Switch {
        repo: Repository,
        from: Option<String>,
    },
}

fn plan_action(root: &Path, name: &str) -> Result<BranchAction, String> {
    if let Some(fault) = loopkeeper_text::branch::fault(name) {
        return Err(fault.to_owned());
    }
    let repo = match super::open(root) {
        Ok(repo) => repo,
        Err(it) if it.code() == ErrorCode::NotFound && it.class() == ErrorClass::Repository => {
            return Ok(BranchAction::Unavailable(tr!("there is no git repository here")));
        }
        Err(error) => return action_of_unreadable(root, name, &error),
    };
    if repo.is_bare() {
        return Ok(BranchAction::Unavailable(tr!("the repository here is bare")));
    }
    let from = current_branch(&repo).map_err(|it| it.message().to_owned())?;
    if from.as_deref() == Some(name) {
        return Ok(BranchAction::CheckedOut);
    }
    ensure_no_operation(&repo)?;
    let exists = match repo.find_branch(name, BranchType::Local) {
        Ok(branch) => {
            refuse_shared(&repo, name)?;
            safe_to_switch(&repo, branch.get())?;
            true
        }
        Err(it) if it.code() == ErrorCode::NotFound => {
            refuse_nested(&repo, name)?;
            false
        }
        Err(it) => return Err(it.message().to_owned()),
    };
    Ok(if exists { BranchAction::Switch { repo, from } } else { BranchAction::Create { repo, from } })
}

fn apply_action(name: &str, action: BranchAction) -> Result<LoopBranch, String> {
    let outcome =
        |from: Option<String>, made| LoopBranch { name: Some(name.to_owned()), from, made, note: None };
    let message = |it: git2::Error| it.message().to_owned();
    let full = format!("{HEADS}{name}");
    match action {
        BranchAction::Unavailable(note) => {
            Ok(LoopBranch { note: Some(note.to_owned()), ..LoopBranch::default() })
        }
        BranchAction::CheckedOut => Ok(outcome(Some(name.to_owned()), false)),
        BranchAction::Create { repo, from } => {
            // A repository without commits gets its first one there.
            if let Ok(head) = repo.head().and_then(|it| it.peel_to_commit()) {
                repo.branch(name, &head, false).map_err(message)?;
            }
            repo.set_head(&full).map_err(message)?;
            Ok(outcome(from, true))
        }
        BranchAction::Switch { repo, from } => {
            let target = repo.find_reference(&full).and_then(|it| it.peel_to_tree()).map_err(message)?;
            if head_tree(&repo).map_err(message)?.is_none_or(|it| it.id() != target.id()) {
                repo.checkout_tree(target.as_object(), Some(&mut safe_checkout_options()))
                    .map_err(message)?;
            }
            repo.set_head(&full).map_err(message)?;
            Ok(outcome(from, false))
        }
    }
}

/// A kind of repository that only git itself can read.
fn action_of_unreadable(root: &Path, name: &str, error: &git2::Error) -> Result<BranchAction, String> {
    let is_checked_out =
        super::program::head(root).ok().flatten().and_then(|it| it.branch).is_some_and(|it| it == name);
    if is_checked_out {
        return Ok(BranchAction::CheckedOut);
    }
    Err(tr!(
        "this repository is of a kind that loopkeeper does not write ({error}); check the branch out yourself",
        error = error.message()
    ))
}

/// The branch that HEAD names, whether it has commits or not.
pub(super) fn current_branch(repo: &Repository) -> Result<Option<String>, git2::Error> {
    let head = repo.find_reference("HEAD")?;
    let target = head.symbolic_target_bytes().map(|it| String::from_utf8_lossy(it).into_owned());
    Ok(target.and_then(|it| it.strip_prefix(HEADS).map(str::to_owned)))
}

/// Fails if an operation of the user (such as a merge) is in progress.
pub(super) fn ensure_no_operation(repo: &Repository) -> Result<(), String> {
    let fact = match repo.state() {
        RepositoryState::Clean => return Ok(()),
        RepositoryState::Merge => tr!("a merge is in progress"),
        RepositoryState::Revert | RepositoryState::RevertSequence => tr!("a revert is in progress"),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => {
            tr!("a cherry-pick is in progress")
        }
        RepositoryState::Bisect => tr!("a bisect is in progress"),
        RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge => {
            tr!("a rebase is in progress")
        }
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => {
            tr!("`git am` is in progress")
        }
    };
    Err(fact.to_owned())
}

/// Fails if another process is writing the index or died while writing it.
pub(super) fn ensure_index_unlocked(repo: &Repository) -> Result<(), String> {
    let lock = repo.path().join("index.lock");
    if lock.symlink_metadata().is_ok() {
        Err(tr!("another git process holds index.lock").to_owned())
    } else {
        Ok(())
    }
}

fn head_tree(repo: &Repository) -> Result<Option<Tree<'_>>, git2::Error> {
    match repo.head() {
        Ok(head) => head.peel_to_tree().map(Some),
        Err(it) if it.code() == ErrorCode::UnbornBranch => Ok(None),
        Err(it) => Err(it),
    }
}

fn safe_checkout_options() -> CheckoutBuilder<'static> {
    let mut options = CheckoutBuilder::new();
    options.safe().overwrite_ignored(false);
    options
}

fn safe_to_switch(repo: &Repository, branch: &Reference<'_>) -> Result<(), String> {
    let message = |it: git2::Error| it.message().to_owned();
    let target = branch.peel_to_tree().map_err(message)?;
    let head = head_tree(repo).map_err(message)?;
    if head.as_ref().is_some_and(|it| it.id() == target.id()) {
        return Ok(());
    }
    ensure_index_unlocked(repo)?;
    let is_sparse = repo.config().and_then(|it| it.get_bool("core.sparseCheckout")).unwrap_or(false);
    if is_sparse {
        return Err(tr!("this checkout is sparse; check the branch out yourself").to_owned());
    }
    refuse_filtered(repo, head.as_ref(), &target)?;
    refuse_overwriting(repo, head.as_ref(), &target)
}

/// A file that the checkout writes or removes must match the last commit or the target. Checked file by file, because a
/// dry run of libgit2 finds no conflicts; the checkout itself is a safe one all the same.
fn refuse_overwriting(repo: &Repository, from: Option<&Tree<'_>>, to: &Tree<'_>) -> Result<(), String> {
    let diff = repo.diff_tree_to_tree(from, Some(to), None).map_err(|it| it.message().to_owned())?;
    for delta in diff.deltas() {
        let Some(path) = delta.new_file().path() else {
            return Err(tr!("a name in it cannot be read").to_owned());
        };
        let is_clean = match repo.status_file(path) {
            Ok(status) => status == Status::CURRENT,
            Err(error) => error.code() == ErrorCode::NotFound,
        };
        let there = repo.workdir().map(|it| it.join(path)).filter(|it| it.is_file());
        let is_done =
            || there.and_then(|it| Oid::hash_file(ObjectType::Blob, it).ok()) == Some(delta.new_file().id());
        if !is_clean && !is_done() {
            let path = sanitize::line(&path.to_string_lossy());
            return Err(tr!(
                "{path} differs from the last commit and would be overwritten; commit or stash it first",
                path
            ));
        }
    }
    Ok(())
}

/// Git would run a program on these files (large files, encryption), and libgit2 would write them as they are stored.
fn refuse_filtered(repo: &Repository, from: Option<&Tree<'_>>, to: &Tree<'_>) -> Result<(), String> {
    let diff = repo.diff_tree_to_tree(from, Some(to), None).map_err(|it| it.message().to_owned())?;
    let written: Vec<PathBuf> =
        diff.deltas().filter_map(|it| it.new_file().path().map(Path::to_path_buf)).collect();
    let rules =
        repo.workdir().and_then(|top| special_files::find_rules(top, written.iter().map(PathBuf::as_path)));
    if let Some(path) = rules {
        return Err(special_message(&path));
    }
    for path in written {
        if let Some(filter) = unsupported_filter(repo, &path) {
            let path = sanitize::line(&path.to_string_lossy());
            return Err(tr!(
                "{path} needs the filter `{filter}`; check the branch out yourself",
                path,
                filter
            ));
        }
    }
    Ok(())
}

/// A conversion between a file and its stored bytes that libgit2 does not perform.
pub(super) fn unsupported_filter(repo: &Repository, path: &Path) -> Option<String> {
    let value = |name| repo.get_attr(path, name, AttrCheckFlags::FILE_THEN_INDEX).ok().flatten();
    let named = |it: &&str| !matches!(*it, "" | "true" | "false" | "[set]" | "[unset]");
    let found = ["filter", "working-tree-encoding"].into_iter().find_map(|name| value(name).filter(named));
    found.map(sanitize::line)
}

/// Git allows a branch to be checked out in only one work tree at a time.
fn refuse_shared(repo: &Repository, name: &str) -> Result<(), String> {
    let common = repo.commondir();
    let others =
        std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().map(|it| it.path());
    let others = others.chain([common.to_path_buf()]);
    let own = repo.path().canonicalize().ok();
    let wanted = format!("ref: {HEADS}{name}");
    let has_branch = |it: &PathBuf| {
        read_linked(&it.join("HEAD")).is_some_and(|head| head.trim_ascii_end() == wanted.as_bytes())
    };
    match others.filter(|it| it.canonicalize().ok() != own).find(has_branch) {
        Some(_) => Err(tr!("it is checked out in another work tree").to_owned()),
        None => Ok(()),
    }
}

/// References are files to git: `a` and `a/b` cannot both be.
fn refuse_nested(repo: &Repository, name: &str) -> Result<(), String> {
    let parents = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
    let exists = |it: &&str| repo.find_reference(&format!("{HEADS}{it}")).is_ok();
    if let Some(parent) = parents.into_iter().find(exists) {
        return Err(tr!("a branch `{parent}` is in the way of its name", parent));
    }
    let below = repo.references_glob(&format!("{HEADS}{name}/*")).map(|mut it| it.next().is_some());
    if below.unwrap_or(false) {
        Err(tr!("branches below `{name}/` are in the way of its name", name))
    } else {
        Ok(())
    }
}
