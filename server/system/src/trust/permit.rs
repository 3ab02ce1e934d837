//! Creates the proof that something may run, which is required to start a program. Only this file does; it reads the
//! grants on every query, so that a revocation takes effect immediately.

use std::path::{Path, PathBuf};

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{ConfigOrigin, HookCommand, LoopEvent, ServiceSettings};
use loopkeeper_core::trust::{TrustItem, TrustSubject};
use loopkeeper_text::tr;

use super::TrustStore;
use crate::state_dir::StateDir;

/// A value that may run, exactly as it was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedInput<T>(T);

impl<T> ApprovedInput<T> {
    /// The user typed it as an argument, which counts as approval.
    pub fn from_user_input(value: T) -> Self {
        Self(value)
    }

    /// A command built by loopkeeper itself, with no content of the workspace.
    pub fn internal(value: T) -> Self {
        Self(value)
    }

    pub fn value(&self) -> &T {
        &self.0
    }

    /// Transforms the value by fixed rules: a shell around a command, values in placeholders that were shown.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> ApprovedInput<U> {
        ApprovedInput(make(self.0))
    }

    pub fn try_map<U, E>(self, make: impl FnOnce(T) -> Result<U, E>) -> Result<ApprovedInput<U>, E> {
        make(self.0).map(ApprovedInput)
    }
}

/// Decides what may run in one root.
#[derive(Debug, Clone)]
pub struct Permit {
    state: StateDir,
    root: PathBuf,
    checks: CheckOrigin,
}

/// Origin of a task's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOrigin {
    Typed,
    /// In documents of the workspace.
    Written,
}

/// The item is not approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermitError {
    #[error("{}", tr!("not trusted: read it with `loopkeeper trust`"))]
    Unknown,
    /// The list of trusted items cannot be read; the reason, as text.
    #[error("{0}")]
    Unreadable(String),
}

impl Permit {
    /// `root` is the real path.
    pub fn new(state: &StateDir, root: &Path, checks: CheckOrigin) -> Self {
        Self { state: state.clone(), root: root.to_owned(), checks }
    }

    pub fn agent(&self, plan: &AgentPlan) -> Result<ApprovedInput<AgentPlan>, PermitError> {
        self.require_trust(TrustItem::from_agent(plan)).map(|()| ApprovedInput(plan.clone()))
    }

    pub fn check(&self, command: &str) -> Result<ApprovedInput<String>, PermitError> {
        let approved = ApprovedInput(command.to_owned());
        match self.checks {
            CheckOrigin::Typed => Ok(approved),
            CheckOrigin::Written => self
                .require_trust(TrustItem::new(TrustSubject::Check { command: command.to_owned() }))
                .map(|()| approved),
        }
    }

    /// A command of `[on]`; commands in the user's own file are approved.
    pub fn hook(&self, on: LoopEvent, hook: &HookCommand) -> Result<ApprovedInput<Vec<String>>, PermitError> {
        let approved = ApprovedInput(hook.argv.clone());
        match hook.author {
            ConfigOrigin::User => Ok(approved),
            ConfigOrigin::Tree => self.require_trust(TrustItem::from_hook(on, hook)).map(|()| approved),
        }
    }

    /// A request of a check.
    pub fn request(&self, url: &str) -> Result<ApprovedInput<String>, PermitError> {
        let approved = ApprovedInput(url.to_owned());
        match self.checks {
            CheckOrigin::Typed => Ok(approved),
            CheckOrigin::Written => self
                .require_trust(TrustItem::new(TrustSubject::Request { url: url.to_owned() }))
                .map(|()| approved),
        }
    }

    /// A server that requests need; servers in the user's own file are approved.
    pub fn service(&self, service: &ServiceSettings) -> Result<ApprovedInput<ServiceSettings>, PermitError> {
        let approved = ApprovedInput(service.clone());
        match service.author {
            ConfigOrigin::User => Ok(approved),
            ConfigOrigin::Tree => self.require_trust(TrustItem::from_service(service)).map(|()| approved),
        }
    }

    fn require_trust(&self, item: TrustItem) -> Result<(), PermitError> {
        let store = TrustStore::open(&self.state);
        if store.untrusted_items(&self.root, &[item]).is_empty() {
            return Ok(());
        }
        Err(store.load_error().map_or(PermitError::Unknown, |it| PermitError::Unreadable(it.to_string())))
    }
}
