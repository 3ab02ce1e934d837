//! `reset`: closes a loop's breaker, or gives it a fresh agent session.

use loopkeeper_core::decide::breaker;
use loopkeeper_core::journal::PauseReason;
use loopkeeper_text::tr;
use serde_json::json;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to reset
    #[arg(value_enum)]
    pub(crate) what: ResetSubject,
    #[command(flatten)]
    pub(crate) which: LoopArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ResetSubject {
    /// Try again after the breaker opened
    Breaker,
    /// Forget the agent's session: the next iteration starts with a fresh context
    Session,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = args.which.find()?;
    let (id, name, state) = (found.id(), found.display_name(), &found.loop_view.state);
    if args.what == ResetSubject::Session && !state.spec.settings.session.resume {
        // There is no session to forget: in this mode no iteration resumes the session of another.
        out.line(tr!(
            "Every iteration of loop {name} starts a fresh session; there is nothing to reset.",
            name
        ));
        return Ok(Exit::Done);
    }
    if args.what == ResetSubject::Session {
        found.send_request(json!({"do": "reset", "what": "session"}))?;
        out.line(tr!("The next iteration of loop {name} begins a fresh session.", name));
        return Ok(Exit::Done);
    }
    found.send_request(json!({"do": "reset", "what": "breaker"}))?;
    let then = match state.pause.as_ref().map(|it| it.reason) {
        None if breaker::cooldown_end(state).is_none() => String::new(),
        None | Some(PauseReason::Breaker) => tr!("; the loop continues").to_owned(),
        Some(_) => tr!("; it stays paused, `loopkeeper resume {id}` continues it", id),
    };
    out.line(tr!("The breaker of loop {name} is closed{then}.", name, then));
    Ok(Exit::Done)
}
