//! `gc`: removes old ended loops and their snapshots.

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Say what would be removed, remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
