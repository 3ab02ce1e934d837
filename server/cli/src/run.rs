//! `run`: starts a loop and shows it until it ends. On a terminal the loop is detached and only shown here; otherwise
//! its keeper is this process.

mod dry;
pub(crate) mod foreground;
mod interrupts;

use std::io::{self, IsTerminal};
use std::path::Path;

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::exit::held_already;
use loopkeeper_core::settings::{OverrideSource, SettingOverride};
use loopkeeper_text::sanitize;
use serde_json::json;

use self::interrupts::CtrlC;
use super::ask;
use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::select::TaskArg;
use super::show::{LoopFormat, LoopPrinter};
use super::trust;
use super::trust::TrustConsent;
use super::watch::WatchedLoop;
use loopkeeper_operations::agents::AgentRoster;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::resolved_task::{ResolvedTask, TypedTask};
use loopkeeper_operations::start::{self, Interactivity, StartRequest};
use loopkeeper_operations::{self as operations, keeper};
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
    /// A task without a file: what the agent is told
    #[arg(long, value_name = "TEXT", conflicts_with = "path")]
    pub(crate) prompt: Option<String>,
    /// With --prompt, a line that must hold, with its check: 'All tests pass: `$ cargo test`'
    #[arg(long, value_name = "LINE", requires = "prompt")]
    pub(crate) criterion: Vec<String>,
    /// A command that must succeed besides: 'cargo test'. May be given several times
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
    /// Print journal records as JSON, one a line; with --dry-run, the plan as one object
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let work = work(args)?;
    work.refuse_unready()?;
    for warning in work.warnings().into_iter().chain(operations::remarks::before_start(&work)) {
        failure::warn(warning);
    }
    for ignored in work.resolved.findings().iter().filter(|it| !it.is_blocking()) {
        failure::note(format_args!("note: {}: {}", ignored.origin, ignored.message));
    }
    let crew = AgentRoster::resolve(&work)?;
    for warning in crew.warnings().into_iter().chain(crew.commit_note()) {
        failure::warn(warning);
    }
    let items = operations::trust::items(&work, &crew)?;
    let state = StateDir::open()?;
    if args.dry_run {
        dry::show(&dry::DryRun { work: &work, crew: &crew, items: &items, state: &state }, args.json, out);
        return Ok(Exit::Done);
    }
    start::ensure_tree_free(&state, &work, failure::note_wait)?;
    let consent = if args.trust { TrustConsent::Given } else { TrustConsent::Asked };
    trust::ensure_trusted(&work, &items, &state, consent)?;
    // A session may run this as one of its own commands, and must not be blocked by it.
    let is_left = args.detach || (work.settings.mode == LoopMode::Attach && !on_a_terminal());
    let on_its_own = is_left || on_a_terminal();
    let start = StartRequest {
        work: &work,
        crew,
        anyway: args.anyway,
        own_promise: args.completion_promise.is_some(),
        attended: if on_its_own { Interactivity::Yes } else { Interactivity::No },
    };
    let dir = start::prepare(&state, &start)?;
    let ran = if on_its_own {
        detached((args, is_left), &state, &dir, out)
    } else {
        in_foreground(args, &dir, out)
    };
    ran.inspect_err(|_| start::discard(&dir))
}

/// Whether the command runs on a terminal, where the user can interrupt it, or close the terminal and return later.
fn on_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn work(args: &Args) -> Result<ResolvedTask, Failure> {
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
        None => ResolvedTask::find(args.task.path.as_deref(), &arguments)?,
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
    Err(Failure::usage(format_args!(
        "{root} is your home folder or holds it: the agent would work on all of it"
    ))
    .hint("Change to the folder of a project; `--anyway` starts here nevertheless."))
}

fn detached((args, is_left): (&Args, bool), state: &StateDir, dir: &LoopDir, out: &mut Ui) -> ExitResult {
    let pid = keeper::start_detached(state, dir, None)?;
    let id = dir.id();
    if is_left {
        if args.json {
            out.json(&json!({"loopId": id, "pid": pid}));
        } else {
            out.line(format_args!("Loop {id} runs; `loopkeeper watch {id}` shows it."));
        }
        return Ok(Exit::Done);
    }
    let runtime = new_runtime()?;
    let exit = runtime.block_on(async {
        let mut interrupts = CtrlC::listen(state, id)?;
        let show = LoopPrinter::new(LoopFormat::json(args.json), out);
        let watched = WatchedLoop { store: state.clone(), dir: dir.clone() };
        let exit = watched.to_its_end(show, &mut interrupts).await?;
        Ok::<Exit, Failure>(if exit == Exit::Ended && interrupts.was_urgent() {
            Exit::Signalled
        } else {
            exit
        })
    })?;
    if starts_anyway(args, state, dir)? {
        return run(&Args { anyway: true, ..args.clone() }, out);
    }
    Ok(exit)
}

/// Every criterion held already, so nothing could show that the work is done; the user may want to start anyway.
fn starts_anyway(args: &Args, state: &StateDir, dir: &LoopDir) -> Result<bool, Failure> {
    if args.json || !ask::is_interactive() {
        return Ok(false);
    }
    let seen = LoopView::read(state, dir.clone())?;
    Ok(seen.is_some_and(|it| held_already(&it.state)) && ask::confirm("Start it anyway?")?)
}

fn in_foreground(args: &Args, dir: &LoopDir, out: &mut Ui) -> ExitResult {
    foreground::run_to_end(dir, LoopPrinter::new(LoopFormat::json(args.json), out)).map(|(exit, _)| exit)
}
