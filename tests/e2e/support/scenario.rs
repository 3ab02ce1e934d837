//! A scenario: files, criteria, the agent's act at each start, and the expected end. Run by the real binary without a
//! terminal; the properties of every loop are asserted for each.

use super::ended_loop::EndedLoop;
use super::world::World;

/// A loop as data, read from top to bottom.
#[derive(Default)]
pub(crate) struct Scenario<'a> {
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// Items of a `PROMPT.md` with nothing else; if empty, `files` define the task.
    pub(crate) criteria: &'a [&'a str],
    /// Content of `loopkeeper.toml` in addition to the agent.
    pub(crate) settings: &'a str,
    /// Content of `[agents.mine]` in addition to its command, or instead of it.
    pub(crate) of_agent: &'a str,
    /// Shell code of the user, run in the root before the start.
    pub(crate) before: &'a str,
    /// Arguments of `run` in addition to `--json --trust`.
    pub(crate) args: &'a [&'a str],
    /// Shell code of the agent: one act per start, the last one repeated.
    pub(crate) acts: &'a [&'a str],
    pub(crate) ends: Ends<'a>,
}

/// How a loop ends: its outcome, the number of its last iteration, and a part of its sentence.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Ends<'a> {
    /// Completed, and every required criterion passed.
    Verified(u32, &'a str),
    /// Completed, but only by the agent's claim.
    Claimed(u32, &'a str),
    Limit(u32, &'a str),
    Breaker(u32, &'a str),
    Failed(u32, &'a str),
    /// By a signal.
    Stopped(u32, &'a str),
    /// By a user-defined condition, with checks failing.
    Ended(u32, &'a str),
    /// Not for `play`.
    #[default]
    Open,
}

/// An end as reported by the last line and the exit code.
pub(crate) struct Expected<'a> {
    pub(crate) exit: i32,
    pub(crate) kind: &'static str,
    pub(crate) verified: bool,
    pub(crate) iterations: u32,
    pub(crate) sentence: &'a str,
}

impl<'a> Ends<'a> {
    pub(crate) fn expected(self) -> Expected<'a> {
        let (exit, kind, (iterations, sentence)) = match self {
            Self::Verified(after, says) => (0, "completed", (after, says)),
            Self::Claimed(after, says) => (6, "completed", (after, says)),
            Self::Limit(after, says) => (4, "limit", (after, says)),
            Self::Breaker(after, says) => (3, "breaker", (after, says)),
            Self::Failed(after, says) => (1, "failed", (after, says)),
            Self::Stopped(after, says) => (130, "stopped", (after, says)),
            Self::Ended(after, says) => (1, "stopped", (after, says)),
            Self::Open => panic!("a scenario that is played says how it ends"),
        };
        Expected { exit, kind, verified: exit == 0, iterations, sentence }
    }
}

impl Scenario<'_> {
    /// The world before the start.
    #[track_caller]
    pub(crate) fn world(&self) -> World {
        let world = World::new();
        world.settings(self.settings, self.of_agent);
        if !self.criteria.is_empty() {
            world.terminal.file("PROMPT.md", &task(self.criteria));
        }
        for (path, text) in self.files {
            world.terminal.file(path, text);
        }
        world.shell(self.before);
        world.acts(self.acts);
        world
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn play(&self) -> EndedLoop {
        let world = self.world();
        let args: Vec<&str> =
            ["run", "--json", "--trust"].into_iter().chain(self.args.iter().copied()).collect();
        let ran = world.run(&args);
        let played = EndedLoop::new(world, ran);
        played.assert_end(&self.ends.expected());
        played
    }
}

/// A prompt document with these criteria.
pub(crate) fn task(criteria: &[&str]) -> String {
    let items: Vec<String> = criteria.iter().map(|it| format!("- {it}\n")).collect();
    format!("# Make it so\n\n## Done when\n\n{}", items.concat())
}
