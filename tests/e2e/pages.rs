//! What pages tell users to type exists: commands with their flags, keys of the configuration, commands of the editors,
//! and the messages that the page for troubleshooting quotes. Links are checked in `structure`.

mod quoted;
mod spans;

use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_core::settings::{Layer, LayerKind, resolve};

use crate::cli::{Ran, Terminal};
use spans::{Page, command_lines};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages for users and contributors.
fn pages() -> Vec<Page> {
    let folders = ["server", "server/guide", "editors", "editors/vscode", "editors/nvim", ".github"];
    let entries = folders.iter().flat_map(|it| fs::read_dir(root().join(it)).expect("a folder of pages"));
    let files = entries.map(|it| it.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.extension().is_some_and(|end| end == "md")).collect();
    files.push(root().join("README.md"));
    files.sort();
    // It also names what existed before.
    files.retain(|it| !it.ends_with("CHANGELOG.md"));
    files.iter().map(|it| Page::new(name(it), &fs::read_to_string(it).expect("a page"))).collect()
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Why the program does not take a command line; `--help` at its end keeps it from running.
fn refusal(terminal: &Terminal, line: &[String]) -> Option<String> {
    let args: Vec<&str> = line.iter().map(String::as_str).collect();
    let args = match args.as_slice() {
        // Read before any subcommand, or started by loopkeeper itself.
        [] | ["--stdio" | "--version" | "keeper" | "domain", ..] | ["hook", "EVENT" | "session", ..] => {
            return None;
        }
        ["help", rest @ ..] => [&["help"], rest].concat(),
        all => [all, &["--help"]].concat(),
    };
    let ran = terminal.run(&args);
    (ran.code != Some(0)).then(|| format!("{}: {}", line.join(" "), ran.stderr.trim()))
}

/// What the program refuses of a page.
fn refused_commands(terminal: &Terminal, page: &Page) -> Vec<String> {
    command_lines(page).iter().filter_map(|it| refusal(terminal, it)).collect()
}

#[test]
fn every_command_of_a_page_is_known_with_its_flags() {
    let terminal = Terminal::new();
    let pages = pages();
    let found: usize = pages.iter().map(|it| command_lines(it).len()).sum();
    assert!(found > 150, "only {found} commands were found");
    let refused = pages.iter().flat_map(|page| {
        let lines = refused_commands(&terminal, page);
        lines.into_iter().map(|it| format!("{}: {it}", page.name))
    });
    assert_eq!(refused.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let terminal = Terminal::new();
    let check = |text: &str, wrong: &[&str]| {
        let found = refused_commands(&terminal, &Page::new("page.md".to_owned(), text));
        let starts: Vec<&str> = found.iter().filter_map(|it| it.split(": error").next()).collect();
        assert_eq!(starts, wrong, "{text}");
    };
    check("`loopkeeper run --trust`, `loopkeeper stop --now`", &[]);
    check("Type `loopkeeper runn`.", &["runn"]);
    check("`loopkeeper stop --force`", &["stop --force"]);
    check("`run --max-iteration 3`", &["run --max-iteration 3"]);
    check("```sh\ncd x && loopkeeper check --fast  # quick\n```", &["check --fast"]);
    check("```sh\nA=1 loopkeeper gc --dry | less\n```", &["gc --dry"]);
    check("```sh\ncargo run --profile demo -- dmo\n```", &["dmo"]);
    check("| `loopkeeper reset agent` |", &["reset agent"]);
}

#[test]
fn the_first_commands_for_a_user_run() {
    let terminal = Terminal::new();
    let project = terminal.root().join("demo");
    let pages = pages();
    let page = pages.iter().find(|it| it.name.ends_with("FIRST-LOOP.md")).expect("the page");
    let block = page.fences("sh").next().expect("its first commands");
    let block = block.replace("~/ralph-demo", &project.to_string_lossy());
    let lines = command_lines(&Page::new(page.name.clone(), &format!("```sh\n{block}```\n")));
    assert!(lines.len() > 3, "{lines:?}");
    for line in lines {
        let args: Vec<&str> = line.iter().map(String::as_str).collect();
        let folder = if project.exists() { project.clone() } else { terminal.root() };
        let output = terminal.command(&args).current_dir(folder).output().expect("the binary starts");
        Ran::of(&output).expect(0);
    }
}

/// What prevents a start of a task that a page shows.
fn task_errors(task: &str) -> Option<String> {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", task);
    let ran = terminal.run(&["check", "--lint"]);
    (ran.code == Some(2)).then(|| format!("{task}\n{}{}", ran.stdout, ran.stderr))
}

#[test]
fn every_task_of_a_page_can_start() {
    let is_task = |it: &&str| ["## Done when", "## 完成标准"].iter().any(|heading| it.contains(heading));
    let pages = pages();
    let tasks = pages.iter().flat_map(|page| page.fences("markdown")).filter(is_task);
    let errors: Vec<Option<String>> = tasks.map(task_errors).collect();
    assert!(errors.len() >= 4, "only {} tasks were found", errors.len());
    assert_eq!(errors.into_iter().flatten().collect::<Vec<_>>(), [""; 0]);
    assert!(
        task_errors("# A\n\nDo it.\n\n## Done when\n\n- A: `exist x`\n").is_some(),
        "a check that is none"
    );
}

/// The mistakes of a block of configuration. A block may belong into the user's own file.
fn mistakes(block: &str) -> Vec<String> {
    let read = |kind: LayerKind| {
        let layer = Layer { kind, file: "loopkeeper.toml".to_owned(), text: block.to_owned() };
        let resolved = resolve(&[layer], &[]);
        let errors = resolved.settings().err().map(<[_]>::to_vec).unwrap_or_default();
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let here = read(LayerKind::Workspace);
    if here.is_empty() || read(LayerKind::User).is_empty() { Vec::new() } else { here }
}

#[test]
fn every_configuration_of_a_page_is_valid() {
    // Those of Helix are tried in Helix.
    let pages: Vec<Page> = pages().into_iter().filter(|it| it.name != "editors/helix.md").collect();
    let blocks: Vec<(&str, &str)> = pages
        .iter()
        .flat_map(|page| page.fences("toml").map(|it| (page.name.as_str(), it)).collect::<Vec<_>>())
        .collect();
    assert!(blocks.len() >= 8, "only {} blocks were found", blocks.len());
    for (page, block) in blocks {
        assert_eq!(mistakes(block), [""; 0], "{page}:\n{block}");
    }
}

#[test]
fn a_wrong_key_and_a_wrong_value_are_found() {
    assert_eq!(mistakes("[limits]\niterations = 3\n"), [""; 0]);
    assert_eq!(mistakes("[max]\niterations = 3\n"), [""; 0], "in the user's own file");
    assert_eq!(mistakes("[limits]\niteration = 3\n").len(), 1);
    assert_eq!(mistakes("[limits]\niterations = 0\n").len(), 1);
}

/// Commands of Neovim and titles of Visual Studio Code that no client has.
fn unknown_client_commands(page: &Page) -> Vec<String> {
    let lua = fs::read_to_string(root().join("editors/nvim/lua/loopkeeper/commands.lua")).expect("a module");
    let texts =
        fs::read_to_string(root().join("editors/vscode/package.nls.json")).expect("texts of the manifest");
    let mut unknown = Vec::new();
    for word in page.words_after(":Ralph ") {
        let name = word.trim_end_matches('!');
        if name.starts_with(|it: char| it.is_ascii_lowercase()) && !lua.contains(&format!("'{name}'")) {
            unknown.push(format!(":Ralph {word}"));
        }
    }
    for title in page.titles_after("Ralph: ") {
        if !texts.contains(&format!(": \"{title}\"")) {
            unknown.push(format!("Ralph: {title}"));
        }
    }
    unknown
}

#[test]
fn every_command_of_an_editor_exists() {
    for page in pages() {
        assert_eq!(unknown_client_commands(&page), [""; 0], "{}", page.name);
    }
}

#[test]
fn a_command_that_no_editor_has_is_found() {
    let check = |text: &str, expect: &[&str]| {
        assert_eq!(unknown_client_commands(&Page::new("page.md".to_owned(), text)), expect, "{text}");
    };
    check("`:Ralph stop!` and *Ralph: Start Loop*, **Ralph: Steer…**", &[]);
    check("`:Ralph go`", &[":Ralph go"]);
    check("*Ralph: Begin*", &["Ralph: Begin"]);
}
