//! Simulator of the keeper and its environment: answers every effect from a script, jumps to deadlines, and checks
//! after every record that replay agrees with the live state.

#![expect(clippy::expect_used, reason = "only tests use it")]

use std::collections::{BTreeMap, VecDeque};

use crate::autorun::autorun_trigger;
use crate::decide::final_verdict::VerdictReply;
use crate::decide::mutants::{MutantCounts, MutantPlan, MutantReply};
use crate::decide::{
    Decision, Effect, Event, LoopBranch, LoopState, Phase, SnapshotFacts, TaskDocuments, UserCommand,
    VolatileState, apply, commits, deadline, decide, replay, state_from_first,
};
use crate::journal::{Entry, LoopSpec, PauseReason, Record, Round};
use crate::jury::JudgeUsage;
use crate::prompt::MemoryFiles;
use crate::tamper::WeakeningFinding;
use loopkeeper_agent::acp::client::PermissionAnswer;
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::moment::Moment;

mod calls;
mod crash;
mod hook_mode;
mod parts;
mod turn;
use hook_mode::Process;
pub use parts::{criterion, item, quiet_run, round_of, spec, verdict_rounds};
use parts::{head, result};
pub use turn::Turn;

pub struct Sim {
    pub state: LoopState,
    pub live: VolatileState,
    pub now: Moment,
    pub entries: Vec<Entry>,
    pub refused: Vec<String>,
    pub prompts: Vec<String>,
    /// The answers to the agent's requests.
    pub permits: Vec<PermissionAnswer>,
    /// For each start: the iteration whose session it was given, and whether it continues.
    pub sessions: Vec<(String, bool)>,
    pub documents: Vec<Criterion>,
    /// The text of the task.
    pub prompt: &'static str,
    /// The result letters of the tree as it is; each act sets its own.
    pub standing: &'static str,
    pub turns: Vec<Turn>,
    pub untrusted: Vec<CriterionId>,
    /// Why the task cannot be read.
    pub unreadable: Option<String>,
    /// The list of calls: time, loop, iteration. `None`: it cannot be read.
    pub calls: Option<Vec<(u64, &'static str, u32)>>,
    /// Usage limits that other loops reached: the agent, and the end of the limit.
    pub limited: Vec<(&'static str, u64)>,
    wrote: Vec<&'static str>,
    ticks: usize,
    /// The plan in the documents, if `ticks` cannot express it.
    pub plan: Option<Vec<PlanItem>>,
    tree: u32,
    named_tree: Option<&'static str>,
    /// The tree that a rollback restored.
    restored_tree: Option<String>,
    /// The result letters of each tree that was judged.
    results_by_tree: BTreeMap<String, &'static str>,
    fact: &'static str,
    played: usize,
    /// In hook mode: the process that works on many iterations.
    pub process: Process,
    queue: Vec<Effect>,
    finished: bool,
    /// Files that are weakened in the tree as it is.
    pub weak: Vec<&'static str>,
    /// Protected files that the user edited since the last snapshot.
    pub edited: Vec<String>,
    /// Strays that the rounds find.
    pub strays: Vec<String>,
    /// The branch that HEAD is on; `None`: there is no repository.
    pub branch: Option<&'static str>,
    /// The requested commits.
    pub commits: Vec<commits::CommitPlan>,
    /// Why no commit can be made.
    pub no_commit: Option<&'static str>,
    /// The next final verdicts; afterwards everything passes and no judge changed.
    pub verdicts: Vec<VerdictReply>,
    /// The results of the next runs of mutants, `None` for one that does not end; afterwards there are no mutants.
    pub mutants: VecDeque<Option<MutantReply>>,
    /// The runs of mutants that were requested.
    pub tested: Vec<MutantPlan>,
    /// The usage of judges in the next round.
    pub judging: Option<JudgeUsage>,
}

impl Sim {
    /// A loop whose first record is written. `start`: the result letters before the first iteration.
    pub fn new(spec: LoopSpec, start: &'static str, turns: Vec<Turn>) -> Self {
        let now = Moment { wall: 1_795_000_000_000, awake: 1_000_000 };
        let documents = spec.criteria.clone();
        let record = Record::LoopStarted { boot: "boot-1".to_owned(), spec: Box::new(spec) };
        let entry = Entry { seq: 1, epoch: 1, at: now, record };
        let state = state_from_first(&entry).expect("begins");
        Self {
            state,
            live: VolatileState::default(),
            now,
            entries: vec![entry],
            refused: Vec::new(),
            prompts: Vec::new(),
            permits: Vec::new(),
            sessions: Vec::new(),
            documents,
            prompt: "Do it.",
            standing: start,
            turns,
            untrusted: Vec::new(),
            unreadable: None,
            calls: Some(Vec::new()),
            limited: Vec::new(),
            wrote: Vec::new(),
            ticks: 0,
            plan: None,
            tree: 0,
            named_tree: None,
            restored_tree: None,
            results_by_tree: BTreeMap::new(),
            fact: "",
            played: 0,
            process: Process::default(),
            queue: vec![Effect::TakeSnapshot],
            finished: false,
            weak: Vec::new(),
            edited: Vec::new(),
            strays: Vec::new(),
            branch: None,
            commits: Vec::new(),
            no_commit: None,
            judging: None,
            verdicts: Vec::new(),
            mutants: VecDeque::new(),
            tested: Vec::new(),
        }
    }

    /// What the checks write from the start: artefacts of the baseline.
    pub fn checks_write(mut self, wrote: Vec<&'static str>) -> Self {
        self.wrote = wrote;
        self
    }

    /// Plays until the loop ends or pauses; returns `self` for inspection.
    pub fn run(mut self) -> Self {
        self.play();
        self
    }

    pub fn play(&mut self) {
        for _ in 0..100_000 {
            if !self.step() {
                return;
            }
        }
        panic!("never settles: {:?}", self.state.phase);
    }

    /// Plays until this many iterations are over and the next step is to be decided.
    pub fn play_iterations(&mut self, count: u32) {
        while self.state.iteration < count || !self.state.is_between_iterations() {
            assert!(self.step(), "nothing is left to do: {}", self.sentence());
        }
    }

    /// A user changes files during the loop: the results of the checks from now on.
    pub fn edited(&mut self, standing: &'static str) {
        self.tree += 1;
        self.named_tree = None;
        self.restored_tree = None;
        self.standing = standing;
    }

    fn tree(&self) -> String {
        if let Some(tree) = &self.restored_tree {
            return tree.clone();
        }
        self.named_tree.map_or_else(|| format!("tree{}", self.tree), str::to_owned)
    }

    /// An effect is to be performed before time passes.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// One effect or one deadline. False when nothing is left to do.
    pub fn step(&mut self) -> bool {
        if self.finished {
            return false;
        }
        if !self.queue.is_empty() {
            let effect = self.queue.remove(0);
            self.perform(effect);
            return true;
        }
        let Some(due) = deadline(&self.state, &self.live) else {
            assert!(self.state.outcome().is_none(), "an ended loop ends its keeper");
            return false;
        };
        let ms = due.awake.saturating_sub(self.now.awake);
        self.now = self.now.plus_ms(ms);
        self.event(Event::DeadlinePassed);
        let next = deadline(&self.state, &self.live);
        assert!(next.is_none_or(|it| it.awake > self.now.awake), "the next deadline is later");
        true
    }

    pub fn command(&mut self, command: UserCommand) {
        self.event(Event::UserAsked(command));
    }

    pub fn event(&mut self, event: Event) {
        self.now = self.now.plus_ms(1);
        for step in decide(&self.state, &mut self.live, self.now, event) {
            match step {
                Decision::Record(record) => self.record(record),
                Decision::Effect(effect) => self.queue.push(effect),
            }
        }
        assert_eq!(replay(&self.entries).as_ref(), Some(&self.state), "replay equals live");
        if self.entries.len().is_multiple_of(16) {
            let stored = serde_json::to_vec(&self.state).expect("serialises");
            let loaded: LoopState = serde_json::from_slice(&stored).expect("deserialises");
            assert_eq!(loaded, self.state, "a stored state is the live one");
        }
    }

    fn record(&mut self, record: Record) {
        let entry = Entry {
            seq: self.state.position.seq + 1,
            epoch: self.state.position.epoch,
            at: self.now,
            record,
        };
        apply(&mut self.state, &entry);
        self.entries.push(entry);
    }

    /// Fails the next effect if it takes a snapshot. False if it takes none.
    pub fn fail_next_snapshot(&mut self, reason: PauseReason) -> bool {
        if !matches!(self.queue.first(), Some(Effect::TakeSnapshot | Effect::RunChecks { .. })) {
            return false;
        }
        self.queue.remove(0);
        self.event(Event::SnapshotFailed { reason, message: "cannot write".into() });
        true
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Continue => self.event(Event::Continued),
            Effect::TakeSnapshot => self.take_snapshot(),
            Effect::TakeBranch { name } => self.take_branch(name),
            Effect::Commit(plan) => self.commit(*plan),
            Effect::ReadTask => {
                let reading = self.task_documents();
                self.event(Event::TaskRead(Box::new(reading)));
            }
            Effect::RunChecks { criteria, .. } => self.check(&criteria),
            Effect::JudgeFinalTree { criteria } => self.judge_final_tree(&criteria),
            Effect::TestMutants(plan) => self.test_mutants(plan),
            Effect::CancelChecks => self.event(Event::ChecksCancelled),
            Effect::TakeCallSlot { iteration, heeds_limits } => {
                let answer = self.known_limit().filter(|_| heeds_limits);
                let answer = answer.unwrap_or_else(|| Event::CallAnswered(self.take_call(iteration)));
                self.event(answer);
            }
            Effect::SpawnAgent { prompt, session, resumed, session_tokens, .. } => {
                self.prompts.push(prompt);
                self.sessions.push((session, resumed));
                self.process.used_before = session_tokens;
                self.start_agent();
            }
            Effect::ReleaseAgent { .. } => self.release_agent(),
            Effect::StopAgent { why, .. } => {
                (self.process.alive, self.process.works) = (false, false);
                let run = AgentRun { ending: why, ..quiet_run() };
                self.event(Event::AgentEnded(Box::new(run)));
            }
            Effect::CheckActivity => self.event(Event::ActivityChecked { alive: false }),
            Effect::PrepareRollback { to, paths } => {
                let snapshot = SnapshotFacts { tree: self.tree(), ..SnapshotFacts::default() };
                self.event(Event::RollbackReady { to, paths, snapshot });
            }
            Effect::Rollback { to, tree, paths, since: _ } => {
                let from = self.tree();
                self.restore_tree(&tree);
                let (after, refused) = (self.tree(), Vec::new());
                self.event(Event::RolledBack { to, paths, tree, from, after, refused });
            }
            Effect::Refuse { message, .. } => self.refused.push(message.to_string()),
            Effect::Finish => {
                // A process that waits for its answer is released.
                self.process.alive &= !self.is_attached();
                self.finished = true;
            }
            Effect::AwaitUser => {}
            Effect::Permit(permit) => self.permits.push(permit),
        }
    }

    fn start_agent(&mut self) {
        if self.is_attached() && !self.process.alive {
            let run = AgentRun { ending: AgentEnding::Exited, ..quiet_run() };
            return self.event(Event::AgentEnded(Box::new(run)));
        }
        self.process.works = true;
        let holds = self.process.answers();
        self.event(started(holds));
        if self.live.agent.ending.is_none() {
            self.act();
        }
    }

    fn take_snapshot(&mut self) {
        let closing = self.state.phase == Phase::Closing;
        let changed = if closing { self.last_changes() } else { Vec::new() };
        let found = |path: &&str| WeakeningFinding {
            path: (*path).to_owned(),
            what: format!("{path} lost 1 test"),
            criterion: None,
        };
        let autorun = changed.iter().filter(|it| autorun_trigger(it).is_some()).cloned().collect();
        let snapshot = SnapshotFacts {
            tree: self.tree(),
            head: self.branch.map(head),
            changed,
            autorun,
            weakened: self.weak.iter().filter(|_| closing).map(found).collect(),
            edited: if closing { Vec::new() } else { std::mem::take(&mut self.edited) },
            ..SnapshotFacts::default()
        };
        self.event(Event::SnapshotTaken(snapshot));
    }

    fn task_documents(&self) -> TaskDocuments {
        let mut plan = self.plan.clone().unwrap_or_else(|| self.state.spec.plan.clone());
        for item in plan.iter_mut().take(self.ticks) {
            item.done = true;
        }
        let criteria = self.documents.clone();
        let untrusted = self.untrusted.clone();
        TaskDocuments {
            prompt: if self.unreadable.is_none() { self.prompt.to_owned() } else { String::new() },
            unreadable: self.unreadable.clone(),
            context: Vec::new(),
            criteria,
            plan,
            untrusted,
            sums: [(String::new(), "as it is".to_owned())].into(),
            without_trust: Vec::new(),
            matching: Vec::new(),
            notes: MemoryFiles::default(),
            template: None,
        }
    }

    fn check(&mut self, criteria: &[Criterion]) {
        let mut letters = self.standing.chars();
        let mut results: Vec<_> =
            criteria.iter().map(|it| result(it, letters.next().unwrap_or('f'), self.fact)).collect();
        if self.fact.is_empty() {
            // Slow work unless a test overrides it: each failure differs.
            for it in &mut results {
                it.exit = i32::try_from(self.played).ok();
            }
        }
        let tree = self.tree();
        self.results_by_tree.insert(tree.clone(), self.standing);
        let wrote: Vec<String> = self.wrote.iter().map(ToString::to_string).collect();
        let wrote_too = wrote.clone();
        let round = Round {
            tree_before: tree.clone(),
            tree_after: tree,
            wrote: wrote_too,
            results,
            judging: self.judging.take(),
        };
        self.now = self.now.plus_ms(1_000);
        let strays = self.strays.clone();
        self.event(Event::ChecksDone { round: Box::new(round), wrote, untracked: Vec::new(), strays });
    }

    fn take_branch(&mut self, name: String) {
        let branch = LoopBranch { name: Some(name), made: true, ..LoopBranch::default() };
        self.event(Event::BranchTaken(branch));
    }

    fn judge_final_tree(&mut self, criteria: &[Criterion]) {
        let reply = if self.verdicts.is_empty() {
            let results = criteria.iter().map(|it| result(it, 'p', "")).collect();
            let round = Round { tree_before: self.tree(), tree_after: self.tree(), ..round_of(results) };
            VerdictReply::Judged(Box::new(verdict_rounds(round)))
        } else {
            self.verdicts.remove(0)
        };
        self.event(Event::FinalVerdict(reply));
    }

    fn test_mutants(&mut self, plan: MutantPlan) {
        self.tested.push(plan);
        let found = self.mutants.pop_front();
        if let Some(reply) = found.unwrap_or(Some(MutantReply::Tested(MutantCounts::default()))) {
            self.event(Event::MutantsTested(reply));
        }
    }

    /// The files are those of an earlier tree, and so are the results of the checks.
    fn restore_tree(&mut self, tree: &str) {
        let Some(standing) = self.results_by_tree.get(tree) else { return };
        self.standing = standing;
        self.restored_tree = Some(tree.to_owned());
    }

    pub fn sentence(&self) -> String {
        match (self.state.outcome(), &self.state.pause) {
            (Some(outcome), _) => outcome.sentence.to_string(),
            (None, Some(pause)) => pause.message.to_string(),
            (None, None) => String::new(),
        }
    }
}

fn started(holds: Option<u32>) -> Event {
    let domain = "subreaper".to_owned();
    Event::AgentStarted { pid: 42, agent_pid: Some(43), domain, network: None, holds }
}
