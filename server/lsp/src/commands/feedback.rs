//! `feedback`: records the user's judgement of the moment at which a loop ended.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_core::journal::StopVerdict;
use loopkeeper_text::clauses;
use loopkeeper_text::tr;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{CommandResult, FeedbackArgs};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::feedback;
use loopkeeper_system::state_dir::StateDir;

pub(super) async fn feedback(shared: &Arc<ServerState>, args: FeedbackArgs) -> CommandOutcome {
    if args.verdict == StopVerdict::Other {
        let words = clauses::list(StopVerdict::ALL.map(|it| format!("`{}`", it.word())));
        return Err(CommandRefusal::bad_argument(tr!("`verdict` takes one of {words}", words)));
    }
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = target::find_loop(&store, &roots, &args.loop_id)?;
        feedback::record(&store, &loop_view, args.verdict, args.text.as_deref())?;
        Ok(CommandResult { loop_id: Some(loop_view.dir.id().to_owned()), ..CommandResult::default() })
    })
    .await
}
