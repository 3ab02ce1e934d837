//! `clean`: no untracked and unignored files except those that existed at the start.

use loopkeeper_text::clauses;
use loopkeeper_text::tr;
use std::collections::BTreeSet;
use std::time::Duration;

use loopkeeper_core::check::Status;

use super::{RawResult, RoundParams};
use loopkeeper_system::git;

/// Maximum number of file names in a fact.
const MAX_NAMED: usize = 3;

pub(super) async fn check_clean(plan: &RoundParams<'_>, timeout: Duration) -> RawResult {
    let root = plan.root.to_path_buf();
    let looking = tokio::task::spawn_blocking(move || git::untracked_paths(&root));
    match tokio::time::timeout(timeout, looking).await {
        Ok(Ok(Ok(Some(now)))) => compare(plan.untracked, &now),
        Ok(Ok(Ok(None))) => RawResult::new(Status::CouldNotRun, tr!("not a git repository")),
        Ok(Ok(Err(error))) => RawResult::new(Status::CouldNotRun, error.to_string()),
        Ok(Err(panic)) => RawResult::new(Status::CouldNotRun, panic.to_string()),
        Err(_) => RawResult::timed_out(timeout),
    }
}

fn compare(start: &[String], now: &[String]) -> RawResult {
    let start: BTreeSet<&String> = start.iter().collect();
    let new: Vec<&str> = now.iter().filter(|it| !start.contains(it)).map(String::as_str).collect();
    let named = clauses::list(new.iter().take(MAX_NAMED));
    match new.len() {
        0 => RawResult::new(Status::Pass, tr!("nothing new untracked")),
        1 => RawResult::new(Status::Fail, tr!("{named} is untracked", named)),
        count if count <= MAX_NAMED => RawResult::new(Status::Fail, tr!("{named} are untracked", named)),
        count => RawResult::new(
            Status::Fail,
            tr!("{named} and {more} more are untracked", named, more = count - MAX_NAMED),
        ),
    }
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::check::Status;

    use super::compare;

    #[test]
    fn only_files_that_were_not_untracked_at_the_start_fail() {
        let check = |start: &[&str], now: &[&str], status: Status, fact: &str| {
            let owned = |it: &[&str]| it.iter().map(ToString::to_string).collect::<Vec<_>>();
            let finding = compare(&owned(start), &owned(now));
            assert_eq!((finding.status, finding.fact.as_str()), (status, fact), "{start:?} {now:?}");
        };
        check(&[], &[], Status::Pass, "nothing new untracked");
        check(&["a"], &["a"], Status::Pass, "nothing new untracked");
        check(&["a"], &[], Status::Pass, "nothing new untracked");
        check(&["a"], &["a", "b"], Status::Fail, "b is untracked");
        check(&[], &["a", "b"], Status::Fail, "a, b are untracked");
        check(&[], &["a", "b", "c", "d", "e"], Status::Fail, "a, b, c and 2 more are untracked");
    }
}
