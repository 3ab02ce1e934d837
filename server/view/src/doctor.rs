//! Turns facts about agents, machine and workspace into the findings of `doctor`, each with a remedy. Pure: the
//! caller collects the facts.

mod agents;
mod capabilities;
mod machine;
mod workspace;

use serde::Serialize;

pub use agents::{AgentFacts, AgentVersion, SelectedAgent, version_in};
pub use capabilities::capabilities;
pub use machine::{MachineFacts, SandboxFacts, SandboxKind, StateFacts};
pub use workspace::{TaskFacts, TasksFacts, WorkspaceFacts};

/// All collected facts.
#[derive(Debug)]
pub struct DoctorFacts {
    pub agents: Vec<AgentFacts>,
    /// The agent or session with which a loop here would start, or why it could not start.
    pub chosen: Result<SelectedAgent, DoctorProblem>,
    pub machine: MachineFacts,
    pub workspace: WorkspaceFacts,
}

/// A problem that another component reported, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorProblem {
    pub what: String,
    pub hint: String,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    pub topic: DoctorTopic,
    pub level: DoctorLevel,
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoctorTopic {
    Agents,
    Machine,
    Workspace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoctorLevel {
    Good,
    /// A fact without a rating.
    Info,
    /// Loops run, with a limitation.
    Note,
    /// Prevents loops from starting.
    Bad,
}

impl DoctorFinding {
    fn new(topic: DoctorTopic, level: DoctorLevel, what: impl Into<String>) -> Self {
        Self { topic, level, what: what.into(), hint: None }
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn from_problem(topic: DoctorTopic, problem: &DoctorProblem) -> Self {
        Self::new(topic, DoctorLevel::Bad, problem.what.clone()).with_hint(problem.hint.clone())
    }
}

/// All findings, by topic.
pub fn examine(facts: &DoctorFacts) -> Vec<DoctorFinding> {
    let mut all = agents::examine_agents(&facts.agents, &facts.chosen);
    all.extend(machine::examine_machine(&facts.machine));
    all.extend(workspace::examine_workspace(&facts.workspace));
    all
}

/// Whether a loop could start.
pub fn can_start(findings: &[DoctorFinding]) -> bool {
    findings.iter().all(|it| it.level != DoctorLevel::Bad)
}
