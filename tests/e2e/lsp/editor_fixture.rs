//! An editor on a work tree with a scripted agent: a client's view of a task and its loops, and its commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::lsp::{Editor, uri};
use crate::support::scenario::Scenario;
use crate::support::world::World;

pub(crate) struct EditorFixture {
    // Dropped before the world, so that its server exits first.
    pub(crate) editor: Editor,
    pub(crate) world: World,
}

impl EditorFixture {
    /// The scenario's files, opened by an editor with all capabilities.
    pub(crate) fn open(scenario: &Scenario<'_>) -> Self {
        Self::open_as(scenario, &json!({}))
    }

    /// Like [`Self::open`]; `more` overrides the editor's capabilities.
    pub(crate) fn open_as(scenario: &Scenario<'_>, more: &Value) -> Self {
        let world = scenario.world();
        let editor = start(world.terminal.command(&["--stdio"]), &world.root(), more);
        Self { editor, world }
    }

    /// Another editor on the same work tree.
    pub(crate) fn another(&self) -> Editor {
        start(self.world.terminal.command(&["--stdio"]), &self.world.root(), &json!({}))
    }

    /// The user reviews the commands and grants trust.
    #[track_caller]
    pub(crate) fn trust(&mut self, task: &str) {
        let page = self.editor.request("loopkeeper/trustPage", &json!({"task": task}));
        self.done("trust", &json!({"task": task, "hash": page["hash"]}));
    }

    /// Trusts the task and starts it; returns its loop's id.
    #[track_caller]
    pub(crate) fn start(&mut self, task: &str) -> String {
        self.trust(task);
        self.done("start", &json!({"task": task}))["loopId"].as_str().unwrap().to_owned()
    }

    /// Runs a command that must succeed; returns its result.
    #[track_caller]
    pub(crate) fn done(&mut self, command: &str, argument: &Value) -> Value {
        done(&mut self.editor, command, argument)
    }

    /// Runs a command that must be refused with this code; returns the error.
    #[track_caller]
    pub(crate) fn refused(&mut self, command: &str, argument: &Value, code: &str) -> Value {
        refused(&mut self.editor, command, argument, code)
    }

    /// Opens a file of the work tree with its contents on disk.
    pub(crate) fn show(&self, path: &str) {
        show(&self.editor, &self.path(path));
    }

    /// Types a text without saving.
    pub(crate) fn type_into(&self, path: &str, version: i32, text: &str) {
        let document = json!({"uri": self.uri(path), "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.editor.notify("textDocument/didChange", &params);
    }

    /// Writes the file and sends the notification.
    pub(crate) fn save(&self, path: &str, text: &str) {
        self.world.terminal.file(path, text);
        self.editor.notify("textDocument/didSave", &json!({"textDocument": {"uri": self.uri(path)}}));
    }

    pub(crate) fn close(&self, path: &str) {
        self.editor.notify("textDocument/didClose", &json!({"textDocument": {"uri": self.uri(path)}}));
    }

    /// The real path, as the server names documents that are not open.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.world.root().canonicalize().unwrap().join(path)
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        uri(&self.path(path))
    }

    /// The last status, once it satisfies the condition.
    #[track_caller]
    pub(crate) fn status(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        self.editor.until_last("loopkeeper/status", |_| true, is_so)
    }

    /// The last diagnostics of a document, once they satisfy the condition.
    #[track_caller]
    pub(crate) fn remarks(&self, path: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        remarks(&self.editor, &self.uri(path), is_so)
    }
}

/// An initialised editor on `root`.
pub(crate) fn start(server: Command, root: &Path, more: &Value) -> Editor {
    let mut capabilities_params = json!({"capabilities": everything()});
    for (key, value) in more.as_object().into_iter().flatten() {
        capabilities_params[key] = value.clone();
    }
    let mut editor = Editor::start(server);
    editor.initialize(&root.canonicalize().unwrap(), &capabilities_params);
    editor
}

/// Capabilities of an editor with everything that the server uses.
pub(crate) fn everything() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "window": {"workDoneProgress": true, "showMessage": {}, "showDocument": {"support": true}},
        "workspace": {
            "codeLens": {"refreshSupport": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true},
        },
        "textDocument": {"publishDiagnostics": {"relatedInformation": true, "tagSupport": {"valueSet": [1]}}},
        "experimental": {"loopkeeper": {"version": 1}},
    })
}

/// Like [`everything`] without the capability at `path`, as in `window/showMessage`.
pub(crate) fn everything_but(path: &str) -> Value {
    let mut all = everything();
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = if parent.is_empty() { String::new() } else { format!("/{parent}") };
    all.pointer_mut(&parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    json!({"capabilities": all})
}

pub(crate) fn show(editor: &Editor, path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let document = json!({"uri": uri(path), "languageId": "markdown", "version": 1, "text": text});
    editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
}

#[track_caller]
pub(crate) fn done(editor: &mut Editor, command: &str, argument: &Value) -> Value {
    let result = editor.request("workspace/executeCommand", &named(command, argument));
    assert_eq!(result["status"]["version"], 1, "every command answers the new status: {result:#}");
    result
}

#[track_caller]
pub(crate) fn refused(editor: &mut Editor, command: &str, argument: &Value, code: &str) -> Value {
    let answer = editor.call("workspace/executeCommand", &named(command, argument));
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["data"]["code"]), (&(-32803).into(), &code.into()), "{answer:#}");
    let message = error["message"].as_str().unwrap();
    assert!(message.len() > 15, "it says what happened: {message:?}");
    error.clone()
}

fn named(command: &str, argument: &Value) -> Value {
    json!({"command": format!("loopkeeper.server.{command}"), "arguments": [argument]})
}

#[track_caller]
pub(crate) fn remarks(editor: &Editor, uri: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let list = |it: &Value| it["diagnostics"].as_array().unwrap().clone();
    let published = "textDocument/publishDiagnostics";
    list(&editor.until_last(published, |it| it["uri"] == uri, |it| is_so(&list(it))))
}

/// Whether one of them has this code.
pub(crate) fn has(remarks: &[Value], code: &str) -> bool {
    remarks.iter().any(|it| it["code"] == code)
}

/// Whether the loop with this id is in this state.
pub(crate) fn is_in(status: &Value, loop_id: &str, state: &str) -> bool {
    status["loops"].as_array().unwrap().iter().any(|it| it["id"] == loop_id && it["state"] == state)
}
