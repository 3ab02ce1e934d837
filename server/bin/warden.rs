//! Entry point of the warden as a separate program (see `keeper::warden`), because a small program starts in half the time
//! and one is started for every agent and every check. Takes the same arguments as `loopkeeper`: the first one selects the
//! subcommand. For the same reason agents call it as their hook, and it is the bridge to agents of the Agent Client
//! Protocol.

use std::process::ExitCode;

use loopkeeper_keeper::{acp, hook};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == hook::SUBCOMMAND {
        let event = args.next().as_deref().and_then(hook::AgentHookEvent::from_name);
        return event.map_or(ExitCode::from(2), hook::main);
    }
    if word == acp::SUBCOMMAND {
        return acp::main(args);
    }
    loopkeeper_keeper::warden::main(args)
}
