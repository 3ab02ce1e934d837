//! Every key there is, in the order of the reference page. Adding one here documents, checks and explains it;
//! `assignment.rs` maps it to its field.

use super::table::{Key, KeySupport, ValueKind};

const fn key(path: &'static str, takes: ValueKind, default: &'static str, doc: &'static str) -> Key {
    Key { path, takes, default, doc, since: KeySupport::Built }
}

const fn only_default(path: &'static str, takes: ValueKind, default: &'static str, doc: &'static str) -> Key {
    Key { path, takes, default, doc, since: KeySupport::OnlyDefault }
}

const fn words(now: &'static [&'static str], later: &'static [&'static str]) -> ValueKind {
    ValueKind::Word { now, later }
}

#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key("agent", ValueKind::Agents, r#""auto""#,
        "The agent that does the work: a built-in, a name of `[agents]`, `auto` for the first one that is installed, or a list in which the next takes over when one cannot go on."),
    key("mode", words(&["loop", "hook", "attach"], &[]), r#""loop""#,
        "`loop` starts a fresh agent process for each iteration; `hook` holds one session open by its stop hook; `attach` works in the session of Claude Code that you have open in a terminal (`loopkeeper hook install`)."),
    key("serve", ValueKind::Services, "",
        "Servers that are started for check rounds that contain `GET`, and ended after."),

    key("tasks.files", ValueKind::Paths, "[]",
        "Further task documents, besides those found by their names."),
    key("tasks.exclude", ValueKind::Globs, r#"["**/fixtures/**"]"#,
        "Documents that match are not taken for tasks."),

    key("prompt.template", ValueKind::Path, "",
        "A file that says in which order and with which words around them an iteration is told its parts, which `PROMPTS.md` names; in the user's own file its path is relative to that file."),

    key("limits.iterations", ValueKind::Count, "25",
        "Maximum number of iterations."),
    key("limits.duration", ValueKind::Duration, r#""8h""#,
        "How long a loop may take; waiting for the provider counts, pauses do not."),
    key("limits.cost_usd", ValueKind::Cost, "25.0",
        "What a loop may cost in US dollars, where the agent reports its cost."),
    key("limits.tokens", ValueKind::Count, "",
        "How many tokens a loop may use."),
    key("limits.calls_per_hour", ValueKind::Count, "100",
        "How many iterations all loops of this user may start in any hour."),
    key("limits.iteration_time", ValueKind::Duration, r#""30m""#,
        "How long one run of the agent may take."),
    key("limits.idle_time", ValueKind::Duration, r#""15m""#,
        "How long the agent may show no sign of life: no output, no processor time, no file change."),
    key("limits.steps", ValueKind::Count, "500",
        "How many steps one run of the agent may take: answers of its model, or calls of tools, as far as it tells them."),
    key("limits.between", ValueKind::Pause, r#""0s""#,
        "A pause between two iterations."),
    key("limits.grace", ValueKind::Duration, r#""10s""#,
        "The time between asking a process to end and killing it."),

    key("max.iterations", ValueKind::Count, "",
        "The highest `limits.iterations` that a workspace or a task may set; `[max]` counts only in your own file."),
    key("max.duration", ValueKind::Duration, "",
        "The highest `limits.duration` that they may set."),
    key("max.cost_usd", ValueKind::Cost, "",
        "The highest `limits.cost_usd` that they may set."),
    key("max.tokens", ValueKind::Count, "",
        "The highest `limits.tokens` that they may set, and the limit where they set none."),
    key("max.calls_per_hour", ValueKind::Count, "",
        "The highest `limits.calls_per_hour` that they may set."),
    key("max.iteration_time", ValueKind::Duration, "",
        "The highest `limits.iteration_time` that they may set."),
    key("max.idle_time", ValueKind::Duration, "",
        "The highest `limits.idle_time` that they may set."),
    key("max.steps", ValueKind::Count, "",
        "The highest `limits.steps` that they may set."),
    key("max.subagents", ValueKind::Count, "",
        "The highest `spawns.budget` that they may set."),

    key("spawns.budget", ValueKind::Count, "12",
        "How many subagents a loop may start, where the agent can be vetoed."),
    key("spawns.per_agent", ValueKind::Count, "2",
        "How many subagents one agent may start."),
    key("spawns.depth", ValueKind::Count, "2",
        "How deep subagents may nest."),
    key("spawns.children", ValueKind::Count, "5",
        "How many subagents may run at the same time."),

    key("criteria.protected", ValueKind::Globs, r#"["tests/**"]"#,
        "What the agent must not weaken, besides the task document and the files that checks name."),
    key("criteria.may_change", ValueKind::Globs, "[]",
        "Tests, test data and files of checks that the task allows to change; a task lists them under `May change`."),
    key("criteria.timeout", ValueKind::Duration, r#""10m""#,
        "How long a check may take, unless its criterion says `(timeout …)`."),
    key("criteria.mutants", words(&["tell", "require", "off"], &[]), r#""tell""#,
        "Whether the checks are tried on small faults in the lines that the loop changed, before it completes as verified: `tell` shows the faults that no check notices, where one round of the checks takes at most 3 seconds; `require` lists them in the next prompt, and does not end the loop as verified while one is left."),

    key("criteria.judge", ValueKind::Agent, "",
        "Whom `judge` checks ask, with rights to read only; without it another session of the loop's own agent."),

    key("exit.promise", ValueKind::Promise, r#""COMPLETE""#,
        "The text between `<promise>` tags by which the agent claims to be done, unless the task names another."),
    key("exit.done_signals", ValueKind::Count, "2",
        "How many consecutive claims it takes where no check can decide."),
    key("exit.completion_indicators", ValueKind::Count, "2",
        "How many indications of completion in the agent's words count as a claim."),
    key("exit.test_loops", ValueKind::Count, "3",
        "How many iterations in a row may do nothing but run tests."),
    key("exit.test_percentage", ValueKind::Percent, "25",
        "The share of iterations that may do nothing but run tests."),
    key("exit.when", ValueKind::When, "",
        "An expression that says when the loop is done, in place of the rules that hold without it."),
    key("exit.groups", words(&["all", "majority"], &[]), r#""all""#,
        "Whether all criteria of a group must hold, or most of them."),
    key("exit.words", ValueKind::Weights, "",
        "Words by which the agent indicates completion, with their weights."),

    key("breaker.preset", words(&["adaptive", "small", "large"], &[]), r#""adaptive""#,
        "A set of thresholds that fits the size of the project."),
    key("breaker.no_progress", ValueKind::Count, "3",
        "The breaker opens after this many iterations in a row that left the tree unchanged."),
    key("breaker.same_error", ValueKind::Count, "5",
        "The breaker opens after this many iterations in a row with the same error, or with the same criteria failing in the same way."),
    key("breaker.output_decline", ValueKind::Percent, "70",
        "The breaker opens when the agent's output declines by this many percent."),
    key("breaker.permission_denials", ValueKind::Count, "2",
        "The breaker opens after this many iterations in a row with denied tools and an unchanged tree."),
    key("breaker.fast_failures", ValueKind::Count, "2",
        "The breaker opens after this many iterations in a row under 10 s with an unchanged tree."),
    key("breaker.cooldown", ValueKind::Duration, r#""30m""#,
        "How long an open breaker waits before it tries one more iteration."),
    key("breaker.max_trips", ValueKind::Count, "3",
        "How often the breaker may open before the loop pauses until its user resumes it."),

    key("session.continue", ValueKind::Flag, "false",
        "Whether an iteration resumes the session of the one before; `false` gives each a fresh context; any agent finds the session's id in `LOOPKEEPER_SESSION`, and `LOOPKEEPER_SESSION_RESUMED=1` where it goes on."),
    key("session.expires", ValueKind::Duration, r#""24h""#,
        "How long a session may lie unused before the next iteration begins a new one."),

    key("questions.timeout", ValueKind::Duration, r#""10m""#,
        "How long a question of the agent's waits for an answer, and how long what it asks to be allowed (`permissions = \"ask\"`)."),
    key("questions.unanswered", words(&["continue", "pause"], &[]), r#""continue""#,
        "What happens to an unanswered question: the agent decides and notes its assumption, or the loop pauses."),

    key("usage_limit.unanswered", words(&["wait", "stop"], &[]), r#""wait""#,
        "What happens at a usage limit without an answer within 30 s."),

    key("git.branch", ValueKind::Branch, "",
        "The branch a loop works on, made where there is none: `ralph/{task}` names it after the task; `branchName` of a `prd.json` wins over it; `\"\"` stays on the current branch whatever the plan says; not written: the plan's, else the current one."),
    key("git.commit", words(&["agent", "server", "never"], &[]), r#""agent""#,
        "Who commits: `agent` leaves it to the agent, whose safe mode then allows `git add` and `git commit`; `server` makes one commit an iteration of what it changed; `never` tells the agent not to."),
    key("git.on_regression", words(&["keep", "rollback"], &[]), r#""keep""#,
        "What happens when a guard breaks: `keep` continues, `rollback` returns to the last snapshot whose guards held."),

    key("sandbox.kind", words(&["auto", "required", "off"], &[]), r#""auto""#,
        "`auto` uses PID and mount namespaces where bubblewrap works, else Landlock, and `doctor` says which; `required` refuses to start without either."),
    key("sandbox.allow", ValueKind::Texts, "[]",
        "Paths that the sandbox neither hides nor protects, such as `/run/docker.sock` or `~/.ssh`; in a workspace's file they need your trust."),
    key("sandbox.hide", ValueKind::Texts, "[]",
        "Further files and folders that agents and checks cannot access, such as `~/Documents`; a relative path is below the root."),
    only_default("sandbox.network", ValueKind::Flag, "true",
        "Whether the agent may use the network."),

    key("on.iteration_start", ValueKind::CommandOrNone, "[]",
        "A command to run before each iteration, which waits for it."),
    key("on.iteration_end", ValueKind::CommandOrNone, "[]",
        "A command to run after each iteration, concurrently with the loop."),
    key("on.needs_you", ValueKind::CommandOrNone, "[]",
        "A command to run when a loop needs its user."),
    key("on.ended", ValueKind::CommandOrNone, "[]",
        "A command to run when a loop has ended."),
    key("on.timeout", ValueKind::Duration, r#""30s""#,
        "How long one of these commands may take."),

    key("keep.loops", ValueKind::Count, "20",
        "How many ended loops are kept for each workspace."),
    key("keep.days", ValueKind::Count, "60",
        "For how many days ended loops are kept."),
    key("keep.disk", ValueKind::Size, r#""5GiB""#,
        "How much disk the loops of one workspace may take."),

    key("env.pass", ValueKind::Names, "[]",
        "Environment variables that agents and checks get besides the default ones, `MY_*` for all that begin so; those of editors, git and other agents never pass."),
    key("env.set", ValueKind::Variables, "{}",
        "Environment variables to set for agents and checks."),

    key("agents.*.command", ValueKind::Command, "",
        "The program and its arguments, started without a shell; a built-in agent finds its own."),
    key("agents.*.args", ValueKind::Texts, "[]",
        "Further arguments, after those that loopkeeper gives."),
    key("agents.*.permissions", words(&["edits", "ask", "sandboxed-all", "all"], &[]), r#""edits""#,
        "What an agent may do: `edits` allows edits and exactly the task's checks and test runner, `ask` (with `output = \"acp\"`) asks you about the rest."),
    key("agents.*.model", ValueKind::Text, "",
        "The model an agent uses; the agent's own default where this is not set."),
    key("agents.*.effort", ValueKind::Text, "",
        "How hard the model is to think, in the agent's own words, such as `low` or `high`."),
    key("agents.*.env", ValueKind::Variables, "{}",
        "Environment variables to set for this agent alone."),
    key("agents.*.prompt", words(&["stdin", "argument", "file"], &[]), r#""stdin""#,
        "How an agent of your own gets its prompt."),
    key("agents.*.output", words(&["text", "claude", "codex", "gemini", "opencode", "acp"], &[]), r#""text""#,
        "How the output of an agent of your own is read; `acp` talks to it by the Agent Client Protocol, and to `gemini`, `opencode`, `qwen` and `copilot` too."),
];

/// Keys that had another name, with the current one: an error names it.
pub(crate) const RENAMED_KEYS: &[(&str, &str)] = &[("questions.patience", "questions.timeout")];
