//! Workspaces of other tools, one for each and for older versions that are still common (`tests/fixtures/workspaces`):
//! recognised without a question, their items at their places, a loop completes, and only the agent changes a file.

mod expected;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::lsp::{Editor, uri};
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::World;

/// What is expected of the workspace in a folder.
struct Workspace<'a> {
    folder: &'a str,
    /// The task that `run` takes.
    task: &'a str,
    /// Its criteria and items in the outline of each document: `FILE: TEXT`, the text being that at their place.
    outline: &'a [&'a str],
    /// Parts of the first prompt.
    prompt: &'a [&'a str],
    /// Parts of what a dry run shows.
    shows: &'a [&'a str],
    /// Arguments of the start.
    args: &'a [&'a str],
    /// What the agent does.
    act: &'a str,
}

impl Workspace<'_> {
    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/workspaces").join(self.folder)
    }

    fn play(&self) {
        let copy = format!("cp -a '{}/.' .", self.path().display());
        let args = ["--agent", "mine", self.task];
        let args: Vec<&str> = args.into_iter().chain(self.args.iter().copied()).collect();
        let scenario = Scenario {
            before: &copy,
            args: &args,
            acts: &[self.act],
            ends: self.ends(),
            ..Scenario::default()
        };
        let world = scenario.world();
        self.is_recognised(&world);
        assert_eq!(self.outline(&world), self.outline, "outline");
        let played = scenario.play();
        for text in self.prompt {
            played.prompt_has(1, text);
        }
        played.prompt_lacks(1, "{{");
        assert_eq!(tree(&played.world.root()), self.changed_by_agent(), "files");
    }

    /// Where some criterion has no check, the agent claims that it is done.
    fn ends(&self) -> Ends<'_> {
        if self.act.contains("<promise>") { Ends::Claimed(1, "") } else { Ends::Verified(1, "") }
    }

    /// In terminals, where `init` writes nothing beside it.
    fn is_recognised(&self, world: &World) {
        world.terminal.run(&["status"]).expect(0).out(self.task);
        world.terminal.run(&["init"]).expect(2).err("a task document already exists").err(self.task);
        let plan = world.terminal.run(&["run", "--dry-run", "--agent", "mine"]);
        plan.expect(0).out(&format!("Task      {}\n", self.task));
        for text in self.shows {
            plan.out(text);
        }
    }

    /// The leaves of the outline of each document of the workspace.
    fn outline(&self, world: &World) -> Vec<String> {
        let mut editor = Editor::start(world.terminal.command(&["--stdio"]));
        let symbols = json!({"hierarchicalDocumentSymbolSupport": true});
        editor.initialize(
            &world.root(),
            &json!({"capabilities": {"textDocument": {"documentSymbol": symbols}}}),
        );
        let mut found = Vec::new();
        for (path, bytes) in tree(&self.path()) {
            let text = String::from_utf8(bytes).expect("text");
            let file = uri(&world.root().canonicalize().expect("a real path").join(&path));
            let document = json!({"uri": file, "version": 1, "languageId": "markdown", "text": text});
            editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
            let shown =
                editor.request("textDocument/documentSymbol", &json!({"textDocument": {"uri": file}}));
            leaves(&shown, &mut |it| found.push(format!("{path}: {}", slice(&text, &it["selectionRange"]))));
        }
        editor.quit();
        found
    }

    /// The files as they are after the agent's act alone.
    fn changed_by_agent(&self) -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = format!("cp -a '{}/.' . && {{ {}\n}}", self.path().display(), self.act);
        let ran = Command::new("sh").args(["-ec", &script]).current_dir(folder.path()).output();
        assert!(ran.expect("a shell").status.success(), "{script}");
        tree(folder.path())
    }
}

/// The files below a folder, except the configuration that only the test has.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below it").to_string_lossy().into_owned();
            if path.is_dir() {
                waiting.push(path);
            } else if name != "loopkeeper.toml" {
                found.insert(name, fs::read(&path).expect("a readable file"));
            }
        }
    }
    found
}

fn leaves(symbols: &Value, take: &mut dyn FnMut(&Value)) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let children = &symbol["children"];
        if children.as_array().is_some_and(|it| !it.is_empty()) {
            leaves(children, take);
        } else {
            take(symbol);
        }
    }
}

/// The text of a range whose characters are UTF-16 units.
fn slice(text: &str, range: &Value) -> String {
    let byte = |at: &Value| {
        let number = |it: &Value| usize::try_from(it.as_u64().expect("a number")).expect("small");
        let line = number(&at["line"]);
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = number(&at["character"]);
        let mut end = start;
        for char in text[start..].chars() {
            if units == 0 {
                break;
            }
            units = units.checked_sub(char.len_utf16()).expect("on a boundary of characters");
            end += char.len_utf8();
        }
        end
    };
    text[byte(&range["start"])..byte(&range["end"])].to_owned()
}
