//! `run`: starts a loop and shows it until it ends.

use super::select::TaskArg;

#[derive(Debug, clap::Args)]
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
    /// The word inside <promise>…</promise> by which the agent says it is done
    #[arg(long, value_name = "P")]
    pub(crate) completion_promise: Option<String>,
    /// claude, demo, or a name of [agents]
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// End after N iterations
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<String>,
    /// End once the agent reported this cost, in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<String>,
    /// End after this time, as in 45m or 8h
    #[arg(long, value_name = "D")]
    pub(crate) max_duration: Option<String>,
    /// Print what would run, with the effective settings and where each came from; start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Start although everything already holds
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Trust every command that `trust` would show
    #[arg(long)]
    pub(crate) trust: bool,
    /// Return once the loop runs; `watch` shows it
    #[arg(long)]
    pub(crate) detach: bool,
    /// Print journal records as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
}
