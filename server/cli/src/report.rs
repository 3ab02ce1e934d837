//! `report`: writes one page about a loop, for people (HTML, Markdown) and scripts (JSON).

use loopkeeper_text::tr;
use std::fs;
use std::path::PathBuf;

use clap::{ValueEnum, ValueHint};

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::loops;
use loopkeeper_system::durable::replace_file;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::report::{html, markdown, report};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// `html` is written to a file, the others are printed
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    pub(crate) format: ReportFormat,
    /// The file to write; by default an HTML page is written into the loop's folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Html,
    Markdown,
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let store = StateDir::open()?;
    let loop_view = loops::find(&store, args.which.name.as_deref(), failure::warn)?;
    let report = report(&loop_view.state, &loop_view.status());
    let text = match args.format {
        ReportFormat::Html => html(&report),
        ReportFormat::Markdown => markdown(&report),
        ReportFormat::Json => serde_json::to_string(&report).map_err(Failure::ended)? + "\n",
    };
    match &args.to {
        Some(path) => {
            fs::write(path, text).map_err(|error| {
                Failure::ended(tr!("cannot write {path}: {error}", path = path.display(), error))
            })?;
            out.line(tr!("Wrote {path}.", path = path.display()));
        }
        None if args.format == ReportFormat::Html => {
            let path = loop_view.dir.path().join("report.html");
            replace_file(&path, text.as_bytes()).map_err(|error| {
                Failure::ended(tr!("cannot write {path}: {error}", path = path.display(), error))
                    .hint(tr!("`--to FILE` writes it elsewhere."))
            })?;
            out.line(path.display());
        }
        None => out.write(&text),
    }
    Ok(Exit::Done)
}
