//! `diff`: what an iteration changed.

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// The iteration whose changes are shown
    #[arg(value_name = "ITERATION")]
    pub(crate) iteration: u32,
}
