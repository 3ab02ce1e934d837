//! The binary: arguments to subcommand, nothing else.

use std::process::ExitCode;

use loopkeeper::acp;
use loopkeeper::front::keeping;
use loopkeeper::hook;
use loopkeeper::keeper::domain;

fn main() -> ExitCode {
    // Where the small programs for these were not installed along: without the command line's machinery.
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == domain::WORD {
        return domain::main(args);
    }
    if word == keeping::WORD {
        return keeping::main(args);
    }
    if word == acp::WORD {
        return acp::main(args);
    }
    if word == hook::WORD {
        let what = args.next().unwrap_or_default();
        if let Some(event) = hook::Event::named(&what) {
            return hook::main(event);
        }
        if what == hook::session::WORD
            && let Some(event) = args.next().as_deref().and_then(hook::session::Event::named)
        {
            return hook::session::main(event);
        }
    }
    loopkeeper::cli::main()
}
