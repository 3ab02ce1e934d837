//! `steer`: a hint for the next iteration.

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// What the agent is told at the start of its next iteration
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}
