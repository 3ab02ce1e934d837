//! The warden as a program of its own (see `keeper::warden`). One is started for every agent and every check, and
//! a small program starts in half the time. Takes the same arguments as `loopkeeper`: their first is the word. For the
//! same reason agents call this one as their hook, and it talks to those that want to be talked to.

use std::process::ExitCode;

use loopkeeper_keeper::{acp, hook};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == hook::SUBCOMMAND {
        let event = args.next().as_deref().and_then(hook::AgentHookEvent::from_name);
        return event.map_or(ExitCode::from(2), hook::main);
    }
    if word == acp::WORD {
        return acp::main(args);
    }
    loopkeeper_keeper::warden::main(args)
}
