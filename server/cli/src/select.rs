//! Resolves TASK and LOOP of the command line.

use clap::ValueHint;
use loopkeeper_text::tr;
use serde_json::Value;

use super::failure::{self, Failure};
use loopkeeper_operations::control_client;
use loopkeeper_operations::current_tree::CurrentTree;
use loopkeeper_operations::loops::{self, LoopView};
use loopkeeper_system::state_dir::StateDir;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LoopArg {
    /// A loop's id, a unique prefix of it, or `latest`; by default the active one of this work tree, else its latest
    #[arg(value_name = "LOOP")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TaskArg {
    /// A task document; by default the only one under the root, or that of the nearest folder
    #[arg(value_name = "TASK", value_hint = ValueHint::FilePath)]
    pub(crate) path: Option<String>,
}

/// Iteration numbers begin at 1.
pub(crate) fn iteration(typed: &str) -> Result<u32, &'static str> {
    typed.parse().ok().filter(|it| *it > 0).ok_or(tr!("not an iteration number: 1, 2, 3 …"))
}

/// An iteration number, or `0` for the state before the first.
pub(crate) fn iteration_or_start(typed: &str) -> Result<u32, &'static str> {
    typed.parse().map_err(|_| tr!("not an iteration number: 1, 2, 3 …, or 0 for the start"))
}

/// The selected loop, and its state folder.
pub(crate) struct SelectedLoop {
    pub(crate) store: StateDir,
    pub(crate) loop_view: LoopView,
}

impl SelectedLoop {
    pub(crate) fn by_name(name: Option<&str>) -> Result<Self, Failure> {
        let store = StateDir::open()?;
        let loop_view = loops::find(&store, name, failure::warn)?;
        Ok(Self { store, loop_view })
    }

    pub(crate) fn id(&self) -> &str {
        self.loop_view.dir.id()
    }

    /// Its id for a confirmation, with its folder if that is not the user's current work tree.
    pub(crate) fn display_name(&self) -> String {
        self.other_folder()
            .map_or_else(|| self.id().to_owned(), |it| tr!("{id} in {folder}", id = self.id(), folder = it))
    }

    /// Its folder, if that is not the user's current work tree.
    pub(crate) fn other_folder(&self) -> Option<String> {
        (!self.loop_view.works_in(CurrentTree::find().as_ref())).then(|| self.loop_view.folder())
    }

    /// Sends a command to its keeper; fails if the loop has none.
    pub(crate) fn send_request(&self, request: Value) -> Result<(), Failure> {
        if !self.loop_view.is_alive() {
            return Err(control_client::no_keeper_error(&self.loop_view));
        }
        control_client::send(&self.store, self.id(), request)
    }
}

impl LoopArg {
    pub(crate) fn find(&self) -> Result<SelectedLoop, Failure> {
        SelectedLoop::by_name(self.name.as_deref())
    }
}
