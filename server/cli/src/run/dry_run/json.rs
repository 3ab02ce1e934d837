//! `run --dry-run --json`: prints the same plan as one JSON object.

use loopkeeper_agent::LoopMode;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::prompt;
use loopkeeper_core::settings::preset::PresetSelection;
use loopkeeper_core::settings::{LimitSettings, Settings};
use loopkeeper_core::trust::TrustPageItem;
use loopkeeper_task::PlanItem;
use loopkeeper_view::{self as view, CriteriaStatus};
use serde::Serialize;

use super::{DryRun, DryRunPreview, SettingRow};
use crate::out::Ui;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::{self as operations, start};
use loopkeeper_system::git::branch::BranchStep;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DryRunReport<'a> {
    task: &'a str,
    title: String,
    root: String,
    /// The task's text as the agent receives it.
    prompt: &'a str,
    mode: LoopMode,
    agent: DryRunAgent<'a>,
    #[serde(rename = "others")]
    fallbacks: Vec<DryRunAgent<'a>>,
    judge: Option<DryRunAgent<'a>>,
    notes: Vec<String>,
    preset: &'a PresetSelection,
    /// Absent: the loop works on the current branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<DryRunBranch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<DryRunPlan>,
    criteria: CriteriaStatus,
    limits: &'a LimitSettings,
    settings: &'a [SettingRow],
    commands: Vec<TrustPageItem>,
    not_trusted: usize,
}

/// An agent as it would be started. The values of its environment may be secrets and are omitted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DryRunAgent<'a> {
    name: &'a str,
    argv: &'a [String],
    permissions: loopkeeper_agent::PermissionMode,
}

impl<'a> From<&'a AgentPlan> for DryRunAgent<'a> {
    fn from(plan: &'a AgentPlan) -> Self {
        Self { name: &plan.name, argv: &plan.argv, permissions: plan.permissions }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DryRunBranch {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// `no-repository`, `checked-out`, `make`, `check-out`, or `error` with its message.
    step: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DryRunPlan {
    done: usize,
    total: usize,
    open: Vec<PlanItem>,
}

pub(super) fn show(plan: &DryRun<'_>, preview: &DryRunPreview, out: &mut Ui) {
    let DryRun { work, roster, items, .. } = plan;
    let page = operations::trust::page(&work.root, items, &preview.unknown);
    let settings: &Settings = &preview.settings;
    out.json(&DryRunReport {
        task: &work.id.0,
        title: work.title(),
        root: work.root.to_string_lossy().into_owned(),
        prompt: &work.task.prompt,
        mode: settings.mode,
        agent: (&roster.agent).into(),
        fallbacks: roster.fallbacks.iter().map(Into::into).collect(),
        judge: roster.judge.as_ref().map(Into::into),
        notes: roster.missing_capabilities(work.settings.mode),
        preset: &preview.preset,
        branch: branch(work),
        plan: plan_status(&work.task.plan),
        criteria: view::criteria_without_loop(&work.task.criteria, &[]),
        limits: &settings.limits,
        settings: &preview.rows,
        commands: page.commands,
        not_trusted: preview.unknown.len(),
    });
}

fn branch(work: &ResolvedTask) -> Option<DryRunBranch> {
    let (name, step) = match start::planned_branch(work) {
        Ok(found) => found?,
        Err(failure) => {
            return Some(DryRunBranch { name: None, step: "error", message: Some(failure.to_string()) });
        }
    };
    let step = match step {
        BranchStep::Nothing => "no-repository",
        BranchStep::CheckedOut => "checked-out",
        BranchStep::Make => "make",
        BranchStep::CheckOut => "check-out",
    };
    Some(DryRunBranch { name: Some(name), step, message: None })
}

fn plan_status(plan: &[PlanItem]) -> Option<DryRunPlan> {
    let open: Vec<PlanItem> = prompt::open_items(plan).into_iter().cloned().collect();
    (!plan.is_empty()).then(|| DryRunPlan { done: plan.len() - open.len(), total: plan.len(), open })
}
