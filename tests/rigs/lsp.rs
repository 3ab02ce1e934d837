//! Complete sessions of the real server, recorded between it and its client and checked with the types and rules of the
//! specification (`lsp/record.py`, `lsp/check.py`): without findings, for clients with all capabilities and for one
//! with none.
//!
//! `LOOPKEEPER_TEST_PYTHON` names the Python with the types (`tests/tools/python.sh` prints it).

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::lsp::{Editor, Reply, uri};
use crate::support::world::{TIMEOUT, World, wait_until};

/// One of everything that is shown: results, a location in an output, mistakes with a fix, wide characters, and harmful
/// text.
const TASK: &str = "# Pay 😀\n\nDone when:\n\n- 😀 it is there: `exists done`\n- it says so: `$ sh say.sh`\n\
    - a \u{202e}tail\u{1b}[31m: `$ printf '\\033[31m\\342\\200\\256 %s\\n' say.sh:1:2 && test -f done`\n";
const ODD: &str = "# Odd\n\nDone when:\n\n- bare: `cargo test`\n- bad: `exists`\n- only words\n";
const SETTINGS: &str = "limits.iteration = 3\n";

struct Session {
    world: World,
    editor: Editor,
    record: PathBuf,
    /// The client requested our own messages.
    is_ours: bool,
}

impl Session {
    fn begin(capabilities: &Value) -> Self {
        let world = World::new();
        world.settings("[limits]\niterations = 5\n", "");
        let waits = "while [ ! -e $folder/go ]; do echo waits; sleep 0.05; done";
        world.acts(&["echo once >> work", "echo twice >> work; touch done", waits]);
        world.terminal.file("PROMPT.md", TASK).file("say.sh", "cat done\n").file("odd.ralph.md", ODD);
        let record = world.terminal.folder().join("session.jsonl");
        let mut editor = Editor::start(recorded(&world, &record));
        editor.answers("window/showMessageRequest", Reply::With(Value::Null));
        editor.answers("window/showDocument", Reply::With(json!({"success": true})));
        let client = json!({"name": "rig", "version": "1"});
        editor.initialize(&world.root(), &json!({"capabilities": capabilities, "clientInfo": client}));
        let is_ours = capabilities["experimental"]["loopkeeper"].is_object();
        Self { world, editor, record, is_ours }
    }

    fn file(&self, name: &str) -> String {
        uri(&self.world.root().join(name))
    }

    fn open(&mut self, name: &str, text: &str) {
        let document = json!({"uri": self.file(name), "version": 1, "languageId": "markdown", "text": text});
        self.editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
        self.look(name, text);
    }

    fn change(&mut self, name: &str, version: i32, text: &str) {
        let id = json!({"uri": self.file(name), "version": version});
        let whole = json!([{"text": text}]);
        self.editor.notify("textDocument/didChange", &json!({"textDocument": id, "contentChanges": whole}));
    }

    /// Every request about a document, at every position.
    fn look(&mut self, name: &str, text: &str) {
        let document = json!({"uri": self.file(name)});
        for method in ["textDocument/documentSymbol", "textDocument/codeLens"] {
            self.editor.call(method, &json!({"textDocument": document}));
        }
        for line in 0..text.lines().count() {
            for character in [0, 3, 9, 22] {
                let at = json!({"line": line, "character": character});
                for method in ["textDocument/hover", "textDocument/completion"] {
                    self.editor.call(method, &json!({"textDocument": document, "position": at}));
                }
            }
            let at = json!({"line": line, "character": 0});
            let range = json!({"start": at, "end": at});
            let context = json!({"diagnostics": self.diagnostics(name, line)});
            let params = json!({"textDocument": document, "range": range, "context": context});
            self.editor.call("textDocument/codeAction", &params);
        }
    }

    /// The latest diagnostics of a line.
    fn diagnostics(&self, name: &str, line: usize) -> Vec<Value> {
        let (messages, file) = (self.editor.messages(), self.file(name));
        let published = messages.iter().rev().find(|it| {
            it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == file.as_str()
        });
        let all =
            published.and_then(|it| it["params"]["diagnostics"].as_array()).cloned().unwrap_or_default();
        all.into_iter().filter(|it| it["range"]["start"]["line"] == line).collect()
    }

    /// The whole response, including an error.
    fn command(&mut self, name: &str, argument: &Value) -> Value {
        let command = format!("loopkeeper.server.{name}");
        self.editor.call("workspace/executeCommand", &json!({"command": command, "arguments": [argument]}))
    }

    /// Waits until no loop or round works on the task.
    fn until_startable(&mut self) {
        let (until, file) = (Instant::now() + TIMEOUT, json!({"uri": self.file("PROMPT.md")}));
        loop {
            let lenses = self.editor.request("textDocument/codeLens", &json!({"textDocument": file}));
            if lenses.to_string().contains("Start loop") {
                return;
            }
            assert!(Instant::now() < until, "still at work: {lenses:#}");
        }
    }

    fn ours(&mut self, method: &str, params: &Value) {
        if self.is_ours {
            self.editor.call(method, params);
        }
    }

    /// Ends the session; returns the findings.
    fn judge(mut self) -> Output {
        self.editor.quit();
        self.editor.all_messages();
        judge(&self.record)
    }
}

/// A loop that is started and followed, results of checks, and every command, including refused ones.
fn whole(capabilities: &Value) -> Output {
    let mut session = Session::begin(capabilities);
    let task = json!({"task": session.file("PROMPT.md")});
    session.open("PROMPT.md", TASK);
    session.open("odd.ralph.md", ODD);
    let settings = session.world.terminal.read("loopkeeper.toml");
    session.open("loopkeeper.toml", &settings);
    session.change("loopkeeper.toml", 2, SETTINGS);
    session.look("loopkeeper.toml", SETTINGS);
    session.change("loopkeeper.toml", 3, &settings);
    session.command("start", &task);
    session.ours("loopkeeper/trustPage", &task);
    session.command("trust", &json!({"task": task["task"], "hash": "no such page"}));
    trust(&mut session);
    session.command("check", &task);
    session.until_startable();
    session.look("PROMPT.md", TASK);

    session.change("PROMPT.md", 2, &format!("{TASK}\nmore\n"));
    session.command("start", &task);
    session.change("PROMPT.md", 3, TASK);
    let file = json!({"uri": task["task"]});
    session.editor.notify("textDocument/didSave", &json!({"textDocument": file}));
    session.command("start", &task);
    session.command("start", &task);
    session.ours("loopkeeper/subscribe", &json!({"loopId": "latest", "on": true}));
    session.look("PROMPT.md", TASK);
    wait_until(|| session.world.status()["state"] == "done", || "the loop never ends".to_owned());
    // Messages that a client with support must have received, or nothing was checked.
    if session.is_ours {
        session.editor.wait_for("$/progress", |it| it["value"]["kind"] == "end");
        session.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "ended");
        session
            .editor
            .wait_for("textDocument/publishDiagnostics", |it| it.to_string().contains("\"failing\""));
    }
    afterwards(&mut session, &task);
    interrupted(&mut session, &task);
    goodbye(&mut session, &task);
    session.judge()
}

/// Valid and invalid requests about a loop that has ended.
fn afterwards(session: &mut Session, task: &Value) {
    let latest = json!({"loopId": "latest"});
    session.ours("loopkeeper/subscribe", &json!({"loopId": "latest", "on": false}));
    session.ours("loopkeeper/loops", &json!({"all": true}));
    session.ours("loopkeeper/loops", &json!({}));
    session.ours("loopkeeper/iterations", &latest);
    session.ours("loopkeeper/iterations", &json!({"loopId": "no such"}));
    session.look("PROMPT.md", TASK);
    for name in ["stop", "pause", "resume", "resetBreaker", "steer", "diff", "rollback", "output", "untrust"]
    {
        session.command(name, &latest);
    }
    session.command("output", task);
    session.command("diff", &json!({"loopId": "latest", "iteration": 1}));
    session.command("rollback", &json!({"loopId": "latest", "iteration": 0}));
}

/// A loop that receives several commands, and is stopped.
fn interrupted(session: &mut Session, task: &Value) {
    let latest = json!({"loopId": "latest"});
    let started = session.command("start", task);
    assert!(started["result"]["loopId"].is_string(), "{started:#}");
    session.world.until("agent", |it| it["type"] == "agent-started");
    session.ours("loopkeeper/subscribe", &json!({"loopId": "latest", "on": true}));
    if session.is_ours {
        session.editor.wait_for("loopkeeper/output", |_| true);
    }
    session.command("check", task);
    session.command("rollback", &json!({"loopId": "latest", "iteration": 0}));
    session.command("steer", &json!({"loopId": "latest", "text": "softly"}));
    session.command("pause", &latest);
    session.look("PROMPT.md", TASK);
    session.command("resume", &latest);
    session.command("stop", &json!({"loopId": "latest", "now": true}));
    session.world.until("end", |it| it["type"] == "ended");
    session.until_startable();
    session.look("PROMPT.md", TASK);
}

/// No trust, no folder, no documents.
fn goodbye(session: &mut Session, task: &Value) {
    session.command("untrust", task);
    session.command("start", task);
    let changed = json!([{"uri": session.file("PROMPT.md"), "type": 2}]);
    session.editor.notify("workspace/didChangeWatchedFiles", &json!({"changes": changed}));
    let folder = json!({"uri": session.file(""), "name": "work"});
    let event = json!({"added": [], "removed": [folder]});
    session.editor.notify("workspace/didChangeWorkspaceFolders", &json!({"event": event}));
    for name in ["PROMPT.md", "odd.ralph.md", "loopkeeper.toml"] {
        let file = json!({"uri": session.file(name)});
        session.editor.notify("textDocument/didClose", &json!({"textDocument": file}));
    }
}

/// Grants trust with a loop in the terminal, as every client can.
fn trust(session: &mut Session) {
    session.world.run(&["run", "PROMPT.md", "--trust", "--max-iterations", "1"]).expect(4);
}

fn recorded(world: &World, record: &PathBuf) -> Command {
    let server = world.terminal.command(&["--stdio"]);
    let mut command = Command::new(python());
    command.arg(rig("record.py")).arg(record).arg(server.get_program()).args(server.get_args());
    command.env_clear().envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(world.root());
    command
}

fn judge(record: &PathBuf) -> Output {
    Command::new(python()).arg(rig("check.py")).arg(record).output().expect("python starts")
}

fn python() -> PathBuf {
    let told = std::env::var_os("LOOPKEEPER_TEST_PYTHON");
    PathBuf::from(told.expect("LOOPKEEPER_TEST_PYTHON names the program: `tests/tools/python.sh` prints it"))
}

fn rig(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/lsp").join(name)
}

#[track_caller]
fn assert_nothing_found(judged: &Output) {
    let text = String::from_utf8_lossy(&judged.stdout);
    let errors = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success(), "{text}{errors}");
}

/// Typical capabilities of current editors.
fn everything() -> Value {
    let kinds = json!({"codeActionKind": {"valueSet": ["", "quickfix", "source"]}});
    json!({
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "window": {"workDoneProgress": true, "showMessage": {}, "showDocument": {"support": true}},
        "workspace": {
            "applyEdit": true, "configuration": true, "workspaceFolders": true,
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create"]},
            "codeLens": {"refreshSupport": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
        },
        "textDocument": {
            "publishDiagnostics": {
                "relatedInformation": true, "versionSupport": true, "dataSupport": true,
                "codeDescriptionSupport": true, "tagSupport": {"valueSet": [1, 2]},
            },
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "codeAction": {
                "codeActionLiteralSupport": kinds, "isPreferredSupport": true, "dataSupport": true,
                "disabledSupport": true,
            },
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "completion": {
                "completionItem": {"documentationFormat": ["markdown"], "labelDetailsSupport": true},
            },
        },
        "experimental": {"loopkeeper": {"version": 1}},
    })
}

#[test]
fn lsprotocol_finds_nothing_with_a_client_that_can_do_everything() {
    assert_nothing_found(&whole(&everything()));
}

#[test]
fn lsprotocol_finds_nothing_with_a_client_that_can_do_nothing() {
    assert_nothing_found(&whole(&json!({})));
}

#[test]
fn lsprotocol_finds_nothing_with_a_client_that_counts_in_utf_16_and_shows_plain_text() {
    let plain = json!({
        "window": {"showMessage": {}},
        "textDocument": {"publishDiagnostics": {}, "hover": {"contentFormat": ["plaintext"]}},
    });
    assert_nothing_found(&whole(&plain));
}

#[test]
fn lsprotocol_finds_a_careless_client() {
    let mut session = Session::begin(&everything());
    session.editor.call("textDocument/hover", &json!({"textDocument": {"uri": 7}, "more": true}));
    session.editor.notify("no/such", &Value::Null);
    let judged = session.judge();
    let text = String::from_utf8_lossy(&judged.stdout);
    assert_eq!(judged.status.code(), Some(1), "{text}");
    assert!(text.contains("client: textDocument/hover: not a HoverRequest"), "{text}");
}

#[test]
fn lsprotocol_finds_every_protocol_error() {
    let output = Command::new(python()).arg(rig("test_check.py")).output().expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
