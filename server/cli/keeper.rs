//! `keeper`: the process that owns one loop. Started by `run`, `resume` and `stop`, not by people.

use std::ffi::OsString;
use std::path::PathBuf;

use loopkeeper_core::decide::Order;
use tokio::task::LocalSet;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::out::Out;
use crate::adapters::state_dir::StateDir;
use crate::keeper::launch;

const WORD: &str = "keeper";

#[derive(Debug, clap::Args)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Args {
    /// Start it in a session of its own, print its pid and return
    #[arg(long)]
    pub(crate) detach: bool,
    /// An order to follow first
    #[arg(long, value_name = "ORDER")]
    pub(crate) then: Option<String>,
    /// The loop's folder
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

impl Args {
    /// The words with which a keeper is started apart, read without the command line's machinery: what that touches
    /// would stay in memory as long as the loop lasts. Everything else is for the machinery.
    pub(crate) fn of_detached(words: &[OsString]) -> Option<Self> {
        let (then, dir) = match words {
            [word, dir] if word == WORD => (None, dir),
            [word, option, order, dir] if word == WORD && option == "--then" => {
                (Some(order.to_str()?.to_owned()), dir)
            }
            _ => return None,
        };
        let dir = PathBuf::from(dir);
        dir.is_absolute().then_some(Self { detach: false, then, dir })
    }
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let (_, _, dir) = StateDir::of_loop(&args.dir)?;
    if args.detach {
        out.line(launch::detach(&dir, args.then.as_deref())?);
        return Ok(Exit::Done);
    }
    let order = match args.then.as_deref() {
        None => None,
        Some("stop") => Some(Order::StopNow),
        Some("resume") => Some(Order::Resume),
        Some(other) => return Err(Failure::usage(format_args!("`{other}` is no order for a keeper"))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, launch::keep(&dir, Box::new(|_| {}), order))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Args;
    use crate::cli::args::{Cli, Hidden, Word};

    #[test]
    fn words_are_read_as_the_command_line_reads_them() {
        let check = |line: &str, expect: bool| {
            let words: Vec<_> = line.split(' ').map(Into::into).collect();
            let quick = Args::of_detached(&words);
            assert_eq!(quick.is_some(), expect, "{line}");
            let Some(quick) = quick else { return };
            let cli = Cli::try_parse_from(["loopkeeper"].into_iter().chain(line.split(' '))).unwrap();
            let Some(Word::Hidden(Hidden::Keeper(full))) = cli.word else { panic!("{line}") };
            assert_eq!(quick, full);
        };
        check("keeper /state/loops/x", true);
        check("keeper --then resume /state/loops/x", true);
        check("keeper --detach /state/loops/x", false);
        check("keeper --then=stop --detach /state/loops/x", false);
        check("keeper x", false);
        check("keeper", false);
        check("keeper --help", false);
        check("status --json", false);
    }
}
