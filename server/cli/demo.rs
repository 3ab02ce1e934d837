//! `demo`: a small real project, the built-in agent, one loop from failing to done.

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Make the project in DIR and leave it there, ready to be started again
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) keep: Option<std::path::PathBuf>,
}
