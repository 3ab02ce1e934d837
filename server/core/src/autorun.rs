//! Recognises files that programs of the user execute later without being asked: hooks of git, start files of shells
//! and editors, workflows, scripts of package installations. The sandbox ends with the loop, but what an agent wrote
//! into such a file remains.

use std::collections::BTreeMap;

use loopkeeper_text::clauses::{and_more, list};
use loopkeeper_text::{sanitize, tr};
use serde::Deserialize;

/// Maximum number of files named in one sentence.
const MAX_NAMED: usize = 5;
/// Scripts of a `package.json` that package managers run automatically.
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
            Self::Git => tr!("by git"),
            Self::Shell => tr!("by a shell in this folder"),
            Self::Editor => tr!("by an editor that opens this folder"),
            Self::Ci => tr!("in CI after a push"),
            Self::PackageManager => tr!("by a package manager"),
            Self::Toolchain => tr!("by the next build or interpreter"),
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
        // No snapshot contains files of a `.git`: only those that git executes come here.
        _ if any_in(&[".git", ".husky", ".githooks"]) => AutorunTrigger::Git,
        ".pre-commit-config.yaml" | ".pre-commit-config.yml" | "lefthook.yml" | ".lefthook.yml" => {
            AutorunTrigger::Git
        }
        ".envrc" | ".autoenv" | ".env.zsh" => AutorunTrigger::Shell,
        ".exrc" | ".nvimrc" | ".nvim.lua" | ".dir-locals.el" => AutorunTrigger::Editor,
        "tasks.json" | "settings.json" | "launch.json" if is_in(".vscode") || is_in(".zed") => {
            AutorunTrigger::Editor
        }
        ".devcontainer.json" => AutorunTrigger::Editor,
        _ if name.ends_with(".code-workspace") => AutorunTrigger::Editor,
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

/// Whether only a part of the file is executed without being asked: the scripts of an installation.
pub fn is_package_manifest(path: &str) -> bool {
    path.rsplit('/').next() == Some("package.json")
}

/// Whether package managers run other scripts at an installation.
pub fn changes_install_scripts(before: &str, after: &str) -> bool {
    lifecycle_scripts(before) != lifecycle_scripts(after)
}

/// A text that cannot be read has none: the package manager cannot read it either. It skips a byte order mark, and
/// scripts that are not strings.
fn lifecycle_scripts(text: &str) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Package {
        #[serde(default)]
        scripts: BTreeMap<String, serde_json::Value>,
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(package) = serde_json::from_str::<Package>(text) else { return BTreeMap::new() };
    let lifecycle = package.scripts.into_iter().filter(|(name, _)| LIFECYCLE.contains(&name.as_str()));
    lifecycle.filter_map(|(name, script)| Some((name, script.as_str()?.to_owned()))).collect()
}

/// The settings of a git configuration that name programs for git to execute, one per line. Names, addresses and
/// tracked branches are not among them: agents set those in the course of their work.
pub fn git_config_programs(text: &str) -> String {
    let mut section = "";
    let mut programs = String::new();
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        while let Some((header, behind)) = split_section_header(rest) {
            (section, rest) = (header, behind.trim());
        }
        let name = section.split([' ', '.']).next().unwrap_or("");
        let key = rest.split(['=', ' ', '\t']).next().unwrap_or("");
        let value = rest.split_once('=').map_or("", |(_, value)| value.trim());
        if names_program(&name.to_ascii_lowercase(), &key.to_ascii_lowercase(), value) {
            programs.extend([section, " ", rest, "\n"]);
        }
    }
    programs
}

/// The text between the brackets of `[diff "a]b"]`, and the text after them.
fn split_section_header(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix('[')?;
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = inner.find(|it: char| {
        let is_end = it == ']' && !is_quoted;
        is_quoted ^= it == '"' && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        is_end
    })?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}

fn names_program(section: &str, key: &str, value: &str) -> bool {
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
        // Any other value is a command, or continues on the next line.
        "submodule" => key == "update" && !matches!(value, "checkout" | "rebase" | "merge" | "none"),
        "tar" | "hook" => key == "command",
        // `ext::` addresses are commands, and are refused unless this allows them.
        "protocol" => key == "allow",
        "sendemail" => key == "smtpserver" || key.ends_with("cmd"),
        "imap" => key == "tunnel",
        _ => false,
    }
}

/// `2 changed files run later without being asked: .envrc (by a shell in this folder), …`; `None` without files.
pub fn autorun_sentence<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let files: Vec<&str> = files.into_iter().collect();
    let describe = |path: &&str| {
        let trigger = match autorun_trigger(path) {
            Some(trigger) => trigger.describe(),
            // A file of the tree without a trigger of its own is in a folder that `core.hooksPath` names.
            None if !path.starts_with(['~', '/']) => AutorunTrigger::Git.describe(),
            None => tr!("by a program at its next start"),
        };
        tr!("{path} ({trigger})", path = sanitize::line(path), trigger)
    };
    let named: Vec<String> = files.iter().take(MAX_NAMED).map(describe).collect();
    let named = and_more(list(&named), files.len() - named.len());
    match files.len() {
        0 => None,
        1 => Some(tr!("1 changed file runs later without being asked: {files}", files = named)),
        count => {
            Some(tr!("{count} changed files run later without being asked: {files}", count, files = named))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AutorunTrigger, autorun_sentence, autorun_trigger, changes_install_scripts, git_config_programs,
        is_package_manifest,
    };

    #[test]
    fn files_are_known_by_their_paths() {
        let check = |path: &str, expect: Option<AutorunTrigger>| {
            assert_eq!(autorun_trigger(path), expect, "{path}");
        };
        check(".git/hooks/pre-commit", Some(AutorunTrigger::Git));
        check(".git/config", Some(AutorunTrigger::Git));
        check("lib/.git/hooks/pre-commit", Some(AutorunTrigger::Git));
        check(".git/modules/lib/config", Some(AutorunTrigger::Git));
        check("web/.husky/pre-push", Some(AutorunTrigger::Git));
        check(".envrc", Some(AutorunTrigger::Shell));
        check("service/.envrc", Some(AutorunTrigger::Shell));
        check(".vscode/tasks.json", Some(AutorunTrigger::Editor));
        check("web/.vscode/settings.json", Some(AutorunTrigger::Editor));
        check(".devcontainer/devcontainer.json", Some(AutorunTrigger::Editor));
        check(".devcontainer.json", Some(AutorunTrigger::Editor));
        check("app.code-workspace", Some(AutorunTrigger::Editor));
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
    fn only_scripts_of_an_installation_count_of_a_package() {
        assert!(is_package_manifest("package.json") && is_package_manifest("web/package.json"));
        assert!(!is_package_manifest("my-package.json") && !is_package_manifest(".envrc"));
        let check = |before: &str, after: &str, expect: bool| {
            assert_eq!(changes_install_scripts(before, after), expect, "{before} {after}");
        };
        let package = |script: &str| format!("{{\"dependencies\": {{}}, \"scripts\": {{{script}}}}}");
        let (none, test) = (package(""), package("\"test\": \"vitest\""));
        let install = package("\"postinstall\": \"node x.js\"");
        check(&none, &test, false);
        check(&test, &install, true);
        check("", &install, true);
        check(&install, &none, true);
        check(&install, "{", true);
        check(&none, "{", false);
        check("", "{\"scripts\": 7}", false);
        check("", &package("\"a\": 7, \"postinstall\": \"node x.js\""), true);
        check("", &format!("\u{feff}{install}"), true);
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
        check("[submodule \"a\"]\n\tupdate = rebase\n\turl = ../a\n", "");
        check("[submodule \"a\"]\n\tupdate = !x\n", "submodule \"a\" update = !x\n");
        check("[submodule \"a\"]\n\tupdate = \"!x y\"\n", "submodule \"a\" update = \"!x y\"\n");
        check("[submodule \"a\"]\n\tupdate = \\\n!x\n", "submodule \"a\" update = \\\n");
        check("[tar \"zip\"]\n\tcommand = x\n", "tar \"zip\" command = x\n");
        check("[hook \"a\"]\n\tcommand = x\n\tevent = pre-push\n", "hook \"a\" command = x\n");
        check("[protocol \"ext\"]\n\tallow = always\n", "protocol \"ext\" allow = always\n");
        check("[sendemail]\n\tto = a\n\ttoCmd = x\n", "sendemail toCmd = x\n");
        check("[imap]\n\thost = a\n\ttunnel = x\n", "imap tunnel = x\n");
        check("[diff \"a]\"] textconv = x\n", "diff \"a]\" textconv = x\n");
        check("[diff \"a\\\"]\"] textconv = x\n", "diff \"a\\\"]\" textconv = x\n");
        check("[user] [diff \"a\"] textconv = x\n", "diff \"a\" textconv = x\n");
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
            &["~/.bash_profile", "tools/hooks/pre-push"],
            Some(
                "2 changed files run later without being asked: ~/.bash_profile (by a program at its next start), \
                 tools/hooks/pre-push (by git)",
            ),
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
