//! `feedback`: records the user's judgement of the moment at which a loop ended.

use loopkeeper_core::journal::StopVerdict;
use loopkeeper_operations::feedback;
use loopkeeper_text::tr;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::SelectedLoop;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of an ended loop, a unique prefix of it, or `latest` (of this work tree)
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// When the loop ended
    #[arg(value_enum)]
    pub(crate) verdict: VerdictArg,
    /// Why, in a few words
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum VerdictArg {
    /// Something was still missing
    #[value(name = "tooEarly", alias = "too-early")]
    TooEarly,
    /// The work was done, or nothing more was to be expected
    Right,
    /// Iterations or money were wasted
    #[value(name = "tooLate", alias = "too-late")]
    TooLate,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = SelectedLoop::by_name(Some(&args.which))?;
    let verdict = match args.verdict {
        VerdictArg::TooEarly => StopVerdict::TooEarly,
        VerdictArg::Right => StopVerdict::Right,
        VerdictArg::TooLate => StopVerdict::TooLate,
    };
    feedback::record(&found.store, &found.loop_view, verdict, args.text.as_deref())?;
    let name = found.display_name();
    out.line(tr!(
        "Recorded: loop {name} stopped {phrase}. `loopkeeper insight` adds it up.",
        name,
        phrase = verdict.phrase()
    ));
    Ok(Exit::Done)
}
