//! Finds the files of other tools that belong to a task without being named by it: commands that must pass, texts for
//! the prompt, tasks of a run. Lists only folders with known names, and reads only small files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config_text;
use loopkeeper_text::yaml;

/// The files for the task at `path`, most of which are in its folder.
pub(super) fn gate_files(root: &Path, path: &Path) -> Vec<PathBuf> {
    let Some(folder) = path.parent() else { return Vec::new() };
    let is_file = |it: &PathBuf| it.symlink_metadata().is_ok_and(|it| it.is_file());
    let mut named = vec![folder.join(".ralphy/config.yaml"), folder.join(".ralph.toml")];
    named.extend(orchestrator_files(root, path, folder));
    if folder.ends_with(".ralph") {
        named.push(folder.join("config.jsonc"));
        if path.ends_with("tasks.yml") {
            named.extend(folder.parent().map(|it| it.join(".ralph.toml")));
        }
    }
    if folder.ends_with("prd") {
        named.extend(folder.parent().map(|it| it.join(".ralphy/config.yaml")));
    }
    named.extend(issues_of(path, folder));
    if path.ends_with("PRD.md") {
        named.extend(["run-config.json", "verification.json"].map(|it| folder.join(".ralph").join(it)));
    }
    named.extend(quality_gates(folder));
    named.into_iter().chain(check_and_context_files(folder)).filter(is_file).collect()
}

/// The tasks of a run and the gates of a `ralph.yml`: the one in the folder of the task, or one above it that names the
/// task as its prompt.
fn orchestrator_files(root: &Path, path: &Path, folder: &Path) -> Vec<PathBuf> {
    const NAME: &str = "ralph.yml";
    let is_home = |it: &&Path| {
        let config = it.join(NAME);
        if *it == folder { config.exists() } else { names_prompt(&config, it, path) }
    };
    let Some(home) = folder.ancestors().take_while(|it| it.starts_with(root)).find(is_home) else {
        return Vec::new();
    };
    let config = home.join(NAME);
    let has_gates = || config != path && has_line(&config, |it| it.starts_with("gates:"));
    let gates = has_gates().then(|| config.clone());
    std::iter::once(home.join(".ralph/agent/tasks.jsonl")).chain(gates).collect()
}

fn names_prompt(config: &Path, folder: &Path, prompt: &Path) -> bool {
    const KEYS: [&str; 2] = ["event_loop.prompt_file", "prompt_file"];
    let text = config_text::read_text(config).ok().flatten().unwrap_or_default();
    yaml::scalars(&text).iter().any(|it| {
        KEYS.contains(&it.path.as_str()) && folder.join(it.value.trim_start_matches("./")) == prompt
    })
}

/// The issues of Beads, for a prompt that lets the agent ask for them.
fn issues_of(path: &Path, folder: &Path) -> Option<PathBuf> {
    const COMMANDS: [&str; 4] = ["bd ready", "bd close", "br ready", "br close"];
    let above = folder.parent().filter(|_| folder.ends_with(".ralph"));
    let above = above.or_else(|| folder.ancestors().nth(2).filter(|_| folder.ends_with("scripts/ralph")));
    let beads = std::iter::once(folder).chain(above).map(|it| it.join(".beads")).find(|it| it.is_dir())?;
    let issues =
        ["issues.jsonl", "beads.jsonl"].map(|it| beads.join(it)).into_iter().find(|it| it.is_file())?;
    let asks = |line: &str| COMMANDS.iter().any(|it| line.contains(it));
    (path != issues && has_line(path, asks)).then_some(issues)
}

/// Checks, contexts and instructions, each in a separate folder.
fn check_and_context_files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.join(".ralphify"), folder.join(".ralph")];
    // `.ralphify/ralphs/NAME` has its own besides those for all.
    if let Some(above) = folder.parent().filter(|it| it.ends_with(".ralphify/ralphs")) {
        folders.extend(above.parent().map(Path::to_owned));
        folders.push(folder.to_owned());
    }
    folders.retain(|it| it.is_dir());
    let mut found = Vec::new();
    for (kind, file) in
        [("checks", "CHECK.md"), ("contexts", "CONTEXT.md"), ("instructions", "INSTRUCTION.md")]
    {
        for place in &folders {
            found.extend(folders_in(&place.join(kind)).into_iter().map(|it| script_or(&it, file)));
        }
    }
    found
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    found.sort();
    found
}

/// The script of a check, or its description: one with a script states only whether the check is enabled.
fn script_or(folder: &Path, file: &str) -> PathBuf {
    let description = folder.join(file);
    let is_script = |it: &PathBuf| it.file_stem().is_some_and(|it| it == "run");
    let script = folders_in(folder).into_iter().find(is_script).filter(|_| file == "CHECK.md");
    let is_off = || has_line(&description, |it| it == "enabled: false");
    script.filter(|_| !is_off()).unwrap_or(description)
}

/// The `.ralphrc` of a folder, or of the one around `.ralph`, if it names commands that must pass or optional sections.
fn quality_gates(folder: &Path) -> Option<PathBuf> {
    const KEYS: [&str; 3] = ["TEST_COMMAND=", "QUALITY_GATES=", "OPTIONAL_SECTIONS="];
    let own = folder.join(".ralphrc");
    let above = folder.parent().filter(|_| folder.ends_with(".ralph")).map(|it| it.join(".ralphrc"));
    let is_read = |it: &str| KEYS.iter().any(|key| it.trim_start_matches("export ").starts_with(key));
    std::iter::once(own).chain(above).find(|it| has_line(it, is_read))
}

/// Whether a small file has a line like this, without its indentation.
fn has_line(path: &Path, matches: impl Fn(&str) -> bool) -> bool {
    let text = config_text::read_text(path).ok().flatten().unwrap_or_default();
    text.trim_start_matches('\u{feff}').lines().any(|it| matches(it.trim()))
}
