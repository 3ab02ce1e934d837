//! A model of a loop's keepers: two keepers, their locks, the disk of the journal, the agents and a client, over the
//! functions that the keeper itself calls (`decide`, `apply`, `Durability`, the checksum chain). Every order of kills,
//! power cuts and requests within a [`Bound`] is explored; see the tests in [`properties`].

#![cfg(test)]

mod disk;
mod keeper;
mod machine;
mod properties;
mod world;

/// How much may go wrong on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Bound {
    kills: u8,
    power_cuts: u8,
    steers: u8,
    stops: u8,
    /// The lock's file is deleted while its keeper works.
    lock_losses: u8,
    /// Iterations in which the agent weakens a test.
    weakenings: u8,
    /// Rollbacks of a paused loop.
    rollbacks: u8,
    resumes: u8,
    /// Changes of the agent that the task needs.
    changes: u8,
    /// `limits.iterations`.
    iterations: u32,
}

/// What is left out of the program, so that the model has to find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Omission {
    Nothing,
    /// A keeper starts although another holds the lock.
    Lock,
    /// A sync returns before anything is on the disk.
    Sync,
    /// The next keeper writes in the epoch of the one before it.
    Epoch,
    /// Neither the guard nor the next keeper ends what a killed keeper left.
    Cleanup,
    /// Checks report a pass without having run.
    Checks,
    /// What a rollback changes counts as an edit of the user.
    RollbackOrigin,
    /// So does what an interrupted rollback changes.
    Interruption,
    /// A file that was restored stays weakened after the checks have run on it.
    RestoredFiles,
}
