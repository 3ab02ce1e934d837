//! Entry point of the whole program: selects the function of a subcommand.

use std::process::ExitCode;

use loopkeeper_keeper::acp;
use loopkeeper_keeper::hook;
use loopkeeper_keeper::warden;
use loopkeeper_operations::keeper_main;

fn main() -> ExitCode {
    // Subcommands of the small programs, in case those are not installed. They skip the set-up of the command line.
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == warden::SUBCOMMAND {
        return warden::main(args);
    }
    if word == keeper_main::SUBCOMMAND {
        return keeper_main::main(args);
    }
    if word == acp::SUBCOMMAND {
        return acp::main(args);
    }
    if word == hook::SUBCOMMAND {
        let event_name = args.next().unwrap_or_default();
        if let Some(event) = hook::AgentHookEvent::from_name(&event_name) {
            return hook::main(event);
        }
        if event_name == hook::session::SUBCOMMAND
            && let Some(event) = args.next().as_deref().and_then(hook::session::SessionHookEvent::from_name)
        {
            return hook::session::main(event);
        }
    }
    loopkeeper_cli::main()
}
