//! The settings of the sample loop.

use crate::settings::{AgentSettings, ExitSettings, LimitSettings, SandboxMode, Settings};
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{PermissionMode, PromptBy};

pub(super) fn settings() -> Settings {
    Settings {
        agent: "auto".to_owned(),
        task_files: Vec::new(),
        task_exclude: vec!["**/fixtures/**".to_owned()],
        limits: LimitSettings {
            iterations: 25,
            duration_ms: 1,
            cost_micros: 2,
            tokens: Some(8),
            calls_per_hour: 9,
            iteration_ms: 3,
            steps: 9,
            idle_ms: 4,
            between_ms: 0,
            grace_ms: 5,
        },
        protected: vec!["tests/**".to_owned()],
        may_change: vec!["tests/golden/**".to_owned()],
        check_timeout_ms: 6,
        exit: ExitSettings { words: vec![("全部完成".to_owned(), 90)], ..ExitSettings::default() },
        written: vec!["breaker.no_progress".to_owned()],
        sandbox: SandboxMode::Auto,
        keep_bytes: 7,
        env_set: vec![("A".to_owned(), "b".to_owned())],
        agents: vec![AgentSettings {
            name: "mine".to_owned(),
            command: vec!["./agent.sh".to_owned()],
            prompt: PromptBy::File,
            output: Dialect::Text,
            permissions: PermissionMode::Edits,
            model: Some("m".to_owned()),
            effort: Some("high".to_owned()),
            args: vec!["-x".to_owned()],
            env: vec![("A".to_owned(), "1".to_owned())],
        }],
        ..Settings::default()
    }
}
