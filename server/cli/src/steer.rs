//! `steer`: gives a hint for the next iteration.

use loopkeeper_text::tr;
use loopkeeper_view::{DeferredCommand, effect};
use serde_json::json;

use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::select::SelectedLoop;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest` (of this work tree)
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// The hint, which the prompt of the next iteration contains
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    if args.text.trim().is_empty() {
        return Err(
            Failure::usage(tr!("the hint is empty")).hint("`loopkeeper steer latest 'look at src/auth.rs'`")
        );
    }
    let found = SelectedLoop::by_name(Some(&args.which))?;
    found.send_request(json!({"do": "steer", "text": args.text}))?;
    out.line(effect(
        &found.loop_view.state,
        DeferredCommand::Steer,
        &tr!("Loop {name}", name = found.display_name()),
    ));
    Ok(Exit::Done)
}
