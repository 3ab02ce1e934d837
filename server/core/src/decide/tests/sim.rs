//! A world for the machine: it answers every effect from a script, jumps to deadlines, and checks after every
//! record that replay agrees with the live state.

use std::collections::BTreeMap;

use crate::agent::{AgentEnding, AgentRun, ProviderClass, ProviderError};
use crate::decide::{
    Branch, Effect, Event, Live, Loop, Order, Phase, Reading, Shot, Step, apply, begin, commits, deadline,
    decide, replay,
};
use crate::journal::{Entry, LoopSpec, PauseReason, Record, Round};
use crate::jury::Spending;
use crate::moment::Moment;
use crate::prompt::Notes;
use crate::protection::Found;
use crate::task::{Criterion, CriterionId, PlanItem};

mod calls;
mod held;
mod parts;
use held::Process;
pub(crate) use parts::{criterion, item, quiet_run, spec};
use parts::{head, result, seen};

/// What one iteration's agent does, and how things stand afterwards.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    /// One letter per criterion after it: `p`ass, a digit: that many tests pass, `f`ail, `t`imed out, `z`ero tests, `-` unverified.
    pub(crate) results: &'static str,
    pub(crate) changed: Vec<&'static str>,
    pub(crate) says: &'static str,
    pub(crate) error: Option<ProviderClass>,
    /// What the error says.
    pub(crate) why: &'static str,
    pub(crate) cost: u64,
    pub(crate) takes_ms: u64,
    /// Paths that the checks write each time they run.
    pub(crate) wrote: Vec<&'static str>,
    /// Plan items done by now.
    pub(crate) ticks: usize,
    /// Files that are weaker than at the start from now on.
    pub(crate) weakens: Option<Vec<&'static str>>,
    /// The documents' criteria as the agent leaves them.
    pub(crate) leaves: Option<Vec<Criterion>>,
    /// The plan as the agent leaves it, where `ticks` cannot say it.
    pub(crate) plan: Option<Vec<PlanItem>>,
    /// Tools it was denied.
    pub(crate) denied: Vec<&'static str>,
    /// It does not know the session that it was to go on with.
    pub(crate) forgets: bool,
    /// Commands that its tools run.
    pub(crate) ran: Vec<&'static str>,
    /// The tree that it makes, where it is one that comes again.
    pub(crate) makes: Option<&'static str>,
    pub(crate) errors: Vec<&'static str>,
    pub(crate) output: u64,
    /// What checks that fail find after it.
    pub(crate) fact: &'static str,
    /// It never ends by itself.
    pub(crate) hangs: bool,
    /// The branch that it leaves HEAD on; `""`: none.
    pub(crate) switches: Option<&'static str>,
}

impl Act {
    pub(crate) fn new(results: &'static str) -> Self {
        Self {
            results,
            changed: vec!["src/lib.rs"],
            says: "",
            error: None,
            why: "no luck",
            cost: 10_000,
            takes_ms: 60_000,
            wrote: Vec::new(),
            ticks: 0,
            weakens: None,
            leaves: None,
            plan: None,
            denied: Vec::new(),
            forgets: false,
            ran: Vec::new(),
            makes: None,
            errors: Vec::new(),
            output: 0,
            fact: "",
            hangs: false,
            switches: None,
        }
    }

    pub(crate) fn idle(results: &'static str) -> Self {
        Self { changed: Vec::new(), ..Self::new(results) }
    }

    pub(crate) fn fails(class: ProviderClass, results: &'static str) -> Self {
        Self { error: Some(class), ..Self::idle(results) }
    }

    pub(crate) fn denied(self, denied: &[&'static str]) -> Self {
        Self { denied: denied.to_vec(), ..self }
    }

    pub(crate) fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }
}

pub(crate) struct Sim {
    pub(crate) state: Loop,
    pub(crate) live: Live,
    pub(crate) now: Moment,
    pub(crate) entries: Vec<Entry>,
    pub(crate) refused: Vec<String>,
    pub(crate) prompts: Vec<String>,
    /// Of each start: the iteration whose session it was given, and whether that goes on.
    pub(crate) sessions: Vec<(String, bool)>,
    pub(crate) documents: Vec<Criterion>,
    /// The result letters that hold right now, and what the next acts make of them.
    pub(crate) standing: &'static str,
    pub(crate) acts: Vec<Act>,
    pub(crate) untrusted: Vec<CriterionId>,
    /// The list of calls: when, which loop's, which iteration. `None`: it cannot be read.
    pub(crate) calls: Option<Vec<(u64, &'static str, u32)>>,
    wrote: Vec<&'static str>,
    ticks: usize,
    plan: Option<Vec<PlanItem>>,
    tree: u32,
    named_tree: Option<&'static str>,
    /// The tree that a rollback brought back.
    back_at: Option<String>,
    /// How the checks stood on each tree.
    stood: BTreeMap<String, &'static str>,
    fact: &'static str,
    acted: usize,
    /// In hook mode: the one process that works many iterations.
    pub(crate) process: Process,
    queue: Vec<Effect>,
    finished: bool,
    /// What is weaker in the tree as it is.
    pub(crate) weak: Vec<&'static str>,
    /// Protected files that the user edited since the last snapshot.
    pub(crate) edited: Vec<String>,
    /// The branch that HEAD is on; `None`: there is no repository.
    pub(crate) branch: Option<&'static str>,
    /// What was to be committed, and why it cannot be.
    pub(crate) commits: Vec<commits::Order>,
    pub(crate) no_commit: Option<&'static str>,
    /// What the next round asks of judges.
    pub(crate) judging: Option<Spending>,
}

impl Sim {
    /// A loop whose first record is written. `start`: the result letters before the first iteration.
    pub(crate) fn new(spec: LoopSpec, start: &'static str, acts: Vec<Act>) -> Self {
        let now = Moment { wall: 1_795_000_000_000, awake: 1_000_000 };
        let documents = spec.criteria.clone();
        let record = Record::LoopStarted { boot: "boot-1".to_owned(), spec: Box::new(spec) };
        let entry = Entry { seq: 1, epoch: 1, at: now, record };
        let state = begin(&entry).expect("begins");
        Self {
            state,
            live: Live::default(),
            now,
            entries: vec![entry],
            refused: Vec::new(),
            prompts: Vec::new(),
            sessions: Vec::new(),
            documents,
            standing: start,
            acts,
            untrusted: Vec::new(),
            calls: Some(Vec::new()),
            wrote: Vec::new(),
            ticks: 0,
            plan: None,
            tree: 0,
            named_tree: None,
            back_at: None,
            stood: BTreeMap::new(),
            fact: "",
            acted: 0,
            process: Process::default(),
            queue: vec![Effect::TakeSnapshot],
            finished: false,
            weak: Vec::new(),
            edited: Vec::new(),
            branch: None,
            commits: Vec::new(),
            no_commit: None,
            judging: None,
        }
    }

    /// What the checks write from the start: artefacts of the baseline.
    pub(crate) fn checks_write(mut self, wrote: Vec<&'static str>) -> Self {
        self.wrote = wrote;
        self
    }

    /// Plays until the loop ends or rests; answers `self` for reading.
    pub(crate) fn run(mut self) -> Self {
        self.play();
        self
    }

    pub(crate) fn play(&mut self) {
        for _ in 0..100_000 {
            if !self.turn() {
                return;
            }
        }
        panic!("never rests: {:?}", self.state.phase);
    }

    /// Somebody changes files beside the loop: how the checks stand from now on.
    pub(crate) fn edited(&mut self, standing: &'static str) {
        self.tree += 1;
        self.named_tree = None;
        self.back_at = None;
        self.standing = standing;
    }

    fn tree(&self) -> String {
        if let Some(tree) = &self.back_at {
            return tree.clone();
        }
        self.named_tree.map_or_else(|| format!("tree{}", self.tree), str::to_owned)
    }

    /// One effect or one deadline. False when nothing is left to do.
    pub(crate) fn turn(&mut self) -> bool {
        if self.finished {
            return false;
        }
        if !self.queue.is_empty() {
            let effect = self.queue.remove(0);
            self.perform(effect);
            return true;
        }
        let Some(due) = deadline(&self.state, &self.live) else {
            assert!(self.state.outcome.is_none(), "a loop that has ended lets its keeper go");
            return false;
        };
        let ms = due.awake.saturating_sub(self.now.awake);
        self.now = self.now.after(ms);
        self.event(Event::DeadlinePassed);
        let next = deadline(&self.state, &self.live);
        assert!(next.is_none_or(|it| it.awake > self.now.awake), "a deadline that passed is over");
        true
    }

    pub(crate) fn order(&mut self, order: Order) {
        self.event(Event::UserAsked(order));
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.now = self.now.after(1);
        for step in decide(&self.state, &mut self.live, self.now, event) {
            match step {
                Step::Record(record) => self.record(record),
                Step::Effect(effect) => self.queue.push(effect),
            }
        }
        assert_eq!(replay(&self.entries).as_ref(), Some(&self.state), "replay equals live");
    }

    fn record(&mut self, record: Record) {
        let entry = Entry { seq: self.state.seq + 1, epoch: self.state.epoch, at: self.now, record };
        apply(&mut self.state, &entry);
        self.entries.push(entry);
    }

    /// The next effect fails where it has to keep the tree. False when it needs no tree.
    pub(crate) fn fail_to_keep_the_tree(&mut self, reason: PauseReason) -> bool {
        if !matches!(self.queue.first(), Some(Effect::TakeSnapshot | Effect::RunChecks { .. })) {
            return false;
        }
        self.queue.remove(0);
        self.event(Event::SnapshotFailed { reason, message: "cannot write".to_owned() });
        true
    }

    /// The keeper dies here; another takes over.
    pub(crate) fn crash(&mut self, boot: &str) {
        self.finished = false;
        self.queue.clear();
        self.process.alive = false;
        self.live = Live::default();
        self.state = replay(&self.entries).expect("replays");
        if self.state.outcome.is_some() {
            self.finished = true;
            return;
        }
        self.state.epoch += 1;
        let epoch = self.state.epoch;
        if boot != self.state.boot {
            self.now.awake = 5_000;
        }
        let event = Event::Reopened { boot: boot.to_owned(), version: "0.1.0".to_owned() };
        for step in decide(&self.state, &mut self.live, self.now, event) {
            match step {
                Step::Record(record) => {
                    let entry = Entry { seq: self.state.seq + 1, epoch, at: self.now, record };
                    apply(&mut self.state, &entry);
                    self.entries.push(entry);
                }
                Step::Effect(effect) => self.queue.push(effect),
            }
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::GoOn => self.event(Event::WentOn),
            Effect::TakeSnapshot => self.shoot(),
            Effect::TakeBranch { name } => {
                let branch = Branch { name: Some(name), made: true, ..Branch::default() };
                self.event(Event::BranchTaken(branch));
            }
            Effect::Commit(order) => self.commit(*order),
            Effect::ReadTask => {
                let reading = self.reading();
                self.event(Event::TaskRead(Box::new(reading)));
            }
            Effect::RunChecks { criteria, .. } => self.check(&criteria),
            Effect::CancelChecks => self.event(Event::ChecksCancelled),
            Effect::TakeCall { iteration } => {
                let slot = self.take_call(iteration);
                self.event(Event::CallAnswered(slot));
            }
            Effect::SpawnAgent { prompt, session, resumed, .. } => {
                self.prompts.push(prompt);
                self.sessions.push((session, resumed));
                let holds = self.process.answers();
                self.event(Event::AgentStarted { pid: 42, domain: "subreaper".to_owned(), holds });
                if self.live.ending.is_none() {
                    self.act();
                }
            }
            Effect::LetAgentGo { .. } => self.let_go(),
            Effect::StopAgent { why, .. } => {
                self.process.alive = false;
                let run = AgentRun { ending: why, ..quiet_run() };
                self.event(Event::AgentEnded(Box::new(run)));
            }
            Effect::LookForLife => self.event(Event::LifeSeen { alive: false }),
            Effect::PrepareRollback { to, paths } => {
                let shot = Shot { tree: self.tree(), ..Shot::default() };
                self.event(Event::RollbackReady { to, paths, shot });
            }
            Effect::Rollback { to, tree, paths } => {
                let from = self.tree();
                self.put_back(&tree);
                let refused = Vec::new();
                self.event(Event::RolledBack { to, paths, tree, from, refused });
            }
            Effect::Refuse { message, .. } => self.refused.push(message),
            Effect::Finish => self.finished = true,
        }
    }

    fn shoot(&mut self) {
        let changed = match self.state.phase {
            Phase::Closing => self.last_changes(),
            _ => Vec::new(),
        };
        let closing = self.state.phase == Phase::Closing;
        let found = |path: &&str| Found {
            path: (*path).to_owned(),
            what: format!("{path} lost 1 test"),
            criterion: None,
        };
        let shot = Shot {
            tree: self.tree(),
            head: self.branch.map(head),
            changed,
            weakened: self.weak.iter().filter(|_| closing).map(found).collect(),
            edited: if closing { Vec::new() } else { std::mem::take(&mut self.edited) },
            ..Shot::default()
        };
        self.event(Event::SnapshotTaken(shot));
    }

    fn last_changes(&self) -> Vec<String> {
        let by_itself = |it| matches!(it, Some(AgentEnding::Exited | AgentEnding::Held));
        let ran = self.state.last_iteration().is_some_and(|it| by_itself(it.ending));
        let act = self.acted.checked_sub(1).and_then(|it| self.acts.get(it));
        act.filter(|it| ran || it.hangs)
            .map(|it| it.changed.iter().map(ToString::to_string).collect())
            .unwrap_or_default()
    }

    fn reading(&self) -> Reading {
        let mut plan = self.plan.clone().unwrap_or_else(|| self.state.spec.plan.clone());
        for item in plan.iter_mut().take(self.ticks) {
            item.done = true;
        }
        let criteria = self.documents.clone();
        let untrusted = self.untrusted.clone();
        Reading {
            prompt: "Do it.".to_owned(),
            context: Vec::new(),
            criteria,
            plan,
            untrusted,
            sums: [(String::new(), "as it is".to_owned())].into(),
            surfaces: Vec::new(),
            matching: Vec::new(),
            notes: Notes::default(),
            template: None,
        }
    }

    fn act(&mut self) {
        let Some(act) = self.acts.get(self.acted).cloned() else {
            // The script is over: the agent hangs until the keeper ends it.
            return;
        };
        self.acted += 1;
        self.now = self.now.after(act.takes_ms);
        self.standing = act.results;
        self.fact = act.fact;
        self.branch = act.switches.or(self.branch);
        self.wrote.clone_from(&act.wrote);
        self.ticks = act.ticks;
        if let Some(weakens) = act.weakens {
            self.weak = weakens;
        }
        self.plan = act.plan.or(self.plan.take());
        if let Some(leaves) = act.leaves {
            self.documents = leaves;
        }
        if !act.changed.is_empty() {
            self.tree += 1;
            self.back_at = None;
            self.named_tree = act.makes;
        }
        if act.hangs {
            return;
        }
        let class = if act.forgets { Some(ProviderClass::Refused) } else { act.error };
        let error = class.map(|class| ProviderError {
            class,
            message: act.why.to_owned(),
            status: None,
            resets_at: None,
        });
        let run = AgentRun {
            final_text: act.says.to_owned(),
            cost_micros: Some(act.cost),
            duration_ms: act.takes_ms,
            commands: act.ran.iter().map(ToString::to_string).collect(),
            error,
            denials: act.denied.len() as u32,
            denied: act.denied.iter().map(ToString::to_string).collect(),
            session_lost: act.forgets,
            errors: act.errors.iter().map(|it| seen(it)).collect(),
            output_bytes: act.output,
            ..quiet_run()
        };
        let run = self.ended_or_held(run);
        self.event(Event::AgentEnded(Box::new(run)));
    }

    fn check(&mut self, criteria: &[Criterion]) {
        let mut letters = self.standing.chars();
        let results =
            criteria.iter().map(|it| result(it, letters.next().unwrap_or('f'), self.fact)).collect();
        let tree = self.tree();
        self.stood.insert(tree.clone(), self.standing);
        let wrote: Vec<String> = self.wrote.iter().map(ToString::to_string).collect();
        let wrote_too = wrote.clone();
        let round = Round {
            tree_before: tree.clone(),
            tree_after: tree,
            wrote: wrote_too,
            results,
            judging: self.judging.take(),
        };
        self.now = self.now.after(1_000);
        self.event(Event::ChecksDone { round: Box::new(round), wrote, untracked: Vec::new() });
    }

    /// The files are those of an earlier tree, and so is what holds of them.
    fn put_back(&mut self, tree: &str) {
        let Some(standing) = self.stood.get(tree) else { return };
        self.standing = standing;
        self.back_at = Some(tree.to_owned());
    }

    pub(crate) fn sentence(&self) -> &str {
        match (&self.state.outcome, &self.state.pause) {
            (Some(outcome), _) => &outcome.sentence,
            (None, Some(pause)) => &pause.message,
            (None, None) => "",
        }
    }
}
