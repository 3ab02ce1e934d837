//! Files that programs of the user execute later without being asked: hooks of git, start files of shells and editors,
//! workflows, scripts of package installations. The sandbox ends with the loop; what an agent writes into them does not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loopkeeper_text::sanitize;
use serde::Deserialize;

/// Files named in one sentence.
const MAX_NAMED: usize = 5;
/// Scripts of a `package.json` that package managers run by themselves.
const LIFECYCLE: [&str; 8] =
    ["preinstall", "install", "postinstall", "prepare", "prepack", "postpack", "preprepare", "postprepare"];

/// What executes the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutorunTrigger {
    Git,
    Shell,
    Editor,
    Ci,
    PackageManager,
    Toolchain,
}

impl AutorunTrigger {
    fn describe(self) -> &'static str {
        match self {
            Self::Git => "by git",
            Self::Shell => "by a shell in this folder",
            Self::Editor => "by an editor that opens this folder",
            Self::Ci => "in CI after a push",
            Self::PackageManager => "by a package manager",
            Self::Toolchain => "by the next build or interpreter",
        }
    }
}

/// What executes the file of this path, if anything does without being asked.
pub fn autorun_trigger(path: &str) -> Option<AutorunTrigger> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders = format!("/{folder}/");
    let is_in = |parent: &str| folders.contains(&format!("/{parent}/"));
    let any_in = |parents: &[&str]| parents.iter().any(|it| is_in(it));
    let trigger = match name {
        _ if any_in(&[".git/hooks", ".husky", ".githooks"]) => AutorunTrigger::Git,
        "config" | "config.worktree" if folder == ".git" => AutorunTrigger::Git,
        ".pre-commit-config.yaml" | ".pre-commit-config.yml" | "lefthook.yml" | ".lefthook.yml" => {
            AutorunTrigger::Git
        }
        ".envrc" | ".autoenv" | ".env.zsh" => AutorunTrigger::Shell,
        ".exrc" | ".nvimrc" | ".nvim.lua" | ".dir-locals.el" => AutorunTrigger::Editor,
        "tasks.json" | "settings.json" | "launch.json" if is_in(".vscode") || is_in(".zed") => {
            AutorunTrigger::Editor
        }
        _ if any_in(&[".devcontainer", ".idea/runConfigurations"]) => AutorunTrigger::Editor,
        _ if any_in(&[".github/workflows", ".forgejo/workflows", ".gitea/workflows"]) => AutorunTrigger::Ci,
        _ if any_in(&[".github/actions", ".circleci", ".buildkite", ".woodpecker"]) => AutorunTrigger::Ci,
        ".gitlab-ci.yml" | ".travis.yml" | ".drone.yml" | ".woodpecker.yml" | "appveyor.yml" => {
            AutorunTrigger::Ci
        }
        "azure-pipelines.yml" | "bitbucket-pipelines.yml" | "Jenkinsfile" => AutorunTrigger::Ci,
        "package.json" | ".pnpmfile.cjs" | ".yarnrc.yml" => AutorunTrigger::PackageManager,
        "config.toml" | "config" if is_in(".cargo") => AutorunTrigger::Toolchain,
        "sitecustomize.py" | "usercustomize.py" => AutorunTrigger::Toolchain,
        _ => return None,
    };
    Some(trigger)
}

/// Whether a change of this file changes what is executed. A removed file executes nothing; of a `package.json` only
/// the scripts of an installation count.
pub fn is_autorun_change(path: &str, before: Option<&str>, after: Option<&str>) -> bool {
    let Some(after) = after else { return false };
    if autorun_trigger(path).is_none() || before == Some(after) {
        return false;
    }
    let is_package = path.rsplit('/').next() == Some("package.json");
    !is_package || before.map(lifecycle_scripts).unwrap_or_default() != lifecycle_scripts(after)
}

/// A text that cannot be read has none: the package manager cannot read it either.
fn lifecycle_scripts(text: &str) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Package {
        #[serde(default)]
        scripts: BTreeMap<String, String>,
    }
    let Ok(package) = serde_json::from_str::<Package>(text) else { return BTreeMap::new() };
    package.scripts.into_iter().filter(|(name, _)| LIFECYCLE.contains(&name.as_str())).collect()
}

/// The settings of a git configuration that name programs for git to execute, one to a line. Names, addresses and
/// tracked branches are none: agents set them in the course of their work.
pub fn git_config_programs(text: &str) -> String {
    let mut section = "";
    let mut programs = String::new();
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        if let Some((header, behind)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
            (section, rest) = (header, behind.trim());
        }
        let (name, key) = (
            section.split([' ', '.']).next().unwrap_or(""),
            rest.split(['=', ' ', '\t']).next().unwrap_or(""),
        );
        if names_program(&name.to_ascii_lowercase(), &key.to_ascii_lowercase()) {
            programs.extend([section, " ", rest, "\n"]);
        }
    }
    programs
}

fn names_program(section: &str, key: &str) -> bool {
    match section {
        _ if key.is_empty() || key.starts_with(['#', ';', '[']) => false,
        "alias" | "filter" | "difftool" | "mergetool" | "include" | "includeif" | "credential" | "gpg"
        | "pager" | "sequence" | "interactive" | "browser" | "man" | "guitool" | "trailer" => true,
        "core" => matches!(
            key,
            "hookspath"
                | "fsmonitor"
                | "sshcommand"
                | "editor"
                | "pager"
                | "askpass"
                | "gitproxy"
                | "alternaterefscommand"
        ),
        "diff" | "merge" => matches!(key, "command" | "textconv" | "external" | "driver" | "tool"),
        "remote" => matches!(key, "uploadpack" | "receivepack" | "vcs"),
        _ => false,
    }
}

/// `2 changed files run later without being asked: .envrc (by a shell in this folder), …`; `None` without files.
pub fn autorun_sentence<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let files: Vec<&str> = files.into_iter().collect();
    let run = match files.as_slice() {
        [] => return None,
        [_] => "1 changed file runs".to_owned(),
        several => format!("{} changed files run", several.len()),
    };
    let mut sentence = format!("{run} later without being asked: ");
    for (at, path) in files.iter().take(MAX_NAMED).enumerate() {
        let gap = if at == 0 { "" } else { ", " };
        let trigger = autorun_trigger(path).map_or("", AutorunTrigger::describe);
        let _ = write!(sentence, "{gap}{} ({trigger})", sanitize::line(path));
    }
    if let Some(more @ 1..) = files.len().checked_sub(MAX_NAMED) {
        let _ = write!(sentence, " and {more} more");
    }
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::{AutorunTrigger, autorun_sentence, autorun_trigger, git_config_programs, is_autorun_change};

    #[test]
    fn files_are_known_by_their_paths() {
        let check = |path: &str, expect: Option<AutorunTrigger>| {
            assert_eq!(autorun_trigger(path), expect, "{path}");
        };
        check(".git/hooks/pre-commit", Some(AutorunTrigger::Git));
        check(".git/config", Some(AutorunTrigger::Git));
        check("web/.husky/pre-push", Some(AutorunTrigger::Git));
        check(".envrc", Some(AutorunTrigger::Shell));
        check("service/.envrc", Some(AutorunTrigger::Shell));
        check(".vscode/tasks.json", Some(AutorunTrigger::Editor));
        check("web/.vscode/settings.json", Some(AutorunTrigger::Editor));
        check(".devcontainer/devcontainer.json", Some(AutorunTrigger::Editor));
        check(".github/workflows/ci.yml", Some(AutorunTrigger::Ci));
        check(".github/actions/setup/action.yml", Some(AutorunTrigger::Ci));
        check("package.json", Some(AutorunTrigger::PackageManager));
        check("web/package.json", Some(AutorunTrigger::PackageManager));
        check(".cargo/config.toml", Some(AutorunTrigger::Toolchain));
        for path in [
            "",
            "src/main.rs",
            "tasks.json",
            "config",
            "config.toml",
            "envrc",
            ".github/CODEOWNERS",
            "Makefile",
            ".vscodes/tasks.json",
            "a.husky/pre-push",
            "docs/.github/workflows.md",
            ".vscode/extensions.json",
        ] {
            check(path, None);
        }
    }

    #[test]
    fn only_changes_of_what_is_executed_count() {
        let check = |path: &str, before: Option<&str>, after: Option<&str>, expect: bool| {
            assert_eq!(is_autorun_change(path, before, after), expect, "{path} {before:?} {after:?}");
        };
        check(".envrc", None, Some("x"), true);
        check(".envrc", Some("x"), Some("y"), true);
        check(".envrc", Some("x"), Some("x"), false);
        check(".envrc", Some("x"), None, false);
        check("src/a.rs", None, Some("x"), false);
        let package = |script: &str| format!("{{\"dependencies\": {{}}, \"scripts\": {{{script}}}}}");
        let (none, test) = (package(""), package("\"test\": \"vitest\""));
        let install = package("\"postinstall\": \"node x.js\"");
        check("package.json", Some(&none), Some(&test), false);
        check("package.json", Some(&test), Some(&install), true);
        check("package.json", None, Some(&install), true);
        check("package.json", Some(&install), Some(&none), true);
        check("package.json", Some(&install), Some("{"), true);
        check("package.json", Some(&none), Some("{"), false);
        check("web/package.json", None, Some("{\"scripts\": 7}"), false);
    }

    #[test]
    fn only_settings_that_name_programs_count_of_a_git_configuration() {
        let check = |text: &str, expect: &str| assert_eq!(git_config_programs(text), expect, "{text:?}");
        check("", "");
        check("[user]\n\tname = A\n[branch \"a\"]\n\tremote = origin\n[core]\n\tbare = false\n", "");
        check("[core]\n\thooksPath = /tmp/x\n\tautocrlf = input\n", "core hooksPath = /tmp/x\n");
        check("[Core] FSMonitor=/tmp/x\n", "Core FSMonitor=/tmp/x\n");
        check("[alias]\n\t# none\n\tst = !rm\n", "alias st = !rm\n");
        check("[filter \"lfs\"]\n\tsmudge = x\n", "filter \"lfs\" smudge = x\n");
        check("[diff \"a\"]\n\ttextconv = x\n[diff]\n\tcolor = auto\n", "diff \"a\" textconv = x\n");
        check("[include]\n\tpath = x\n[", "include path = x\n");
    }

    #[test]
    fn the_sentence_names_files_and_what_runs_them() {
        let check = |files: &[&str], expect: Option<&str>| {
            assert_eq!(autorun_sentence(files.iter().copied()).as_deref(), expect);
        };
        check(&[], None);
        check(
            &[".envrc"],
            Some("1 changed file runs later without being asked: .envrc (by a shell in this folder)"),
        );
        check(
            &[
                ".envrc",
                ".git/hooks/pre-push",
                "a/.envrc",
                "b/.envrc",
                "c/.envrc",
                "d/.envrc",
                "e\u{1b}[/.envrc",
            ],
            Some(
                "7 changed files run later without being asked: .envrc (by a shell in this folder), \
                 .git/hooks/pre-push (by git), a/.envrc (by a shell in this folder), \
                 b/.envrc (by a shell in this folder), c/.envrc (by a shell in this folder) and 2 more",
            ),
        );
    }
}
