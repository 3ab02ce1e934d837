//! What TASK and LOOP on the command line stand for.

use clap::ValueHint;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LoopArg {
    /// A loop's id, a unique prefix of it, or `latest`; by default the active one, else the latest
    #[arg(value_name = "LOOP")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TaskArg {
    /// A task document; by default the only one under the root
    #[arg(value_name = "TASK", value_hint = ValueHint::FilePath)]
    pub(crate) path: Option<String>,
}
