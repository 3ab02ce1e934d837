//! `run`: starts a loop and shows it until it ends. On a terminal the loop is detached and only shown here; otherwise
//! its keeper is this process.

mod budget;
mod dry_run;
pub(crate) mod foreground;
mod interrupts;
mod queue;

use std::io::{self, IsTerminal};
use std::path::Path;

use clap::ValueHint;
use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::exit::was_satisfied_at_start;
use loopkeeper_core::journal::EarlierTask;
use loopkeeper_core::settings::{OverrideSource, SettingCode, SettingOverride};
use loopkeeper_core::trust::TrustItem;
use loopkeeper_text::{sanitize, tr};
use serde_json::json;

use self::interrupts::CtrlC;
use super::ask;
use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::show::{LoopFormat, LoopPrinter};
use super::trust;
use super::trust::TrustConsent;
use super::watch::WatchedLoop;
use loopkeeper_operations::agents::AgentSelection;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::resolved_task::{ResolvedTask, TypedTask};
use loopkeeper_operations::start::{self, Interactivity, StartRequest};
use loopkeeper_operations::suitability::SuitabilityQuestion;
use loopkeeper_operations::{self as operations, keeper};
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(crate) struct Args {
    /// A task document, several of them, or a queue (QUEUE.md); by default the only one under the root, or that of the
    /// nearest folder
    #[arg(value_name = "TASK", value_hint = ValueHint::FilePath)]
    pub(crate) tasks: Vec<String>,
    /// A task without a file: the text of the prompt
    #[arg(long, value_name = "TEXT", conflicts_with = "tasks")]
    pub(crate) prompt: Option<String>,
    /// With --prompt, a line that must hold, with its check: 'All tests pass: `$ cargo test`'
    #[arg(long, value_name = "LINE", requires = "prompt")]
    pub(crate) criterion: Vec<String>,
    /// A further command that must succeed, such as 'cargo test'; may be given several times
    #[arg(long, value_name = "COMMAND")]
    pub(crate) check: Vec<String>,
    /// The word inside <promise>…</promise> by which the agent says it is done
    #[arg(long, value_name = "P")]
    pub(crate) completion_promise: Option<String>,
    /// claude, demo, a name of `[agents]`, or the path of a program: ./agent.sh
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// End after N iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_iterations: Option<String>,
    /// End once the agent reported this cost, in dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub(crate) max_cost: Option<String>,
    /// End after this time, as in 45m or 8h
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) max_duration: Option<String>,
    /// Print what would run, with the effective settings and where each came from; start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Start even if everything already holds, and with --prompt also in the home folder
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Trust every command that `trust` would show
    #[arg(long)]
    pub(crate) trust: bool,
    /// Work in the session of Claude Code that is open in this folder (`hook install` first)
    #[arg(long)]
    pub(crate) attach: bool,
    /// Return once the loop runs; `watch` shows it
    #[arg(long)]
    pub(crate) detach: bool,
    /// Print journal records as JSON, one per line; with --dry-run, the plan as one object
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    match queue::find(args)? {
        Some(queue) => queue::run(args, &queue, out),
        None => run_one(args, out),
    }
}

fn run_one(args: &Args, out: &mut Ui) -> ExitResult {
    let prepared = PreparedRun::of(args, args.tasks.first().map(String::as_str))?;
    let state = StateDir::open()?;
    if args.dry_run {
        prepared.show(args, &state, out);
        return Ok(Exit::Done);
    }
    if !is_wanted(args, &state, &prepared.work)? {
        failure::note(tr!("Nothing was started."));
        return Ok(Exit::Ended);
    }
    let started = prepared.start(args, (&state, consent(args)), Vec::new())?;
    let exit = started.run_to_end(args, &state, out)?;
    if started.mode == RunMode::Watched && starts_anyway(args, &state, &started.dir)? {
        return run_one(&Args { anyway: true, ..args.clone() }, out);
    }
    Ok(exit)
}

/// Asks about a task for which a loop may be the wrong tool, where a user can answer.
fn is_wanted(args: &Args, state: &StateDir, work: &ResolvedTask) -> Result<bool, Failure> {
    if args.anyway || args.json || !ask::is_interactive() {
        return Ok(true);
    }
    let Some(question) = SuitabilityQuestion::of(state, work)? else { return Ok(true) };
    let is_wanted = ask::confirm(&tr!("{question} Start it anyway?", question = question.text()))?;
    question.record()?;
    Ok(is_wanted)
}

fn consent(args: &Args) -> TrustConsent {
    if args.trust { TrustConsent::Given } else { TrustConsent::Asked }
}

/// A task with its agents and everything that it would run.
struct PreparedRun {
    work: ResolvedTask,
    roster: AgentSelection,
    items: Vec<TrustItem>,
}

impl PreparedRun {
    /// Prints warnings.
    fn of(args: &Args, path: Option<&str>) -> Result<Self, Failure> {
        let work = resolve_task(args, path)?;
        work.refuse_unready()?;
        for warning in work.warnings().into_iter().chain(operations::remarks::before_start(&work)) {
            failure::warn(warning);
        }
        let bounded = work.resolved.findings().iter().filter(|it| it.code == SettingCode::Bounded);
        let bounded = bounded.map(|it| tr!("{origin}: {message}", origin = it.origin, message = it.message));
        for note in work.unsupported_settings().into_iter().chain(bounded) {
            failure::note(tr!("note: {note}", note));
        }
        let roster = AgentSelection::resolve(&work)?;
        for warning in roster.warnings().into_iter().chain(roster.commit_note()) {
            failure::warn(warning);
        }
        let items = operations::trust::items(&work, &roster)?;
        Ok(Self { work, roster, items })
    }

    fn show(&self, args: &Args, state: &StateDir, out: &mut Ui) {
        let Self { work, roster, items } = self;
        dry_run::show(&dry_run::DryRun { work, roster, items, state }, args.json, out);
    }

    /// Creates the loop's folder.
    fn start(
        self,
        args: &Args,
        (state, consent): (&StateDir, TrustConsent),
        earlier: Vec<EarlierTask>,
    ) -> Result<StartedRun, Failure> {
        let Self { work, roster, items } = self;
        start::ensure_tree_free(state, &work, failure::note_wait)?;
        trust::ensure_trusted(&work, &items, state, consent)?;
        let mode = RunMode::of(args, &work);
        let start = StartRequest {
            work: &work,
            roster,
            anyway: args.anyway,
            own_promise: args.completion_promise.is_some(),
            attended: if mode == RunMode::Foreground { Interactivity::No } else { Interactivity::Yes },
            earlier,
        };
        Ok(StartedRun { dir: start::prepare(state, &start)?, mode })
    }
}

/// How a loop is related to this command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// In a separate keeper; the command returns.
    Detached,
    /// In a separate keeper, and shown here.
    Watched,
    /// Its keeper is this process.
    Foreground,
}

impl RunMode {
    fn of(args: &Args, work: &ResolvedTask) -> Self {
        // A session may run this as one of its own commands, and must not be blocked by it.
        if args.detach || (work.settings.mode == LoopMode::Attach && !on_a_terminal()) {
            Self::Detached
        } else if on_a_terminal() {
            Self::Watched
        } else {
            Self::Foreground
        }
    }
}

/// A loop whose folder exists.
struct StartedRun {
    dir: LoopDir,
    mode: RunMode,
}

impl StartedRun {
    fn run_to_end(&self, args: &Args, state: &StateDir, out: &mut Ui) -> ExitResult {
        let Self { dir, mode } = self;
        let ran = match mode {
            RunMode::Detached => start_detached(args, state, dir, out),
            RunMode::Watched => run_watched(args, state, dir, out),
            RunMode::Foreground => run_in_foreground(args, dir, out),
        };
        ran.inspect_err(|_| start::discard(dir))
    }
}

/// Whether the command runs on a terminal, where the user can interrupt it, or close the terminal and return later.
fn on_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn resolve_task(args: &Args, path: Option<&str>) -> Result<ResolvedTask, Failure> {
    let attach = args.attach.then(|| "attach".to_owned());
    let given = [
        ("--attach", "mode", &attach),
        ("--agent", "agent", &args.agent),
        ("--max-iterations", "limits.iterations", &args.max_iterations),
        ("--max-cost", "limits.cost_usd", &args.max_cost),
        ("--max-duration", "limits.duration", &args.max_duration),
        ("--completion-promise", "exit.promise", &args.completion_promise),
    ];
    let argument = |(option, key, value): (&str, &str, &Option<String>)| {
        let mut value = value.clone()?;
        if key == "agent" && value.contains('/') {
            // Relative to the current folder, while paths in a configuration are relative to the root.
            value = std::path::absolute(&value).map_or(value, |it| it.to_string_lossy().into_owned());
        }
        Some(SettingOverride {
            option: option.to_owned(),
            key: key.to_owned(),
            value,
            source: OverrideSource::Argument,
        })
    };
    let arguments: Vec<_> = given.into_iter().filter_map(argument).collect();
    let work = match &args.prompt {
        Some(prompt) => ResolvedTask::typed(&TypedTask { prompt, criteria: &args.criterion }, &arguments)?,
        None => ResolvedTask::find(path, &arguments)?,
    };
    if args.prompt.is_some() && !args.anyway {
        refuse_home(&work.root)?;
    }
    Ok(work.with_checks(&args.check))
}

/// The agent may change everything below the root, and every snapshot contains it.
fn refuse_home(root: &Path) -> Result<(), Failure> {
    let home = std::env::home_dir().and_then(|it| it.canonicalize().ok());
    if !home.is_some_and(|it| it.starts_with(root)) {
        return Ok(());
    }
    let root = sanitize::visible(&root.to_string_lossy());
    Err(Failure::usage(tr!(
        "{root} is your home folder or contains it: the agent would work on all of it",
        root
    ))
    .hint(tr!("Change to the folder of a project; `--anyway` starts here nevertheless.")))
}

fn start_detached(args: &Args, state: &StateDir, dir: &LoopDir, out: &mut Ui) -> ExitResult {
    let (pid, id) = (keeper::start_detached(state, dir, None)?, dir.id());
    if args.json {
        out.json(&json!({"loopId": id, "pid": pid}));
    } else {
        out.line(tr!("Loop {id} runs; `loopkeeper watch {id}` shows it.", id));
    }
    Ok(Exit::Done)
}

fn run_watched(args: &Args, state: &StateDir, dir: &LoopDir, out: &mut Ui) -> ExitResult {
    keeper::start_detached(state, dir, None)?;
    let runtime = new_runtime()?;
    runtime.block_on(async {
        let mut interrupts = CtrlC::listen(state, dir.id())?;
        let show = LoopPrinter::new(LoopFormat::from_flag(args.json), out).for_loop_owner();
        let watched = WatchedLoop { store: state.clone(), dir: dir.clone() };
        let exit = watched.run_to_end(show, &mut interrupts).await?;
        let is_urgent = exit == Exit::Ended && interrupts.was_urgent();
        Ok(if is_urgent { Exit::Signalled } else { exit })
    })
}

/// Every criterion held already, so nothing could show that the work is done; the user may want to start anyway.
fn starts_anyway(args: &Args, state: &StateDir, dir: &LoopDir) -> Result<bool, Failure> {
    if args.json || !ask::is_interactive() {
        return Ok(false);
    }
    let loop_view = LoopView::read(state, dir.clone())?;
    Ok(loop_view.is_some_and(|it| was_satisfied_at_start(&it.state))
        && ask::confirm(tr!("Start it anyway?"))?)
}

fn run_in_foreground(args: &Args, dir: &LoopDir, out: &mut Ui) -> ExitResult {
    foreground::run_to_end(dir, LoopPrinter::new(LoopFormat::from_flag(args.json), out).for_loop_owner())
        .map(|(exit, _)| exit)
}
