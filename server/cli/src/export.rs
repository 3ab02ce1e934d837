//! `export`: packs everything of a loop into one archive, without secrets.

use loopkeeper_text::tr;
use std::path::PathBuf;

use clap::ValueHint;

use super::exit::Exit;
use super::failure::{self, ExitResult};
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::{export, loops};
use loopkeeper_system::state_dir::StateDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// The file to write; by default `ralph-<loop>.tar.gz` in this folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let store = StateDir::open()?;
    // A lookup by name also finds a loop whose journal cannot be read.
    let named = args.which.name.as_deref().filter(|it| *it != "latest");
    let dir = match named.map(|it| store.find(it)) {
        Some(Ok(dir)) => dir,
        _ => loops::find(&store, args.which.name.as_deref(), failure::warn)?.dir,
    };
    let to = args.to.clone().unwrap_or_else(|| PathBuf::from(export::name(dir.id())));
    let done = export::export(&store, &dir, &to)?;
    out.line(tr!(
        "Exported loop {id} to {to}: {files} files.",
        id = dir.id(),
        to = to.display(),
        files = done.files
    ));
    out.line(tr!("Redacted: {counts}.", counts = export::describe_redactions(done.found)));
    out.line(tr!("Only what looks like a secret is recognised: check the archive before you share it."));
    Ok(Exit::Done)
}
