//! Selects the agents and the judge of a task, with their command lines. Starts nothing.

use std::collections::VecDeque;

use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_agent::{LoopMode, PermissionMode, PromptBy};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::AgentSettings;
use loopkeeper_text::tr;

use super::failure::Failure;
use super::resolved_task::ResolvedTask;
use loopkeeper_system::agents;
use loopkeeper_system::env::{EnvAudience, scrubbed_env};

/// The agents of a loop.
#[derive(Debug)]
pub struct AgentSelection {
    pub agent: AgentPlan,
    /// The agents that take over from it, in this order.
    pub fallbacks: Vec<AgentPlan>,
    /// Why agents of the list are not among them.
    pub left_out: Vec<Failure>,
    /// Present only if a criterion needs a judge.
    pub judge: Option<AgentPlan>,
    /// The place where the agent's hooks are disabled.
    pub hooks_disabled_in: Option<String>,
    /// What its safe mode cannot enforce if commits are left to it.
    commit_limits: Option<&'static str>,
    /// The agent is a session that the user opened, so none is started.
    is_attached: bool,
}

impl AgentSelection {
    pub fn resolve(work: &ResolvedTask) -> Result<Self, Failure> {
        let settings = &work.settings;
        if settings.mode != LoopMode::Loop && !settings.fallbacks.is_empty() {
            let mode = if settings.mode == LoopMode::Hook { "hook" } else { "attach" };
            return Err(Failure::usage(tr!(
                "`mode = \"{mode}\"` holds one session of one agent: `agent` is a list",
                mode
            ))
            .hint(tr!("Name one agent, or use `mode = \"loop\"`.")));
        }
        if settings.mode == LoopMode::Attach {
            let (agent, judge) = (attached_plan(&settings.agent)?, judge_plan(work)?);
            let hooks_disabled_in = hooks_disabled_in(&agent, work);
            ensure_attachable(hooks_disabled_in.as_deref())?;
            return Ok(Self {
                agent,
                fallbacks: Vec::new(),
                left_out: Vec::new(),
                judge,
                hooks_disabled_in,
                commit_limits: None,
                is_attached: true,
            });
        }
        let (mut plans, mut left_out) = (VecDeque::new(), Vec::new());
        for name in settings.agent_names() {
            match plan_agent(work, name, &settings.agents) {
                Ok(plan) => plans.push_back(plan),
                Err(missing) => left_out.push(missing),
            }
        }
        match plans.pop_front() {
            Some(agent) => {
                let hooks_disabled_in = hooks_disabled_in(&agent, work);
                if settings.mode == LoopMode::Hook {
                    ensure_holdable(&agent, hooks_disabled_in.as_deref())?;
                }
                let commit_limits = agents::commit_limits(&agent, &work.root, settings.git.commit);
                let (fallbacks, judge) = (plans.into(), judge_plan(work)?);
                Ok(Self {
                    agent,
                    fallbacks,
                    left_out,
                    judge,
                    hooks_disabled_in,
                    commit_limits,
                    is_attached: false,
                })
            }
            None => Err(left_out.swap_remove(0)),
        }
    }

    /// What the agent cannot do, as a warning before the start.
    pub fn missing_capabilities(&self, mode: LoopMode) -> Vec<String> {
        let can = self.agent.kind().capabilities().in_mode(mode);
        let can = if self.hooks_disabled_in.is_some() { can.without_hooks() } else { can };
        let off = self
            .hooks_disabled_in
            .iter()
            .map(|place| tr!("`disableAllHooks` in {place} switches its hooks off", place));
        off.chain(can.limitations().into_iter().chain(self.commit_limits).map(str::to_owned)).collect()
    }

    /// What the user should know before the start although it is no obstacle.
    pub fn warnings(&self) -> Vec<String> {
        let left_out = self
            .left_out
            .iter()
            .map(|it| tr!("{reason}: the others of the list work without it", reason = it));
        let hooks_disabled_in = self.hooks_disabled_in.iter().map(|place| {
            let name = &self.agent.name;
            tr!("`disableAllHooks` in {place} switches the hooks of `{name}` off: its subagents are counted and never refused", place, name)
        });
        left_out.chain(hooks_disabled_in).collect()
    }

    /// What the agent's rules cannot enforce for commits that are left to it.
    pub fn commit_note(&self) -> Option<String> {
        self.commit_limits.map(|it| {
            tr!("commits are left to `{name}`: {limitation}", name = self.agent.name, limitation = it)
        })
    }

    /// Every agent that loopkeeper starts.
    pub fn all(&self) -> impl Iterator<Item = &AgentPlan> {
        let own = (!self.is_attached).then_some(&self.agent);
        own.into_iter().chain(&self.fallbacks).chain(&self.judge)
    }
}

/// The plan for a session that is already open; Claude Code only so far.
pub fn attached_plan(agent: &str) -> Result<AgentPlan, Failure> {
    let claude = AgentKind::Claude.name();
    if agent != "auto" && agent != claude {
        return Err(Failure::usage(tr!(
            "`mode = \"attach\"` works in a session of Claude Code: `agent` is `{agent}`",
            agent
        ))
        .hint(tr!(
            "Leave out the agent (`--agent`, or `agent` in the configuration), or use another mode."
        )));
    }
    Ok(AgentPlan {
        name: claude.to_owned(),
        argv: vec![claude.to_owned()],
        prompt: PromptBy::Argument,
        dialect: Dialect::Claude,
        permissions: PermissionMode::Edits,
        env: Vec::new(),
    })
}

/// Fails if hook mode cannot hold the agent, as far as that is known before it runs.
pub fn ensure_holdable(agent: &AgentPlan, hooks_disabled_in: Option<&str>) -> Result<(), Failure> {
    if let Some((what, hint)) = agent.kind().refuses_hook_mode(&agent.name) {
        return Err(Failure::usage(what).hint(hint));
    }
    match agents::hook_conflict(agent) {
        Some(conflict) => Err(Failure::usage(conflict).hint(tr!(
            "Correct `args` under `[agents.{name}]`, or remove the line `mode`.",
            name = agent.name
        ))),
        None => ensure_hooks_enabled(
            hooks_disabled_in,
            "hook",
            tr!(
                "Remove it there, or set `session.continue = true` instead of `mode`, so that each iteration continues the session of the one before."
            ),
        ),
    }
}

/// Fails if the settings of the user's session keep it from calling our hooks.
pub fn ensure_attachable(hooks_disabled_in: Option<&str>) -> Result<(), Failure> {
    ensure_hooks_enabled(hooks_disabled_in, "attach", tr!("Remove it there, and restart `claude`."))
}

/// Holding a session requires its hooks to be enabled.
fn ensure_hooks_enabled(hooks_disabled_in: Option<&str>, mode: &str, hint: &str) -> Result<(), Failure> {
    let Some(place) = hooks_disabled_in else { return Ok(()) };
    let fact = tr!(
        "`mode = \"{mode}\"` holds a session by its stop hook, and `disableAllHooks` in {place} switches all hooks off",
        mode,
        place
    );
    Err(Failure::usage(fact).hint(hint))
}

fn hooks_disabled_in(agent: &AgentPlan, work: &ResolvedTask) -> Option<String> {
    let settings = &work.settings;
    let mut env =
        scrubbed_env(EnvAudience::Agent, &settings.env_pass, &settings.env_set, std::env::vars_os());
    env.extend(agent.env.iter().map(|(name, value)| (name.into(), value.into())));
    agents::disabled_hooks::find_source(agent, &work.root, &env)
}

/// A judge may only read, if the flags of its agent are known.
pub fn judge_plan(work: &ResolvedTask) -> Result<Option<AgentPlan>, Failure> {
    if work.task.criteria.iter().all(|it| loopkeeper_core::jury::quorum(it).is_none()) {
        return Ok(None);
    }
    let settings = &work.settings;
    let reading = |it: &AgentSettings| AgentSettings { permissions: PermissionMode::ReadOnly, ..it.clone() };
    let readers: Vec<AgentSettings> = settings.agents.iter().map(reading).collect();
    if let Some(judge) = &settings.judge {
        return plan_agent(work, judge, &readers).map(Some);
    }
    let mut found = settings.agent_names().map(|name| plan_agent(work, name, &readers));
    match found.next().transpose() {
        Err(missing) => found.find_map(Result::ok).map(Some).ok_or(missing),
        found => found,
    }
}

/// Names of the agents that can be started here, in the order of the configuration.
pub fn startable_agents(work: &ResolvedTask) -> Vec<String> {
    let agents = &work.settings.agents;
    let is_demo = |name: &str| name == AgentKind::Demo.name();
    let named = agents.iter().map(|it| it.name.as_str()).filter(|it| !is_demo(it));
    named.filter(|it| plan_agent(work, it, agents).is_ok()).map(str::to_owned).collect()
}

fn plan_agent(work: &ResolvedTask, agent: &str, agents: &[AgentSettings]) -> Result<AgentPlan, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(agents::plan_agent(&agents::AgentQuery {
        agent,
        agents,
        root: &work.root,
        criteria: &work.task.criteria,
        path: &path,
        is_root: rustix::process::geteuid().is_root(),
        env_set: &work.settings.env_set,
        committer: work.settings.git.commit,
    })?)
}
