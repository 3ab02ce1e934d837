//! The command line: parses arguments, runs one subcommand, converts its result to an exit code.
//!
//! One file per subcommand; the shared modules are [`exit`] (exit codes), [`failure`] (errors on stderr), [`out`]
//! (stdout). Rules about tasks and loops live in the core; this crate only asks, sends and prints.

mod accept;
mod answer;
mod args;
mod ask;
mod check;
mod completions;
mod demo;
mod demo_agent;
mod demo_project;
mod diff;
mod doctor;
mod exit;
mod export;
mod failure;
mod feedback;
mod gc;
mod hook;
mod import;
mod init;
mod insight;
mod log;
mod out;
mod pause;
mod prioritize;
mod queue_document;
mod receipt;
mod render;
mod report;
mod reset;
mod resume;
mod rollback;
mod run;
mod select;
mod serve;
mod show;
mod skip;
mod status;
mod steer;
mod stop;
mod trust;
mod verify;
mod watch;
mod wrong_command;
mod wrong_flag;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::args::{Cli, CliCommand, HiddenCommand, PublicCommand};
use self::exit::Exit;
use self::failure::ExitResult;
use self::out::Ui;
use loopkeeper_keeper::{abort_on_panic, outlive_file_size_limit};
use loopkeeper_operations::process_limits;
use loopkeeper_system::language;

/// The entry point: parses the arguments, runs one subcommand, reports its result.
pub fn main() -> ExitCode {
    match process_limits::require() {
        Ok(()) => main_on_enough_stack(),
        Err(failure) => failure::report(&failure).into(),
    }
}

/// Not inlined: the memory for its variables would be taken before the stack's limit is known.
#[inline(never)]
fn main_on_enough_stack() -> ExitCode {
    // Editors wait for the server: the definitions of all subcommands take a tenth of its start.
    if std::env::args_os().skip(1).eq(["--stdio"]) {
        return serve::run().into();
    }
    language::set_process_language(None);
    let mut out = Ui::stdout();
    let cli = match Cli::try_parse_from(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error, &Cli::command()).into(),
    };
    if cli.starts_server() {
        return serve::run().into();
    }
    abort_on_panic();
    outlive_file_size_limit();
    exit_code(run(cli, &mut out), out)
}

fn exit_code(result: ExitResult, out: Ui) -> ExitCode {
    match result.and_then(|exit| out.finish().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => failure::report(&failure).into(),
    }
}

fn run(cli: Cli, out: &mut Ui) -> ExitResult {
    match cli.word {
        Some(CliCommand::Shown(verb)) => run_public(verb, out),
        Some(CliCommand::Hidden(verb)) => run_hidden(&verb),
        None => Ok(print_usage(out)),
    }
}

fn run_public(verb: PublicCommand, out: &mut Ui) -> ExitResult {
    match verb {
        PublicCommand::Init(args) => init::command(&args, out),
        PublicCommand::Completions(args) => {
            completions::run(&args, args::public_command(), out);
            Ok(Exit::Done)
        }
        PublicCommand::Demo(args) => demo::run(&args, out),
        PublicCommand::Check(args) => check::run(&args, out),
        PublicCommand::Run(args) => run::run(&args, out),
        PublicCommand::Import(args) => import::run(&args, out),
        PublicCommand::Trust(args) => trust::run(&args, out),
        PublicCommand::Status(args) => status::run(&args, out),
        PublicCommand::Log(args) => log::run(&args, out),
        PublicCommand::Watch(args) => watch::run(&args, out),
        PublicCommand::Diff(args) => diff::run(&args, out),
        PublicCommand::Rollback(args) => rollback::run(&args, out),
        PublicCommand::Doctor(args) => doctor::run(&args, out),
        PublicCommand::Hook(args) => hook::run(&args, out),
        PublicCommand::Export(args) => export::run(&args, out),
        PublicCommand::Report(args) => report::run(&args, out),
        PublicCommand::Feedback(args) => feedback::run(&args, out),
        PublicCommand::Insight(args) => insight::run(&args, out),
        PublicCommand::Receipt(args) => receipt::run(&args, out),
        PublicCommand::Verify(args) => verify::run(&args, out),
        PublicCommand::Gc(args) => gc::run(&args, out),
        PublicCommand::Stop(args) => stop::run(&args, out),
        PublicCommand::Pause(args) => pause::run(&args, out),
        PublicCommand::Resume(args) => resume::run(&args, out),
        PublicCommand::Reset(args) => reset::run(&args, out),
        PublicCommand::Skip(args) => skip::run(&args, out),
        PublicCommand::Prioritize(args) => prioritize::run(&args, out),
        PublicCommand::Accept(args) => accept::run(&args, out),
        PublicCommand::Steer(args) => steer::run(&args, out),
        PublicCommand::Answer(args) => answer::run(&args, out),
    }
}

fn run_hidden(verb: &HiddenCommand) -> ExitResult {
    match verb {
        HiddenCommand::DemoAgent(_) => demo_agent::run(),
        // Dispatched before all other subcommands.
        HiddenCommand::Serve(_) => Ok(serve::run()),
    }
}

/// A user at a terminal needs help.
fn print_usage(out: &mut Ui) -> Exit {
    out.line(Cli::command().render_help().ansi());
    Exit::Usage
}
