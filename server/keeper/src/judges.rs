//! Runs the judges: agents that search for a reason against a criterion, each under a warden with its own timeout,
//! after the other checks of a round. The core defines their prompts and interprets their answers.

use loopkeeper_text::clauses;
use loopkeeper_text::language;
use loopkeeper_text::language::Language;
use loopkeeper_text::tr;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use loopkeeper_agent::reader::AgentOutputReader;
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_core::check::locations::relative_path;
use loopkeeper_core::check::{CheckResult, Location, Status, words};
use loopkeeper_core::decide::{CallSlot, LoopState, Phase};
use loopkeeper_core::journal::{AgentPlan, LoopSpec};
use loopkeeper_core::jury::{
    DIFF_BYTES, JudgePrompt, JudgeUsage, RemainingBudget, Vote, VoteTally, judge_prompt, parse_answer, quorum,
};
use loopkeeper_task::criterion::{Check, Criterion};
use tokio::time::Instant;
use uuid::Uuid;

use super::agent::{self, IterationStart, LingerTimer, WatchResult};
use super::checks::{RoundParams, output_file};
use super::run_context::{RunContext, SnapshotFailure};
use super::{calls, private_file};
use loopkeeper_system::calls::CallRequest;
use loopkeeper_system::env::SESSION;
use loopkeeper_system::process::{self, Job, JobHandle, OutputEvent, Stream, TerminateMode};

/// Environment variable for custom agent commands: a judge run, not a work run.
const ROLE: (&str, &str) = ("LOOPKEEPER_ROLE", "judge");
/// Attempts per judge: an unreadable answer is requested once more.
const MAX_ATTEMPTS: u32 = 2;

/// Values of the loop that its judges need.
pub(super) struct JudgeContext {
    /// Name of the caller in the user's list of calls.
    caller: String,
    /// The tree at the start of the work.
    start: Option<String>,
    /// Paths that checks write; `None`: every written path is an artefact.
    artefacts: Option<BTreeSet<String>>,
    budget: RemainingBudget,
}

/// Result of the judges of a round.
pub(super) struct JudgeResults {
    pub(super) results: Vec<CheckResult>,
    pub(super) spent: Option<JudgeUsage>,
    /// The tree after the last judge.
    pub(super) tree: String,
}

impl JudgeContext {
    pub(super) fn of_loop(state: &LoopState) -> Self {
        Self {
            caller: state.spec.loop_id.clone(),
            start: state.tree_after(0).map(str::to_owned),
            artefacts: (state.phase != Phase::Baseline).then(|| state.tree.artefacts.clone()),
            budget: RemainingBudget::after(
                &state.spec.settings.limits,
                state.spent.cost_micros,
                state.spent.tokens,
            ),
        }
    }

    /// The context of a round without a loop, whose changes are unknown.
    pub(super) fn without_loop(spec: &LoopSpec) -> Self {
        let budget = RemainingBudget::from_limits(&spec.settings.limits);
        Self { caller: "check".to_owned(), start: None, artefacts: None, budget }
    }

    /// Whether the tree is unchanged. Judges are not called in a round whose result is discarded.
    pub(super) async fn is_steady(
        &self,
        runtime: &RunContext,
        trees: (&str, &str),
    ) -> Result<bool, SnapshotFailure> {
        let Some(artefacts) = self.artefacts.as_ref().filter(|_| trees.0 != trees.1) else { return Ok(true) };
        let wrote = runtime.changed_paths(trees.0, trees.1).await?;
        Ok(wrote.iter().all(|it| artefacts.contains(it)))
    }
}

/// Runs the judges of every criterion that has them. `tree`: the tree after the other checks.
pub(super) async fn run_judges(
    plan: &RoundParams<'_>,
    runtime: &RunContext,
    judging: &JudgeContext,
    tree: &str,
) -> Result<JudgeResults, SnapshotFailure> {
    let diff = match &judging.start {
        None => None,
        Some(start) => {
            let (start, now) = (start.clone(), tree.to_owned());
            Some(
                runtime
                    .with_store(move |store| {
                        Ok(Language::English.during(|| store.diff(&start, &now, DIFF_BYTES))?)
                    })
                    .await?,
            )
        }
    };
    let diff = diff.map(|it| plan.redactor.redact(&it));
    let panel = JudgePanel { plan, runtime, judging, diff, spent: Cell::default() };
    let mut results = Vec::new();
    for criterion in plan.criteria.iter().filter(|it| quorum(it).is_some()) {
        results.push(panel.judge_criterion(criterion).await);
    }
    let after = runtime.with_store(|store| Ok(store.take_snapshot()?.tree)).await?;
    if after != tree {
        let wrote = runtime.changed_paths(tree, &after).await?;
        let fact = tr!(
            "{path} changed while the judge looked",
            path = wrote.first().map_or(tr!("a file"), String::as_str)
        );
        for it in &mut results {
            (it.status, it.fact) = (Status::Unstable, fact.clone());
        }
    }
    let spent = panel.spent.get();
    Ok(JudgeResults { results, spent: (spent.calls > 0).then_some(spent), tree: after })
}

struct JudgePanel<'a> {
    plan: &'a RoundParams<'a>,
    runtime: &'a RunContext,
    judging: &'a JudgeContext,
    diff: Option<String>,
    spent: Cell<JudgeUsage>,
}

impl JudgePanel<'_> {
    async fn judge_criterion(&self, criterion: &Criterion) -> CheckResult {
        let begun = Instant::now();
        let mut votes = VoteTally::new(quorum(criterion).unwrap_or((1, 1)));
        while votes.is_open() {
            votes.add(self.vote(criterion).await);
        }
        let result = votes.result(criterion, begun.elapsed().as_millis() as u64);
        let clean = |text: &str| self.plan.redactor.redact(text);
        let result = CheckResult {
            fact: clean(&result.fact),
            head: clean(&result.head),
            locations: result
                .locations
                .iter()
                .map(|it| Location { file: clean(relative_path(&it.file, self.plan.root)), ..it.clone() })
                .collect(),
            ..result
        };
        // The result is valid without its output file.
        let _ = private_file(&output_file(self.plan, criterion), result.head.as_bytes());
        result
    }

    async fn vote(&self, criterion: &Criterion) -> Vote {
        let mut fault: Option<String> = None;
        for _ in 0..MAX_ATTEMPTS {
            // Random, so that the author of the judged files cannot know it.
            let key = Uuid::new_v4().simple().to_string();
            let run = match self.run_judge(criterion, &key, fault.as_deref()).await {
                Ok(run) => run,
                Err(why) => return Vote::Void(tr!("the judge was not asked: {why}", why)),
            };
            if run.ending == AgentEnding::TimedOut {
                return Vote::Late(words::no_result(self.timeout(criterion).as_millis() as u64));
            }
            if let Some(error) = run.error {
                return Vote::Void(tr!("the judge could not answer: {error}", error = error.message));
            }
            match parse_answer(&run.final_text, &key) {
                Ok(answer) => return Vote::Answered(answer),
                Err(why) => fault = Some(why),
            }
        }
        // The judge reads the fault in English.
        let why = fault.unwrap_or_default();
        let why = language::translation(&why).map_or_else(|| why.clone(), str::to_owned);
        Vote::Void(tr!("the judge's answer cannot be read: {why}", why))
    }

    async fn run_judge(
        &self,
        criterion: &Criterion,
        key: &str,
        fault: Option<&str>,
    ) -> Result<AgentRun, String> {
        let Some(judge) = &self.runtime.spec.judge else {
            return Err(tr!("the loop was started without one; start it again").to_owned());
        };
        if !self.judging.budget.allows(self.spent.get()) {
            return Err(tr!("the budget of the loop is used up").to_owned());
        }
        let Some(Check::Judge { prose, .. }) = &criterion.check else { return Err(String::new()) };
        let content =
            JudgePrompt { criterion: prose, diff: self.diff.as_deref(), key, previous_error: fault };
        let prompt = Language::English.during(|| judge_prompt(&content));
        let job = self.job(judge, criterion, prompt)?;
        self.take_call().await?;
        let running = process::start(&job, &self.runtime.agent_domain).map_err(|error| error.to_string())?;
        let limits = RunLimits { grace: job.grace, steps: self.runtime.spec.settings.limits.steps };
        let run = watch(running, judge, self.timeout(criterion), limits).await;
        let asked = JudgeUsage { calls: 1, cost_micros: run.cost_micros, tokens: run.tokens };
        let mut spent = self.spent.get();
        spent.add(asked);
        self.spent.set(spent);
        if !run.unkillable.is_empty() {
            return Err(tr!(
                "processes of it could not be ended: {unkillable}",
                unkillable = clauses::list(&run.unkillable)
            ));
        }
        Ok(run)
    }

    fn timeout(&self, criterion: &Criterion) -> Duration {
        criterion.timeout_ms.map_or(self.plan.timeout, Duration::from_millis)
    }

    fn job(&self, judge: &AgentPlan, criterion: &Criterion, prompt: String) -> Result<Job, String> {
        let prompt_file = self.prompt_file(criterion);
        private_file(&prompt_file, prompt.as_bytes())
            .map_err(|error| tr!("could not write {path}: {error}", path = prompt_file.display(), error))?;
        let permitted = agent::approve_agent(self.runtime, judge)?;
        let session = Uuid::new_v4().to_string();
        let mut env = self.runtime.env_without_endpoint(judge);
        env.push((SESSION.into(), session.clone().into()));
        env.push((ROLE.0.into(), ROLE.1.into()));
        let start = IterationStart {
            plan: judge.clone(),
            iteration: self.plan.number,
            session,
            resumed: false,
            session_tokens: 0,
            budget_micros: None,
            prompt,
        };
        Ok(Job {
            stdin: agent::stdin(judge, &prompt_file),
            argv: permitted.try_map(|it| agent::judge_argv(self.runtime, &it, &start, &prompt_file))?,
            cwd: self.runtime.root(),
            env,
            grace: self.plan.grace,
            output: None,
        })
    }

    fn prompt_file(&self, criterion: &Criterion) -> PathBuf {
        self.plan.output.join(format!("{:04}.{}.judge.md", self.plan.number, criterion.id.0))
    }

    /// Counts each judge run against the hourly call limit, like a start of the agent. If the list cannot be used the
    /// run is permitted, because a round has few judges.
    async fn take_call(&self) -> Result<(), String> {
        let request = CallRequest {
            loop_id: format!("{}/judge-{}", self.judging.caller, Uuid::new_v4().simple()),
            iteration: self.plan.number,
            limit: self.runtime.spec.settings.limits.calls_per_hour,
        };
        match calls::wait_for_slot(&self.runtime.calls, &request).await {
            CallSlot::Taken { .. } => Ok(()),
            CallSlot::Full { .. } => Err(tr!("the hourly call limit is reached").to_owned()),
            CallSlot::Unknown { message } => {
                tracing::warn!("{message}: a call of a judge was not counted");
                Ok(())
            }
        }
    }
}

/// Reads the output of a judge until it ends or its timeout expires.
async fn watch(mut running: JobHandle, judge: &AgentPlan, timeout: Duration, limits: RunLimits) -> AgentRun {
    let begun = Instant::now();
    let mut reader = AgentOutputReader::new(judge.dialect);
    let mut linger = LingerTimer::default();
    let mut watched = WatchResult {
        ending: AgentEnding::Exited,
        halted: None,
        linger_expired: false,
        stderr: String::new(),
        duration_ms: 0,
    };
    loop {
        tokio::select! {
            output = running.next() => match output {
                Some(output) => {
                    read_output_line(&mut reader, &mut watched.stderr, output);
                    linger.until = reader.is_idle().then(|| Instant::now() + limits.grace);
                    if watched.halted.is_none() {
                        watched.halted = reader.kill_reason(limits.steps);
                        if watched.halted.is_some() {
                            running.terminate(TerminateMode::Grace);
                        }
                    }
                }
                None => break,
            },
            () = linger.expired() => {
                linger = LingerTimer::default();
                running.terminate(TerminateMode::Grace);
            }
            () = tokio::time::sleep_until(begun + timeout), if watched.ending == AgentEnding::Exited => {
                watched.ending = AgentEnding::TimedOut;
                running.terminate(TerminateMode::Grace);
            }
        }
    }
    watched.duration_ms = begun.elapsed().as_millis() as u64;
    agent::summarize_run(reader, running.wait().await, watched, limits.steps)
}

/// Limits that apply to every agent.
#[derive(Clone, Copy)]
struct RunLimits {
    grace: Duration,
    steps: u32,
}

fn read_output_line(reader: &mut AgentOutputReader, stderr: &mut String, output: OutputEvent) {
    match output {
        OutputEvent::Line { stream: Stream::Stdout, bytes } => {
            reader.read_line(&String::from_utf8_lossy(&bytes));
        }
        OutputEvent::Line { stream: Stream::Stderr, bytes } => {
            let line = String::from_utf8_lossy(&bytes);
            reader.stderr_line(&line);
            agent::keep_tail(stderr, &line);
        }
        OutputEvent::Oversize { bytes, .. } => {
            reader.record_oversize_line(bytes);
        }
    }
}
