//! `rollback`: the files as they were after an iteration.

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// `7` is the tree after iteration 7, `0` the start
    #[arg(value_name = "ITERATION")]
    pub(crate) iteration: u32,
}
