//! `doctor --agent A --probe`: makes a few short calls of an agent in a dedicated folder, and prints a table of its
//! capabilities. Reports the number of calls beforehand, because each costs as much as any other call.

mod call_observation;
mod calls;
mod consent;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_agent::catalog::CATALOG;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{LimitSettings, OverrideSource, SettingOverride};
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::doctor::AgentVersion;
use loopkeeper_view::probe::{
    Observation, OutputFormat, Probe, ProbeReport, ProbeSubject, format_of, judge_calls, recommend,
    render_markdown,
};

use self::calls::{ProbeRun, ProbeRunner, call_timeout};
use super::Args;
use super::facts::{FactContext, block_on};
use super::show;
use crate::exit::Exit;
use crate::failure::{ExitResult, Failure, note};
use crate::out::Ui;
use crate::render::Glyphs;
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::{clock, durable};

pub(super) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let named = |it: &String| SettingOverride {
        option: "--agent".into(),
        key: "agent".into(),
        value: it.clone(),
        source: OverrideSource::Argument,
    };
    let arguments: Vec<SettingOverride> = args.agent.iter().map(named).collect();
    let mut context = FactContext::from_current_dir(&arguments)?;
    if let Some(error) = context.unreadable.take() {
        return Err(error.into());
    }
    context.resolved.settings()?;
    let plan = context.probe_plan()?;
    consent::ensure_trusted(&context, &plan, args)?;
    consent::ensure_calls_left(&context, &plan)?;
    if !consent::confirm_cost(&context, &plan, args.yes)? {
        return Err(
            Failure::usage(tr!("nothing was started")).hint(tr!("`--yes` starts it without being asked."))
        );
    }
    let probe_run = block_on(async { ProbeRunner::new(&context, plan)?.run_all().await })??;
    let Some(ProbeRun { plan, words, calls, starts }) = probe_run else {
        note(tr!("Interrupted without a result. The agent has ended, and its folders are removed."));
        return Ok(Exit::Signalled);
    };
    let rows = judge_calls(&calls, &words);
    let format =
        calls.get(&Probe::Answer).map_or(OutputFormat::Nothing, |it: &Observation| format_of(&it.stdout));
    let subject = probe_subject(&context, &plan, format);
    let report = ProbeReport {
        agent: plan.name.clone(),
        version: version(&context, &plan.name)?,
        command: plan.argv.clone(),
        at: words::rfc3339(clock::now().wall),
        calls: starts,
        recommendation: recommend(&subject, &rows),
        rows,
    };
    let files = write(&context, args.out.as_deref(), &report)?;
    if args.json {
        out.json(&report);
    } else {
        out.write(&show::format_probe(&report, Glyphs::of_environment()));
        let shown = files.map(|it| sanitize::line(&it.to_string_lossy()));
        out.line(
            "\n".to_owned() + &tr!("Written to {report} and {data}", report = shown[0], data = shown[1]),
        );
    }
    Ok(if report.recommendation.drivable { Exit::Done } else { Exit::Ended })
}

fn probe_subject(context: &FactContext, plan: &AgentPlan, format: OutputFormat) -> ProbeSubject {
    let written = context.settings.agents.iter().find(|it| it.name == plan.name);
    let command = written.map(|it| [it.command.clone(), it.args.clone()].concat()).unwrap_or_default();
    let is_known = CATALOG.iter().any(|it| it.name == plan.name);
    let command = if is_known { Vec::new() } else { command };
    let enclosed = matches!(context.domain, Isolation::PidNamespace { .. });
    ProbeSubject { name: plan.name.clone(), command, prompt: plan.prompt, format, enclosed }
}

fn version(context: &FactContext, name: &str) -> Result<Option<String>, Failure> {
    Ok(context.agents(Some(name))?.into_iter().find_map(|it| match it.version {
        AgentVersion::Told(version) => Some(version),
        AgentVersion::Failed(_) | AgentVersion::NotAsked(_) => None,
    }))
}

/// Writes the report as Markdown and JSON, to the given path or else to the state folder.
fn write(context: &FactContext, out: Option<&Path>, report: &ProbeReport) -> Result<[PathBuf; 2], Failure> {
    let base = if let Some(path) = out {
        without_report_extension(path)
    } else {
        let folder = context.state()?.root().join("probes");
        durable::make_folder(&folder)?;
        let stamp: String = report.at.chars().filter(char::is_ascii_digit).take(14).collect();
        folder.join(format!("{}-{stamp}", report.agent))
    };
    let json = serde_json::to_string_pretty(report).map_err(|error| Failure::ended(&error))?;
    Ok([write_file(&base, "md", &render_markdown(report))?, write_file(&base, "json", &(json + "\n"))?])
}

/// `FILE`, also where it was given as `FILE.md` or `FILE.json`.
fn without_report_extension(path: &Path) -> PathBuf {
    match path.extension().and_then(OsStr::to_str) {
        Some("md" | "json") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

fn write_file(base: &Path, ending: &str, text: &str) -> Result<PathBuf, Failure> {
    let mut path = base.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    let path = PathBuf::from(path);
    fs::write(&path, text).map_err(|error| {
        Failure::ended(tr!("cannot write {path}: {error}", path = path.display(), error))
            .hint(tr!("`--out` names a file in a folder that exists."))
    })?;
    Ok(path)
}

/// The message that the user gets before a call is made. `made`: calls of this hour so far; `needed`: those to come.
fn announcement(plan: &AgentPlan, (needed, made): (usize, u32), limits: &LimitSettings) -> String {
    tr!(
        "Probing `{name}` starts it {needed} times (one more where it takes its prompt in another way), each time in a new empty folder and for at most {duration}. Every start is a call of its model and costs what that costs; it \
         counts like those of loops, of which there were {made} in the last hour (`limits.calls_per_hour` is {calls_per_hour}).",
        name = sanitize::line(&plan.name),
        needed,
        duration = words::duration(call_timeout(limits).as_millis() as u64),
        made,
        calls_per_hour = limits.calls_per_hour
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::without_report_extension;

    #[test]
    fn only_the_extensions_of_a_report_are_replaced() {
        let check = |given: &str, expect: &str| {
            assert_eq!(without_report_extension(Path::new(given)), Path::new(expect), "{given}");
        };
        check("out/table", "out/table");
        check("table.md", "table");
        check("table.json", "table");
        check("claude-2.1", "claude-2.1");
        check("claude-2.1.md", "claude-2.1");
    }
}
