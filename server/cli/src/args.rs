//! Defines all subcommands. Help texts are the doc comments here and on each subcommand's own `Args`.

use std::io::IsTerminal;

use clap::{Parser, Subcommand};

use super::select::LoopArg;
use super::{
    answer, check, completions, demo, diff, doctor, export, feedback, gc, hook, import, init, insight, log,
    prioritize, receipt, report, reset, resume, rollback, run, serve, skip, status, steer, stop, trust,
    verify, watch,
};

/// Runs Ralph loops, and verifies their results.
///
/// A Ralph loop hands the same task to an AI coding agent again and again, each time with a fresh context, until
/// the checks that loopkeeper itself runs pass on the final tree.
#[derive(Debug, Parser)]
#[command(name = "loopkeeper", version, args_conflicts_with_subcommands = true)]
#[command(override_usage = "loopkeeper COMMAND …")]
pub(crate) struct Cli {
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
    #[command(subcommand)]
    pub(crate) word: Option<CliCommand>,
}

impl Cli {
    /// Whether an editor starts the language server. A server survives the panic of a handler, so this must be known
    /// before panics abort the process.
    pub(crate) fn starts_server(&self) -> bool {
        match &self.word {
            Some(CliCommand::Hidden(HiddenCommand::Serve(_))) => true,
            Some(_) => false,
            None => self.stdio || !std::io::stdin().is_terminal(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    #[command(flatten)]
    Shown(PublicCommand),
    #[command(flatten)]
    Hidden(HiddenCommand),
}

/// What help and completions list.
#[derive(Debug, Subcommand)]
pub(crate) enum PublicCommand {
    /// Watch one loop from failing to done: a small real project and a built-in agent
    Demo(demo::Args),
    /// Start a loop on a task
    Run(run::Args),
    /// Run a task's checks once; exit 0 when all required ones hold
    Check(check::Args),
    /// Show loops, their state, and this work tree's tasks
    Status(status::Args),
    /// Show what happened in a loop
    Log(log::Args),
    /// Show all loops on one screen; without a terminal, follow one until it ends
    Watch(watch::Args),
    /// Show what a loop or one of its iterations changed
    Diff(diff::Args),
    /// Restore the files as they were after an iteration
    Rollback(rollback::Args),
    /// End a loop after its current iteration
    Stop(stop::Args),
    /// Pause a loop after its current iteration
    Pause(LoopArg),
    /// Continue a paused or interrupted loop
    Resume(resume::Args),
    /// Close a loop's breaker, or give it a fresh agent session
    Reset(reset::Args),
    /// Give the agent a hint for its next iteration
    Steer(steer::Args),
    /// Answer a loop's question
    Answer(answer::Args),
    /// Accept tests, protected files and scripts of checks as the agent weakened them
    Accept(LoopArg),
    /// Skip a plan item, or no longer skip it
    Skip(skip::Args),
    /// Move a plan item BY places earlier among the open items; a negative number moves it later
    Prioritize(prioritize::Args),
    /// Write a first task file with the checks found in the project
    Init(init::Args),
    /// Write a task from a text, or from a loop of Claude Code's plugin, which is cancelled
    Import(import::Args),
    /// Show every command that a task would run, and ask whether to trust them
    Trust(trust::Args),
    /// Check agents, machine and workspace, and name what is missing and how to fix it
    Doctor(doctor::Args),
    /// Install loopkeeper's hooks in Claude Code's settings of this workspace, or remove them
    Hook(hook::Args),
    /// Pack everything about a loop into one archive, without secrets
    Export(export::Args),
    /// Write one page about a loop: criteria over iterations, budget, time, changes
    Report(report::Args),
    /// Say whether a loop ended at the right moment
    Feedback(feedback::Args),
    /// Show what verified tasks cost over all loops, and what iterations bought
    Insight(insight::Args),
    /// Print what a loop verified, for a reviewer: checks, judges, tree, and what the proof does not cover
    Receipt(receipt::Args),
    /// Compare a receipt with this checkout, and run its checks again
    Verify(verify::Args),
    /// Remove old ended loops and their snapshots
    Gc(gc::Args),
    /// Print a shell's completion script
    Completions(completions::Args),
}

/// The internal subcommands, and commands of later versions, which are refused by name.
#[derive(Debug, Subcommand)]
pub(crate) enum HiddenCommand {
    #[command(hide = true, name = "demo-agent")]
    DemoAgent(RawArgs),
    #[command(hide = true)]
    Serve(serve::Args),
}

/// Whatever follows, unread.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct RawArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) words: Vec<std::ffi::OsString>,
}

/// The command line without hidden subcommands, as help and completions show it.
pub(crate) fn public_command() -> clap::Command {
    let command = clap::Command::new("loopkeeper").version(env!("CARGO_PKG_VERSION"));
    PublicCommand::augment_subcommands(command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definitions_of_subcommands_are_consistent() {
        super::Cli::command().debug_assert();
        super::public_command().debug_assert();
    }
}
