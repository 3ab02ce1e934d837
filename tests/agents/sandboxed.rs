//! Each real agent with `sandbox.kind = "required"`: it reads its own configuration, edits, runs a check, commits and
//! continues its session. With bubblewrap, and with Landlock alone where no namespace can be made, as in a container.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::agent_params::{AgentParams, CODEX_PLAIN, GEMINI, OPENCODE, QWEN};
use super::committing::{committed, repository};
use super::journal::Journal;
use super::looping::{ClaudeFixture, path};
use super::model::Step;
use super::others::AgentFixture;
use crate::cli::{Ran, Terminal};
use crate::kill_domain::rig::namespace;
use crate::no_bubblewrap::{NO_NAMESPACES, possible};

const CHECK: &str = "grep -q one a.txt";
const COMMIT: &str = "git add a.txt && git commit -m one";
const TASK: &str =
    "# Two files\n\n## Done when\n\n- First: `$ grep -q one a.txt`\n- Second: `has \"two\" b.txt`\n";
const SETTINGS: &str =
    "[session]\ncontinue = true\n[git]\ncommit = \"agent\"\n[sandbox]\nkind = \"required\"\n";

/// What restricts the agent.
#[derive(Debug, Clone, Copy)]
enum Sandbox {
    Bubblewrap,
    /// No namespace can be made.
    Landlock,
}

impl Sandbox {
    const ALL: [Self; 2] = [Self::Bubblewrap, Self::Landlock];

    fn domain(self) -> &'static str {
        match self {
            Self::Bubblewrap => "pid-namespace",
            Self::Landlock => "landlock",
        }
    }

    /// Runs the loop; `None` if this machine lacks what the sandbox needs.
    fn run(self, mut command: Command) -> Option<Ran> {
        match self {
            Self::Bubblewrap => namespace().map(|_| Ran::of(&command.output().expect("it starts"))),
            Self::Landlock => {
                let ran = Ran::of(&without_namespaces(&command).output().expect("it starts"));
                possible("an agent without namespaces", ran)
            }
        }
    }

    fn assert_done(self, terminal: &Terminal, ran: &Ran) {
        let journal = Journal::of(ran);
        assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true, "{}", journal.summary());
        let domains: Vec<_> = journal.all("agent-started").iter().map(|it| &it["domain"]).collect();
        assert_eq!(domains, [self.domain(); 2], "{}", journal.summary());
        let sessions = journal.all("agent-ended");
        assert_eq!(sessions[0]["run"]["session"], sessions[1]["run"]["session"], "{}", journal.summary());
        assert_eq!(committed(terminal), "one\nzero\n", "{}", journal.summary());
    }
}

/// A key that is hidden, and settings that agents read and may not change.
fn add_closed_files(terminal: &Terminal) {
    let home = terminal.folder().join("home");
    for (path, text) in [(".ssh/id", "secret\n"), (".claude/settings.json", "{}\n")] {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a written file");
    }
}

/// The same command in a user namespace that permits no others.
fn without_namespaces(command: &Command) -> Command {
    let mut wrapped = Command::new("unshare");
    wrapped.args(["--user", "--map-root-user", "--mount", "sh", "-c", NO_NAMESPACES, "sh"]);
    wrapped.arg(command.get_program()).args(command.get_args()).env_clear();
    wrapped.current_dir(command.get_current_dir().expect("the root"));
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped
}

fn works_in_the_sandbox(agent: AgentParams) {
    works_in(Sandbox::Bubblewrap, agent);
    works_in(Sandbox::Landlock, agent);
}

fn works_in(sandbox: Sandbox, agent: AgentParams) {
    let script = |root: &Path| {
        vec![
            (agent.write)(&root.join("a.txt"), "one\n"),
            (agent.run)(CHECK),
            (agent.run)(COMMIT),
            Step::Text("The first is written."),
            (agent.write)(&root.join("b.txt"), "two\n"),
            Step::Text("The second is written."),
        ]
    };
    let fixture = AgentFixture::new(agent, TASK, SETTINGS, script);
    let _remote = repository(&fixture.terminal);
    add_closed_files(&fixture.terminal);
    let Some(ran) = sandbox.run(fixture.command(&["run", "--trust", "--json"])) else { return };
    sandbox.assert_done(&fixture.terminal, &ran);
    assert_eq!(fixture.model.left(), 0, "{sandbox:?}");
}

#[test]
fn claude_works_in_the_sandbox() {
    for sandbox in Sandbox::ALL {
        let fixture = ClaudeFixture::new(TASK, |root| {
            vec![
                Step::write(&path(root, "a.txt"), "one\n"),
                Step::bash(CHECK),
                Step::bash(COMMIT),
                Step::Text("The first is written."),
                Step::write(&path(root, "b.txt"), "two\n"),
                Step::Text("The second is written."),
            ]
        });
        let settings = fixture.terminal.read("loopkeeper.toml") + SETTINGS;
        fixture.terminal.file("loopkeeper.toml", &settings);
        let _remote = repository(&fixture.terminal);
        add_closed_files(&fixture.terminal);
        let Some(ran) = sandbox.run(fixture.command(&["run", "--trust", "--json"])) else { continue };
        sandbox.assert_done(&fixture.terminal, &ran);
        assert_eq!(fixture.model.left(), 0, "{sandbox:?}");
    }
}

#[test]
fn codex_works_in_the_sandbox() {
    works_in(Sandbox::Bubblewrap, CODEX_PLAIN);
    // Its own sandbox needs namespaces.
    works_in(Sandbox::Landlock, CODEX_PLAIN.with("permissions = \"all\"\n", true));
}

#[test]
fn opencode_works_in_the_sandbox() {
    works_in_the_sandbox(OPENCODE);
}

#[test]
fn gemini_works_in_the_sandbox() {
    works_in_the_sandbox(GEMINI);
}

#[test]
fn qwen_works_in_the_sandbox() {
    works_in_the_sandbox(QWEN);
}
