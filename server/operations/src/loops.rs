//! Lists loops, resolves a loop by its name and reports the status of each.

mod listing;

use std::path::Path;

use loopkeeper_core::decide::{LoopState, Phase};
use loopkeeper_task::TaskId;
use loopkeeper_text::message::Message;
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::{self as view, LoopStatus, StatusFacts};

use super::abandoned;
use super::current_tree::CurrentTree;
use super::failure::{Failure, FailureKind};
use super::follow::LoopTailer;
use super::resolved_task::ResolvedTask;
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_system::clock;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

pub use listing::LoopListing;

/// The state of a loop according to its journal and its lock.
pub struct LoopView {
    pub dir: LoopDir,
    pub state: LoopState,
    pub keeper: KeeperLiveness,
    /// Damage of its journal.
    pub damage: Option<Message>,
}

impl LoopView {
    /// Reads one loop. `None` if it has no record yet: it is just being started.
    pub fn read(store: &StateDir, dir: LoopDir) -> Result<Option<Self>, Failure> {
        // The keeper first: if it ends in between, the journal records that.
        let keeper = store.keeper_of(&dir)?;
        let mut tailer = LoopTailer::from_saved_state(&dir.journal());
        tailer.advance()?;
        let damage = tailer.damage().cloned();
        if keeper == KeeperLiveness::Gone {
            let has_ended = tailer.state().is_none_or(|it| it.outcome().is_some());
            abandoned::clean_up(store, &dir, has_ended);
        }
        match (tailer.into_state(), damage) {
            (None, Some(damage)) => Err(damaged_error(damage)),
            (state, damage) => Ok(state.map(|state| Self { dir, state, keeper, damage })),
        }
    }

    pub fn status(&self) -> LoopStatus {
        let (now, damaged) = (clock::now(), self.damage.is_some());
        let facts = StatusFacts { now, keeper: self.keeper, damaged, activity: None };
        view::status(&self.state, &facts)
    }

    pub fn is_alive(&self) -> bool {
        self.keeper.is_alive()
    }

    /// Two roots may have tasks of the same name.
    pub fn works_on(&self, work: &ResolvedTask) -> bool {
        self.state.spec.task == work.id && self.dir.root() == work.root
    }

    /// Fails if its journal is damaged: what the readable part lacks may be in the rest.
    pub fn refuse_damage(&self) -> Result<(), Failure> {
        self.damage.clone().map_or(Ok(()), |damage| Err(damaged_error(damage)))
    }

    /// When a command that leaves the running iteration alone takes effect.
    pub fn next_boundary(&self) -> &'static str {
        match self.state.phase {
            Phase::Starting | Phase::Baseline => tr!("before its first iteration"),
            Phase::Boundary { .. } | Phase::Preparing { .. } | Phase::Ended(_) => tr!("now"),
            Phase::Iterating(_) | Phase::Closing | Phase::Checking => tr!("after its current iteration"),
        }
    }

    /// Changes of its documents count as the agent's until the user confirms them.
    pub fn is_in_iteration(&self) -> bool {
        matches!(self.state.phase, Phase::Iterating(_) | Phase::Closing | Phase::Checking)
    }

    /// Whether it works in this tree; `None`: the current folder no longer exists.
    pub fn works_in(&self, tree: Option<&CurrentTree>) -> bool {
        tree.is_some_and(|it| it.contains_root(self.dir.root()))
    }

    /// Its folder, sanitised for display.
    pub fn folder(&self) -> String {
        folder_of(&self.dir)
    }

    /// Active or interrupted: it may still need attention.
    pub fn is_open(&self) -> bool {
        self.state.outcome().is_none()
    }
}

/// The loop that is running on the task.
pub fn find_running(root: &Path, id: &TaskId) -> Option<LoopView> {
    let store = StateDir::open().ok()?;
    let (holder, _) = store.tree_holder(root).ok()??;
    let loop_view = LoopView::read(&store, store.find(holder.loop_id()?).ok()?).ok()??;
    (loop_view.is_alive() && loop_view.state.spec.task == *id).then_some(loop_view)
}

/// Passes on every loop that can be read, newest first, each before the next one is read: the states of many long loops
/// take far more memory than what is shown of them. `report` is called with the errors of the others.
pub fn for_each_newest_first(
    store: &StateDir,
    report: impl Fn(Failure),
    mut take: impl FnMut(LoopView),
) -> Result<(), Failure> {
    for dir in store.loops()?.into_iter().rev() {
        match LoopView::read(store, dir) {
            Ok(loop_view) => loop_view.into_iter().for_each(&mut take),
            // An unreadable loop must neither hide the others nor be hidden itself.
            Err(failure) => report(failure),
        }
    }
    Ok(())
}

fn folder_of(dir: &LoopDir) -> String {
    sanitize::visible(&dir.root().to_string_lossy())
}

/// A damaged journal that cannot be continued.
pub fn damaged_error(damage: Message) -> Failure {
    Failure::from_message(FailureKind::Broken, damage)
}

/// The loop that `query` names. `latest` is the latest of the current work tree; without a query it is the only active
/// or interrupted one of this tree, else the latest. A loop of another tree is found only by its id.
pub fn find(store: &StateDir, query: Option<&str>, report: impl Fn(Failure)) -> Result<LoopView, Failure> {
    if let Some(query) = query.filter(|it| *it != LATEST) {
        let dir = store.find(query)?;
        let id = dir.id().to_owned();
        return LoopView::read(store, dir)?.ok_or_else(|| starting_error(&id));
    }
    let tree = CurrentTree::find();
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    for_each_newest_first(store, report, |loop_view| {
        if !loop_view.works_in(tree.as_ref()) {
            elsewhere.push(loop_view.dir);
        } else if here.is_empty() || loop_view.is_open() {
            // Of the ended ones, only the last can be chosen.
            here.push(loop_view);
        }
    })?;
    here.reverse();
    let candidates: Vec<_> =
        here.iter().map(|it| LoopCandidate { open: it.is_open(), alive: it.is_alive() }).collect();
    let index = if query.is_some() { candidates.len().checked_sub(1) } else { choose(&candidates) };
    match index {
        Some(index) => Ok(here.swap_remove(index)),
        None => Err(no_loop_here_error(tree.as_ref(), &elsewhere)),
    }
}

/// The query for the loop that began last.
const LATEST: &str = "latest";

/// The facts that decide which loop of a tree a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LoopCandidate {
    open: bool,
    alive: bool,
}

/// `loops` is sorted, oldest first.
fn choose(loops: &[LoopCandidate]) -> Option<usize> {
    let only = |wanted: fn(&LoopCandidate) -> bool| {
        let mut found = loops.iter().enumerate().filter(|(_, it)| wanted(it)).map(|(index, _)| index);
        found.next().filter(|_| found.next().is_none())
    };
    only(|it| it.open).or_else(|| only(|it| it.open && it.alive)).or_else(|| loops.len().checked_sub(1))
}

/// Lists the loops in other folders, newest first: they have to be named.
fn no_loop_here_error(tree: Option<&CurrentTree>, elsewhere: &[LoopDir]) -> Failure {
    const MAX_NAMED: usize = 5;
    if elsewhere.is_empty() {
        return Failure::usage(tr!("there is no loop yet")).hint(tr!("`loopkeeper run` starts one."));
    }
    let what = match tree {
        Some(tree) => {
            tr!("there is no loop in {folder}", folder = sanitize::visible(&tree.root().to_string_lossy()))
        }
        None => tr!("the current folder no longer exists").to_owned(),
    };
    let named = elsewhere.iter().take(MAX_NAMED);
    let named: Vec<_> =
        named.map(|it| tr!("{id} in {folder}", id = it.id(), folder = folder_of(it))).collect();
    let loops = named.join(tr!(", "));
    let hint = match elsewhere.len().saturating_sub(MAX_NAMED) {
        0 => tr!("Name a loop of another folder by its id: {loops}.", loops),
        more => tr!(
            "Name a loop of another folder by its id: {loops}, and {more} more that `loopkeeper status` lists.",
            loops,
            more
        ),
    };
    Failure::usage(what).hint(hint)
}

fn starting_error(id: &str) -> Failure {
    Failure::ended(tr!("loop {id} has no record yet", id))
        .hint(tr!("It is starting, or its start was interrupted."))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use loopkeeper_system::clock;
    use loopkeeper_system::state_dir::StateDir;

    use super::{LoopCandidate, LoopListing, LoopView, choose, for_each_newest_first};

    /// Of a loop that has ended.
    const JOURNAL: &str = include_str!("../../../tests/fixtures/journals/stopped-and-rolled-back.jsonl");

    /// A state folder with a loop for each journal, and their ids, newest first.
    fn state(journals: &[&str]) -> (tempfile::TempDir, StateDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(&root).unwrap();
        let store = StateDir::at(&folder.path().join("state")).unwrap();
        let workspace = store.workspace(&root).unwrap();
        for journal in journals {
            fs::write(workspace.new_loop(&store, clock::now()).unwrap().journal(), journal).unwrap();
        }
        let ids = store.loops().unwrap().iter().rev().map(|it| it.id().to_owned()).collect();
        (folder, store, ids)
    }

    #[test]
    fn each_loop_is_passed_on_before_the_next_one_is_read() {
        let (_folder, store, ids) = state(&[JOURNAL; 3]);
        let (taken, failed) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let take = |it: LoopView| {
            // The journals of the others are gone before they are read.
            for dir in store.loops().unwrap().iter().filter(|dir| dir.id() != it.dir.id()) {
                let _ = fs::remove_file(dir.journal());
            }
            taken.borrow_mut().push(it.dir.id().to_owned());
        };
        for_each_newest_first(&store, |failure| failed.borrow_mut().push(failure.to_string()), take).unwrap();
        assert_eq!(taken.into_inner(), ids[..1]);
        assert_eq!(failed.into_inner().len(), 2);
    }

    #[test]
    fn open_loops_are_listed_before_the_last_that_ended() {
        let interrupted: String = JOURNAL.split_inclusive('\n').take(10).collect();
        let journals: Vec<&str> =
            (0..30).map(|it| if it % 10 == 0 { &interrupted } else { JOURNAL }).collect();
        let (_folder, store, ids) = state(&journals);
        let mut listing = LoopListing::default();
        let (mut open, mut ended) = (Vec::new(), Vec::new());
        for_each_newest_first(
            &store,
            |failure| panic!("{failure}"),
            |it| {
                if it.is_open() { &mut open } else { &mut ended }.push(it.dir.id().to_owned());
                listing.add(it, |it| it.dir.id().to_owned());
            },
        )
        .unwrap();
        assert_eq!((open.len(), ended.len()), (3, 27));
        assert!(ids.iter().filter(|it| open.contains(it)).eq(&open), "newest first");
        assert_eq!(listing.in_order(), [&open[..], &ended[..20]].concat());
    }

    #[test]
    fn without_a_name_the_loop_that_is_meant_is_chosen() {
        let check = |words: &[&str], expect: Option<usize>| {
            let candidate =
                |word: &&str| LoopCandidate { open: !word.contains("ended"), alive: word.contains("active") };
            let loops: Vec<_> = words.iter().map(candidate).collect();
            assert_eq!(choose(&loops), expect, "{words:?}");
        };
        check(&[], None);
        check(&["ended", "ended"], Some(1));
        check(&["active", "ended"], Some(0));
        check(&["interrupted", "ended"], Some(0));
        check(&["interrupted", "active", "ended"], Some(1));
        check(&["active", "active", "ended"], Some(2));
        check(&["interrupted", "interrupted", "ended"], Some(2));
    }
}
