//! `answer`: sends the user's answer to the question that a loop asks.

use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_text::{sanitize, tr};
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
    /// The answer to the agent's question; `wait` or `stop` at a usage limit; `allow`, `always` or `deny` for a
    /// request for permission
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    if args.text.trim().is_empty() {
        return Err(
            Failure::usage(tr!("the answer is empty")).hint("`loopkeeper answer latest 'use SQLite'`")
        );
    }
    let found = SelectedLoop::by_name(Some(&args.which))?;
    let (id, name, state) = (found.id(), found.display_name(), &found.loop_view.state);
    let open = state.questions.open.as_ref();
    found.send_request(json!({"do": "answer", "text": args.text, "what": open.map(|it| &it.id)}))?;
    if let Some(request) = open.filter(|it| it.kind == QuestionKind::Permission) {
        let permitted = match args.text.trim().to_lowercase().as_str() {
            "deny" => tr!("Denied"),
            "always" => tr!("Allowed for the whole loop"),
            _ => tr!("Allowed once"),
        };
        out.line(tr!(
            "{answer}: {question}",
            answer = permitted,
            question = sanitize::visible(&request.text)
        ));
        return Ok(Exit::Done);
    }
    let at_limit = open.is_some_and(|it| it.kind == QuestionKind::UsageLimit);
    if at_limit {
        let stops = args.text.trim().eq_ignore_ascii_case("stop");
        out.line(if stops { tr!("Loop {name} stops.", name) } else { tr!("Loop {name} waits.", name) });
    } else if state.pause.as_ref().is_some_and(|it| it.reason != PauseReason::Question) {
        out.line(tr!(
            "The next iteration of loop {name} receives it; `loopkeeper resume {id}` continues the loop.",
            name,
            id
        ));
    } else {
        out.line(tr!("Loop {name} continues; the next prompt contains the answer.", name));
    }
    Ok(Exit::Done)
}
