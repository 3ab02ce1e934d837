//! `doctor`: checks whether agents, machine and workspace meet the requirements of loops, and suggests remedies. Starts
//! programs found outside the work tree to query their versions, and no program of the workspace.

mod facts;
mod probe;
mod show;

use loopkeeper_text::tr;
use std::collections::BTreeMap;
use std::path::PathBuf;

use loopkeeper_view::doctor::{AgentFacts, DoctorFinding, can_start, capabilities, examine};
use serde::Serialize;

use self::facts::FactContext;
use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::render::Glyphs;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(crate) struct Args {
    /// Only this agent: claude, a name of `[agents]`; with --probe also the path of a program
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// Find out what the agent can do, with a few short calls
    #[arg(long, requires = "agent")]
    pub(crate) probe: bool,
    /// With --probe, make the calls without asking
    #[arg(long, requires = "probe")]
    pub(crate) yes: bool,
    /// With --probe, trust this workspace's settings of the agent
    #[arg(long, requires = "probe")]
    pub(crate) trust: bool,
    /// With --probe, write the table to FILE.md and FILE.json
    #[arg(long, value_name = "FILE", requires = "probe")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct DoctorReport<'a> {
    well: bool,
    agents: &'a [AgentFacts],
    findings: &'a [DoctorFinding],
}

/// The output of `--json` for one agent.
#[derive(Debug, Serialize)]
struct AgentReport<'a> {
    #[serde(flatten)]
    agent: &'a AgentFacts,
    capabilities: BTreeMap<&'static str, String>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    if args.probe {
        return probe::run(args, out);
    }
    let context = FactContext::from_current_dir(&[])?;
    match &args.agent {
        Some(name) => report_agent(&context, name, args.json, out),
        None => report_all(&context, args.json, out),
    }
}

fn report_all(context: &FactContext, json: bool, out: &mut Ui) -> ExitResult {
    let facts = context.facts()?;
    let findings = examine(&facts);
    let well = can_start(&findings);
    if json {
        out.json(&DoctorReport { well, agents: &facts.agents, findings: &findings });
    } else {
        out.write(&show::findings(&findings, Glyphs::of_environment()));
    }
    Ok(if well { Exit::Done } else { Exit::Ended })
}

/// Exit 0 if the agent is installed.
fn report_agent(context: &FactContext, name: &str, json: bool, out: &mut Ui) -> ExitResult {
    let agents = context.agents(Some(name))?;
    let [agent] = agents.as_slice() else {
        return Err(Failure::usage(tr!("there is no agent `{name}`", name))
            .hint(tr!("`loopkeeper doctor` lists those that are known; `[agents.NAME]` adds your own.")));
    };
    let can = context.kind(name).capabilities();
    let can = capabilities(&if agent.hooks_disabled_in.is_some() { can.without_hooks() } else { can });
    if json {
        out.json(&AgentReport { agent, capabilities: can.into_iter().collect() });
    } else {
        out.write(&show::agent(agent, &can));
    }
    Ok(if agent.program.is_some() { Exit::Done } else { Exit::Ended })
}
