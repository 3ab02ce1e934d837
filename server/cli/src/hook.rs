//! `hook`: configures whether Claude Code calls loopkeeper in this workspace, in a session that its user opened.

use clap::Subcommand;
use loopkeeper_agent::claude::hook_install::FILE;
use loopkeeper_text::tr;

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use loopkeeper_operations::installed::{ClaudeSettingsFile, InstallOutcome};
use loopkeeper_system::config_files;
use loopkeeper_system::state_dir::StateDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: HookAction,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum HookAction {
    /// Make Claude Code in this workspace call loopkeeper when a turn ends (.claude/settings.local.json)
    Install,
    /// Remove the hooks and leave the rest of the file as it is
    Remove,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let root = config_files::root_of(std::path::Path::new("."))?;
    let state = StateDir::open()?;
    let settings = ClaudeSettingsFile::of(&state, &root)?;
    match args.what {
        HookAction::Install => install(&settings, out)?,
        HookAction::Remove => match settings.remove()? {
            InstallOutcome::Changed => out.line(tr!(
                "Removed the hooks from {FILE}: Claude Code no longer asks loopkeeper here.",
                FILE
            )),
            InstallOutcome::Nothing => out.line(tr!("{FILE} holds no hook of loopkeeper.", FILE)),
        },
    }
    Ok(Exit::Done)
}

fn install(settings: &ClaudeSettingsFile<'_>, out: &mut Ui) -> Result<(), Failure> {
    match settings.install(&program()?)? {
        InstallOutcome::Changed => {
            out.line(tr!(
                "Installed in {FILE}: Claude Code asks loopkeeper here whether its turn may end.",
                FILE
            ));
            out.line(tr!("Restart sessions that are already open."));
        }
        InstallOutcome::Nothing => out.line(tr!("The hooks are already in {FILE}.", FILE)),
    }
    out.line(tr!("Without a loop the hooks do nothing: `loopkeeper run --attach` starts one."));
    out.line(tr!("`loopkeeper hook remove` removes them."));
    if settings.is_seen_by_git() {
        failure::warn(tr!("git does not ignore {FILE}: add it to .gitignore", FILE));
    }
    Ok(())
}

/// The path of this program, for use in hooks.
fn program() -> Result<String, Failure> {
    let path = std::env::current_exe()?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(tr!("the path {path} of this program is not UTF-8", path = path.display()))
            .hint(tr!("Move it: a settings file could not name it."))
    })
}
