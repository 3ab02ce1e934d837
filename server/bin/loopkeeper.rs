//! The binary: arguments to subcommand, nothing else.

use std::process::ExitCode;

use loopkeeper_keeper::acp;
use loopkeeper_keeper::hook;
use loopkeeper_keeper::warden;
use loopkeeper_operations::keeper_main;

fn main() -> ExitCode {
    // Where the small programs for these were not installed along: without the command line's machinery.
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == warden::WORD {
        return warden::main(args);
    }
    if word == keeper_main::WORD {
        return keeper_main::main(args);
    }
    if word == acp::WORD {
        return acp::main(args);
    }
    if word == hook::SUBCOMMAND {
        let what = args.next().unwrap_or_default();
        if let Some(event) = hook::AgentHookEvent::from_name(&what) {
            return hook::main(event);
        }
        if what == hook::session::WORD
            && let Some(event) = args.next().as_deref().and_then(hook::session::SessionHookEvent::from_name)
        {
            return hook::session::main(event);
        }
    }
    loopkeeper_cli::main()
}
