//! The command line: arguments to one subcommand, its result to an exit code.
//!
//! One file per subcommand; the shared ones are [`exit`] (exit codes), [`failure`] (what stderr says),
//! [`out`] (stdout). Rules about tasks and loops live in the core; here is only asking, sending and showing.

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
mod gc;
mod hook;
mod import;
mod init;
mod log;
mod out;
mod pause;
mod prioritize;
mod render;
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
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::args::{Cli, Hidden, Verb, Word};
use self::exit::Exit;
use self::failure::{Answer, Failure};
use self::out::Out;
use crate::keeper::end_with_any_panic;

/// What `main` does: reads the arguments, runs one subcommand, says how it went.
pub fn main() -> ExitCode {
    let mut out = Out::stdout();
    let cli = match Cli::try_parse_from(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error).into(),
    };
    if serve::is_asked_for(&cli) {
        return serve::run().into();
    }
    end_with_any_panic();
    end(run(cli, &mut out), out)
}

fn end(answer: Answer, out: Out) -> ExitCode {
    match answer.and_then(|exit| out.finish().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => failure::report(&failure).into(),
    }
}

fn run(cli: Cli, out: &mut Out) -> Answer {
    match cli.word {
        Some(Word::Shown(verb)) => shown(verb, out),
        Some(Word::Hidden(verb)) => hidden(&verb),
        None => Ok(bare(out)),
    }
}

fn shown(verb: Verb, out: &mut Out) -> Answer {
    match verb {
        Verb::Init => init::command(out),
        Verb::Completions(args) => {
            completions::run(&args, out);
            Ok(Exit::Done)
        }
        Verb::Demo(args) => demo::run(&args, out),
        Verb::Check(args) => check::run(&args, out),
        Verb::Run(args) => run::run(&args, out),
        Verb::Import(args) => import::run(&args, out),
        Verb::Trust(args) => trust::run(&args, out),
        Verb::Status(args) => status::run(&args, out),
        Verb::Log(args) => log::run(&args, out),
        Verb::Watch(args) => watch::run(&args, out),
        Verb::Diff(args) => diff::run(&args, out),
        Verb::Rollback(args) => rollback::run(&args, out),
        Verb::Doctor(args) => doctor::run(&args, out),
        Verb::Hook(args) => hook::run(&args, out),
        Verb::Export(args) => export::run(&args, out),
        Verb::Gc(args) => gc::run(&args, out),
        Verb::Stop(args) => stop::run(&args, out),
        Verb::Pause(args) => pause::run(&args, out),
        Verb::Resume(args) => resume::run(&args, out),
        Verb::Reset(args) => reset::run(&args, out),
        Verb::Skip(args) => skip::run(&args, out),
        Verb::Prioritize(args) => prioritize::run(&args, out),
        Verb::Accept(args) => accept::run(&args, out),
        Verb::Steer(args) => steer::run(&args, out),
        Verb::Answer(args) => answer::run(&args, out),
    }
}

fn hidden(verb: &Hidden) -> Answer {
    match verb {
        Hidden::DemoAgent(_) => demo_agent::run(),
        // Dispatched before everything else.
        Hidden::Serve(_) => Ok(serve::run()),
        Hidden::Report(_) => Err(Failure::unsupported("`report`")),
    }
}

/// A person at a terminal wants help.
fn bare(out: &mut Out) -> Exit {
    out.line(Cli::command().render_help().ansi());
    Exit::Usage
}
