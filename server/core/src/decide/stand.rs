//! Where the user's HEAD stands, and where it should: what the agent commits elsewhere is easily lost, so that it is
//! noticed when it leaves. Only said: nothing is ever switched under a loop at work.

use std::fmt;

use crate::journal::{Head, SnapshotWhen};
use crate::sanitize;

use super::state::Loop;

/// What HEAD is on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// No commit: no repository, a branch that has none yet, or nothing that git can read.
    #[default]
    Nowhere,
    Detached,
    Branch(String),
}

/// What the records say of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stand {
    /// The branch that the loop works on; `None` where there is none.
    pub home: Option<String>,
    pub now: Place,
    /// The iteration that left it.
    pub left_in: Option<u32>,
    /// HEAD was on a commit at some time.
    seen: bool,
}

impl Stand {
    /// The loop's branch was made or checked out.
    pub(super) fn begun(&mut self, branch: Option<&str>) {
        self.home = branch.map(str::to_owned);
    }

    /// HEAD is somewhere else: where.
    pub fn away(&self) -> Option<&Place> {
        let home = self.home.as_ref()?;
        match &self.now {
            Place::Nowhere if !self.seen => None,
            Place::Branch(name) if name == home => None,
            other => Some(other),
        }
    }

    fn seen(&mut self, place: Place) {
        self.seen |= place != Place::Nowhere;
        self.now = place;
    }
}

/// A snapshot tells where HEAD was. What moves between two iterations was moved by the user, and the loop moves along.
pub(super) fn looked(state: &mut Loop, when: SnapshotWhen, head: Option<&Head>) {
    let place = place(head);
    let (iteration, stand) = (state.iteration, &mut state.stand);
    match when {
        SnapshotWhen::BeforeRollback => {}
        SnapshotWhen::Before => {
            if place != stand.now {
                stand.home = match &place {
                    Place::Branch(name) => Some(name.clone()),
                    Place::Detached => None,
                    Place::Nowhere => stand.home.take(),
                };
                stand.left_in = None;
            }
            stand.seen(place);
        }
        SnapshotWhen::After => {
            let was_away = stand.away().is_some();
            stand.home = stand.home.take().or_else(|| branch(&place).filter(|_| place != stand.now));
            stand.seen(place);
            if stand.away().is_none() {
                stand.left_in = None;
            } else if !was_away {
                stand.left_in = Some(iteration);
            }
        }
    }
}

/// What an iteration's sentence adds.
pub(super) fn tail(state: &Loop) -> String {
    let stand = &state.stand;
    match (stand.away(), &stand.home) {
        (Some(now), Some(home)) if stand.left_in == Some(state.iteration) => {
            format!("; it left the branch `{}`: HEAD is on {now}", sanitize::line(home))
        }
        _ => String::new(),
    }
}

/// For people who look later.
pub fn sentence(state: &Loop) -> Option<String> {
    let (now, home) = (state.stand.away()?, state.stand.home.as_ref()?);
    Some(format!("HEAD is on {now}, not on the loop's branch `{}`", sanitize::line(home)))
}

fn place(head: Option<&Head>) -> Place {
    match head.map(|it| &it.branch) {
        None => Place::Nowhere,
        Some(None) => Place::Detached,
        Some(Some(branch)) => Place::Branch(branch.clone()),
    }
}

fn branch(place: &Place) -> Option<String> {
    match place {
        Place::Branch(name) => Some(name.clone()),
        Place::Nowhere | Place::Detached => None,
    }
}

/// Fits behind "HEAD is on".
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("no commit"),
            Self::Detached => f.write_str("no branch (detached)"),
            Self::Branch(name) => write!(f, "`{}`", sanitize::line(name)),
        }
    }
}
