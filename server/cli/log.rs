//! `log`: what happened in a loop, one line a record; `--json` prints the journal itself.

use super::exit::Exit;
use super::failure::{self, Answer};
use super::out::Out;
use super::render::Glyphs;
use super::render::entry::{Detail, Teller};
use super::select::LoopArg;
use crate::adapters::journal_file;
use crate::adapters::state_dir::StateDir;
use crate::front::follow::Following;
use crate::front::loops;
use crate::front::zone::Zone;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Print the journal's records as they are, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let seen = loops::find(&StateDir::open()?, args.which.name.as_deref(), failure::warn)?;
    let journal = seen.dir.journal();
    if args.json {
        out.write(&String::from_utf8_lossy(&journal_file::lines(&journal)?));
        return Ok(Exit::Done);
    }
    let mut teller = Teller::new(Zone::local(), Glyphs::of_environment());
    for entry in Following::new(&journal).look()? {
        for line in teller.tell(&entry, Detail::Everything) {
            out.line(line);
        }
    }
    if seen.damage.is_some() {
        out.line("From here on the journal is damaged; nothing of it was changed.");
    }
    Ok(Exit::Done)
}
