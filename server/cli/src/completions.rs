//! `completions`: prints a shell's completion script, generated from the argument definitions.

use super::args;
use super::out::Ui;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell that should complete `loopkeeper`
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, out: &mut Ui) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::public_command(), "loopkeeper", &mut script);
    out.write(&String::from_utf8_lossy(&script));
}
