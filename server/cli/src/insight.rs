//! `insight`: shows the cost of the verified tasks of many loops, and the results of their iterations.

use loopkeeper_text::tr;
use std::fs;
use std::path::PathBuf;

use clap::ValueHint;

use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use loopkeeper_operations::insight::{self, InsightScope};
use loopkeeper_operations::local_time::LocalZone;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::insight::{html, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders with loops; without any, all loops of this user
    #[arg(value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Only loops that started on this day or later
    #[arg(long, value_name = "DATE", value_parser = start_of_day)]
    pub(crate) since: Option<u64>,
    /// Print the figures as JSON
    #[arg(long, conflicts_with = "html")]
    pub(crate) json: bool,
    /// Write them to a file, as a page without scripts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let store = StateDir::open()?;
    let scope = InsightScope { folders: args.paths.clone(), since: args.since };
    let figures = insight::insight(&store, &scope)?;
    if let Some(path) = &args.html {
        fs::write(path, html(&figures)).map_err(|error| {
            Failure::ended(tr!("cannot write {path}: {error}", path = path.display(), error))
        })?;
        out.line(tr!("Wrote {path}.", path = path.display()));
    } else if args.json {
        out.json(&figures);
    } else {
        out.write(&table(&figures));
    }
    Ok(Exit::Done)
}

/// The beginning of a day in the user's time zone, in milliseconds of wall time.
fn start_of_day(text: &str) -> Result<u64, String> {
    LocalZone::local().start_of_day(text).ok_or_else(|| tr!("a day such as 2026-11-20 is needed").to_owned())
}
