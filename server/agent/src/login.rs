//! Searches for evidence that the user is logged in to an agent. Only the names of variables and files are inspected,
//! never their contents, except for one word in a file that also exists without a login.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::catalog::{KnownAgent, LoginFile};

/// Evidence of a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "by", rename_all = "kebab-case")]
pub enum LoginState {
    /// This variable or file exists; whether the provider still accepts it is unknown.
    Seen(String),
    /// This variable is set but not passed to agents.
    Withheld(String),
    NotSeen,
    /// The location of this agent's login is unknown.
    Unknown,
}

/// Access to the machine's variables and files.
pub trait LoginEvidence {
    /// Whether the variable is set in this process.
    fn has_variable(&self, name: &str) -> bool;
    /// Its value in the environment of agents, from which other variables are removed.
    fn agent_variable(&self, name: &str) -> Option<String>;
    fn home_dir(&self) -> PathBuf;
    /// Whether the file exists, is not empty and contains the word.
    fn has_file(&self, path: &Path, holds: Option<&str>) -> bool;
}

/// Searches for evidence of a login.
pub fn detect_login(known: &KnownAgent, evidence: &impl LoginEvidence) -> LoginState {
    if let Some(name) =
        known.variables.iter().find(|it| evidence.agent_variable(it).is_some_and(|it| !it.is_empty()))
    {
        return LoginState::Seen(format!("${name}"));
    }
    let path = |place: &LoginFile| {
        let moved =
            place.moved.and_then(|(variable, below)| Some((evidence.agent_variable(variable)?, below)));
        moved.map_or_else(
            || evidence.home_dir().join(place.at_home),
            |(folder, below)| PathBuf::from(folder).join(below),
        )
    };
    let file = known
        .files
        .iter()
        .map(|it| (path(it), it.holds))
        .find(|(path, holds)| evidence.has_file(path, *holds));
    if let Some((path, _)) = file {
        return LoginState::Seen(path.to_string_lossy().into_owned());
    }
    let withheld = known.variables.iter().find(|it| evidence.has_variable(it));
    withheld.map_or(LoginState::NotSeen, |name| LoginState::Withheld((*name).to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{LoginEvidence, LoginState, detect_login};
    use crate::catalog::{CATALOG, KnownAgent};

    /// Variables, withheld variables, and files with their content.
    struct Machine {
        variables: &'static [(&'static str, &'static str)],
        withheld: &'static [&'static str],
        files: &'static [(&'static str, &'static str)],
    }

    impl LoginEvidence for Machine {
        fn has_variable(&self, name: &str) -> bool {
            self.agent_variable(name).is_some() || self.withheld.contains(&name)
        }

        fn agent_variable(&self, name: &str) -> Option<String> {
            self.variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
        }

        fn home_dir(&self) -> PathBuf {
            "/home/u".into()
        }

        fn has_file(&self, path: &Path, holds: Option<&str>) -> bool {
            let found = self.files.iter().find(|it| Path::new(it.0) == path);
            found.is_some_and(|it| holds.is_none_or(|word| it.1.contains(word)))
        }
    }

    fn known(name: &str) -> &'static KnownAgent {
        CATALOG.iter().find(|it| it.name == name).unwrap()
    }

    #[test]
    fn a_login_is_detected_by_its_files() {
        let check = |name, machine: Machine, expect: LoginState| {
            assert_eq!(detect_login(known(name), &machine), expect, "{name}");
        };
        let nothing = Machine { variables: &[], withheld: &[], files: &[] };
        let seen = |by: &str| LoginState::Seen(by.to_owned());
        check("claude", nothing, LoginState::NotSeen);
        let key = Machine { variables: &[("ANTHROPIC_API_KEY", "k")], withheld: &[], files: &[] };
        check("claude", key, seen("$ANTHROPIC_API_KEY"));
        let empty = Machine { variables: &[("ANTHROPIC_API_KEY", "")], withheld: &[], files: &[] };
        check("codex", empty, LoginState::NotSeen);
        let file = Machine { variables: &[], withheld: &[], files: &[("/home/u/.codex/auth.json", "{}")] };
        check("codex", file, seen("/home/u/.codex/auth.json"));
        let files: &[_] = &[("/c/auth.json", "{}")];
        let moved = Machine { variables: &[("CODEX_HOME", "/c")], withheld: &[], files };
        check("codex", moved, seen("/c/auth.json"));
        let files: &[_] = &[("/home/u/.codex/auth.json", "{}")];
        let elsewhere = Machine { variables: &[("CODEX_HOME", "/c")], withheld: &[], files };
        check("codex", elsewhere, LoginState::NotSeen);
        let fresh =
            Machine { variables: &[], withheld: &[], files: &[("/home/u/.claude.json", "{\"theme\":1}")] };
        check("claude", fresh, LoginState::NotSeen);
        let files: &[_] = &[("/home/u/.claude.json", "{\"oauthAccount\":{}}")];
        check("claude", Machine { variables: &[], withheld: &[], files }, seen("/home/u/.claude.json"));
        let withheld = Machine { variables: &[], withheld: &["GH_TOKEN"], files: &[] };
        check("copilot", withheld, LoginState::Withheld("GH_TOKEN".into()));
        let files: &[_] = &[("/home/u/.copilot/config.json", "{\"firstLaunchAt\":1}")];
        check("copilot", Machine { variables: &[], withheld: &[], files }, LoginState::NotSeen);
        let files: &[_] = &[("/home/u/.config/gh/hosts.yml", "github.com:\n    user: u\n")];
        let by_github = Machine { variables: &[], withheld: &[], files };
        check("copilot", by_github, seen("/home/u/.config/gh/hosts.yml"));
    }
}
