//! `check`: runs a task's checks once, without a loop. If a loop is running in the tree, its keeper runs them.

mod detach;
mod lint;
mod report;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{PermissionMode, PromptBy};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::journal::{AgentPlan, Entry, Record};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::{message, sanitize, tr, words};
use loopkeeper_view::{self as view, CriteriaStatus, DeferredCommand, effect};
use serde::Serialize;
use serde_json::json;

use self::report::{AnnotationLevel, CheckReportFormat, DocumentPositions, ReportItem};
use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::render::{Glyphs, table};
use super::select::TaskArg;
use super::trust;
use super::trust::TrustConsent;
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_keeper::{block_on, check_only};
use loopkeeper_operations::follow::LoopTailer;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::{self as operations, agents, control_client, start};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::TreeHolder;

/// Poll interval for the result of a keeper.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Trust every command that `trust` would show
    #[arg(long)]
    pub(crate) trust: bool,
    /// Run nothing: print remarks on the criteria, and the task's grade
    #[arg(long, conflicts_with_all = ["criterion", "detach", "trust"])]
    pub(crate) lint: bool,
    /// Print JSON for scripts: the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Output for people, scripts or continuous integration
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<CheckReportFormat>,
}

/// The arguments that the language server passes.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Only this criterion, by its id
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) criterion: Option<String>,
    /// Return once the checks run, apart from this process
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
}

impl Args {
    fn format(&self) -> CheckReportFormat {
        self.format.unwrap_or(if self.json { CheckReportFormat::Json } else { CheckReportFormat::Text })
    }
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckReport<'a> {
    task: &'a str,
    holds: bool,
    criteria: &'a CriteriaStatus,
    results: &'a [CheckResult],
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    if args.lint {
        return lint::run(args, out);
    }
    if args.server.detach {
        return detach::start_detached(args);
    }
    let mut work = ResolvedTask::find(args.task.path.as_deref(), &[])?;
    work.refuse_broken()?;
    if let Some(id) = &args.server.criterion {
        Arc::make_mut(&mut work.task).criteria.retain(|it| it.id.0 == *id);
    }
    for note in work.unsupported_settings() {
        failure::note(tr!("note: {note}", note));
    }
    work.refuse_empty()?;
    for warning in work.warnings() {
        failure::warn(warning);
    }
    let results = run_checks(&work, if args.trust { TrustConsent::Given } else { TrustConsent::Asked })?;
    let criteria = view::criteria_without_loop(&work.task.criteria, &results);
    let holds = criteria.holds();
    match args.format() {
        CheckReportFormat::Json => {
            out.json(&CheckReport { task: &work.id.0, holds, criteria: &criteria, results: &results });
        }
        CheckReportFormat::Text => print_results(&work, &criteria, &results, out),
        CheckReportFormat::Github => out.write(&report::github(&report_items(&work, &results))),
        CheckReportFormat::Sarif => out.json(&report::sarif(&report_items(&work, &results))),
        CheckReportFormat::Junit => out.write(&report::junit(&work.title(), &report_items(&work, &results))),
    }
    Ok(if holds { Exit::Done } else { Exit::Ended })
}

fn print_results(work: &ResolvedTask, criteria: &CriteriaStatus, results: &[CheckResult], out: &mut Ui) {
    out.write(&table::with_output(criteria, results, Glyphs::of_environment()));
    out.line(tr!("{title}: {sentence}", title = work.title(), sentence = criteria.sentence()));
    for remedy in remedies(results) {
        out.line(message::hint_line(words::capitalised(remedy)));
    }
}

/// The result of each criterion at its place. An optional one that fails, and one without a check, is a note.
fn report_items(work: &ResolvedTask, results: &[CheckResult]) -> Vec<ReportItem> {
    let places = DocumentPositions::new(&work.root, &work.documents);
    let results: HashMap<_, _> = results.iter().map(|it| (&it.criterion, it)).collect();
    let item = |criterion: &Criterion| {
        let result = results.get(&criterion.id);
        let status = result.map_or(Status::Unverified, |it| it.status);
        let level = match status {
            Status::Pass => AnnotationLevel::Pass,
            Status::Unverified => AnnotationLevel::Note,
            _ if !criterion.required => AnnotationLevel::Note,
            _ => AnnotationLevel::Error,
        };
        let fact = result.map(|it| it.fact.as_str()).filter(|it| !it.is_empty());
        let fact = fact.unwrap_or(table::status_word(status));
        let (line, column) = places.position(&criterion.place);
        ReportItem {
            file: places.shown(&criterion.place.file),
            line,
            column,
            level,
            code: status.word().to_owned(),
            message: sanitize::line(&tr!("{name}: {fact}", name = criterion.name, fact)),
            name: sanitize::line(&criterion.name),
        }
    };
    work.task.criteria.iter().map(item).collect()
}

/// Runs the checks of the task, once they are trusted; by the keeper of a loop on it, where one is running.
pub(crate) fn run_checks(work: &ResolvedTask, consent: TrustConsent) -> Result<Vec<CheckResult>, Failure> {
    let state = StateDir::open()?;
    let judge = agents::judge_plan(work)?;
    trust::ensure_trusted(work, &operations::trust::of_checks(work, &judge)?, &state, consent)?;
    match start::settled_holder(&state, &work.root, failure::note_wait)? {
        None => check_here(work, judge, &state),
        Some((holder, path)) => match loop_of_task(&state, &holder, work) {
            Some(loop_view) => check_by_keeper(&state, &loop_view),
            None => Err(start::busy_error(&state, holder, path)),
        },
    }
}

/// Remedies for checks that cannot run on this machine.
fn remedies(results: &[CheckResult]) -> BTreeSet<&str> {
    let missing = results.iter().filter_map(CheckResult::missing_on_machine);
    missing.map(|it| it.remedy.as_str()).filter(|it| !it.is_empty()).collect()
}

fn check_here(
    work: &ResolvedTask,
    judge: Option<AgentPlan>,
    state: &StateDir,
) -> Result<Vec<CheckResult>, Failure> {
    let workspace = state.workspace(&work.root)?;
    let round = check_only::check_task(state, &workspace, work.spec(no_agent(), judge), Box::new(|_| {}));
    Ok(block_on(round)??.results)
}

/// The loop that works on this task.
fn loop_of_task(state: &StateDir, holder: &TreeHolder, work: &ResolvedTask) -> Option<LoopView> {
    let loop_view = LoopView::read(state, state.find(holder.loop_id()?).ok()?).ok().flatten()?;
    (loop_view.is_alive() && loop_view.works_on(work)).then_some(loop_view)
}

/// Asks the loop's keeper, which runs the checks immediately while it is paused, else after the running call of the
/// agent.
fn check_by_keeper(state: &StateDir, loop_view: &LoopView) -> Result<Vec<CheckResult>, Failure> {
    let id = loop_view.dir.id();
    let mut tailer = LoopTailer::new(&loop_view.dir.journal());
    tailer.poll()?;
    control_client::send(state, id, json!({"do": "check"}))?;
    failure::note(effect(
        &loop_view.state,
        DeferredCommand::Check,
        &tr!("Loop {id} is running here and", id),
    ));
    loop {
        // The keeper first: if it ends in between, the journal holds all that it recorded.
        let is_alive = state.keeper_of(&loop_view.dir)? != KeeperLiveness::Gone;
        if let Some(results) = tailer.poll()?.iter().find_map(results_of) {
            return Ok(results);
        }
        let has_ended = tailer.state().is_some_and(|it| it.outcome().is_some());
        if has_ended || !is_alive {
            return Err(Failure::ended(tr!("loop {id} ended before it checked", id))
                .hint(tr!("`loopkeeper check` again runs the checks here.")));
        }
        sleep(POLL_INTERVAL);
    }
}

fn results_of(entry: &Entry) -> Option<Vec<CheckResult>> {
    match &entry.record {
        Record::ChecksDone { round, .. } => Some(round.results.clone()),
        _ => None,
    }
}

/// A check round starts no agent.
fn no_agent() -> AgentPlan {
    AgentPlan {
        name: "none".to_owned(),
        argv: Vec::new(),
        prompt: PromptBy::Stdin,
        dialect: Dialect::Text,
        permissions: PermissionMode::Edits,
        env: Vec::new(),
    }
}
