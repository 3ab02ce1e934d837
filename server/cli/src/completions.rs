//! `completions`: prints a shell's completion script, generated from the argument definitions.

use super::out::Ui;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script for `command`.
pub(crate) fn run(args: &Args, mut command: clap::Command, out: &mut Ui) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "loopkeeper", &mut script);
    out.write(&String::from_utf8_lossy(&script));
}
