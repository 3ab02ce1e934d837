//! An editor's views of a task: results of real checks as lenses, actions, hovers and symbols, in the form that the
//! client supports.

use std::time::Instant;

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::support::lsp::{Editor, Reply, uri};
use crate::support::world::TIMEOUT;

const PROMPT: &str = "# Pay 😀\n\nDone when:\n\n- 😀 tests: `$ sh t.sh`\n- the file: `exists done.txt`\n- bare: `cargo test`\n";

/// One terminal with a checked task, open in an editor.
struct TaskFixture {
    terminal: Terminal,
    editor: Editor,
    file: String,
}

impl TaskFixture {
    /// `capabilities` are those of `textDocument`.
    fn new(capabilities: &Value, encodings: &Value) -> Self {
        let terminal = Terminal::new();
        terminal
            .file("PROMPT.md", PROMPT)
            .file("t.sh", "echo '[x](command:evil)'\necho t.sh:1: bad\nexit 1\n");
        let mut editor = Editor::start(server(&terminal));
        let general = json!({"positionEncodings": encodings});
        let more = json!({"capabilities": {"general": general, "textDocument": capabilities}});
        editor.initialize(&terminal.root(), &more);
        let file = uri(&terminal.root().join("PROMPT.md"));
        let mut fixture = Self { terminal, editor, file };
        fixture.open("PROMPT.md", PROMPT);
        fixture.check();
        fixture
    }

    /// Trusts the commands on the page, runs the checks, and waits until all work is finished.
    fn check(&mut self) {
        let page = self.editor.request("loopkeeper/trustPage", &json!({"task": self.file}));
        let trust = json!({"task": self.file, "hash": page["hash"]});
        for (command, argument) in [("trust", trust), ("check", json!({"task": self.file}))] {
            let command = format!("loopkeeper.server.{command}");
            self.editor
                .request("workspace/executeCommand", &json!({"command": command, "arguments": [argument]}));
        }
        let codes = |it: &Value| it["params"]["diagnostics"].to_string().contains("\"failing\"");
        self.editor.until("failure", |it| it["method"] == "textDocument/publishDiagnostics" && codes(it));
        let until = Instant::now() + TIMEOUT;
        while !self.lenses().contains(&"0: ▶ Start loop".to_owned()) {
            assert!(Instant::now() < until, "checks never end");
        }
    }

    fn open(&mut self, name: &str, text: &str) {
        let file = uri(&self.terminal.root().join(name));
        let document = json!({"uri": file, "version": 1, "languageId": "x", "text": text});
        self.editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
        self.file = file;
    }

    fn change(&self, text: &str) {
        let id = json!({"uri": self.file, "version": 2});
        let changes = json!([{"text": text}]);
        self.editor.notify("textDocument/didChange", &json!({"textDocument": id, "contentChanges": changes}));
    }

    #[track_caller]
    fn ask(&mut self, method: &str, more: &Value) -> Value {
        let mut params = json!({"textDocument": {"uri": self.file}});
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        self.editor.request(method, &params)
    }

    /// `line: title` of each lens.
    #[track_caller]
    fn lenses(&mut self) -> Vec<String> {
        let all = self.ask("textDocument/codeLens", &json!({}));
        let lens = |it: &Value| {
            let title = it["command"]["title"].as_str().unwrap();
            format!("{}: {}", it["range"]["start"]["line"], title.split(" · ").next().unwrap())
        };
        all.as_array().unwrap().iter().map(lens).collect()
    }

    #[track_caller]
    fn actions(&mut self, line: u32, context: &Value) -> Vec<Value> {
        let at = json!({"line": line, "character": 4});
        let more = json!({"range": {"start": at, "end": at}, "context": context});
        self.ask("textDocument/codeAction", &more).as_array().unwrap().clone()
    }

    #[track_caller]
    fn hover(&mut self, line: u32, character: u32) -> Value {
        self.ask("textDocument/hover", &json!({"position": {"line": line, "character": character}}))
    }

    /// The actions offered there.
    #[track_caller]
    fn completion_items(&mut self, line: u32, character: u32) -> Vec<Value> {
        let more = json!({"position": {"line": line, "character": character}});
        let all = self.ask("textDocument/completion", &more);
        all.as_array().or_else(|| all["items"].as_array()).cloned().unwrap_or_default()
    }

    /// The labels offered there.
    #[track_caller]
    fn completions(&mut self, line: u32, character: u32) -> Vec<String> {
        let all = self.completion_items(line, character);
        all.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    }
}

fn full() -> Value {
    json!({
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
            "isPreferredSupport": true
        },
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
    })
}

fn rich() -> TaskFixture {
    TaskFixture::new(&full(), &json!(["utf-16"]))
}

fn titles(all: &[Value]) -> Vec<&str> {
    all.iter().map(|it| it["title"].as_str().unwrap()).collect()
}

#[test]
fn results_are_lenses_above_their_lines() {
    let mut fixture = rich();
    assert_eq!(
        fixture.lenses(),
        [
            "0: ▶ Start loop",
            "0: Run checks",
            "4: ✗ exit 1",
            "4: Run",
            "4: Output",
            "5: ✗ done.txt does not exist",
            "5: Run"
        ]
        .map(str::to_owned)
    );
    // The text moves, the results stay with their criteria; no range is taken from the saved file.
    fixture.change(&PROMPT.replace("# Pay", "intro\n\n# Pay"));
    let moved = fixture.lenses();
    assert!(moved.contains(&"6: Run".to_owned()) && moved.contains(&"7: Run".to_owned()), "{moved:?}");
    fixture.change("# Pay\n");
    assert_eq!(fixture.lenses(), ["0: ▶ Start loop", "0: Run checks"].map(str::to_owned));
    fixture.change("");
    assert_eq!(fixture.lenses(), ["0: ▶ Start loop", "0: Run checks"].map(str::to_owned));
    fixture.editor.quit();
}

#[test]
fn columns_are_those_of_the_open_text() {
    let check = |encoding: &str, begin: u32, end: u32| {
        let mut fixture = TaskFixture::new(&full(), &json!([encoding]));
        let range = fixture.hover(4, 8)["range"].clone();
        assert_eq!(
            (&range["start"], &range["end"]),
            (&json!({"line": 4, "character": begin}), &json!({"line": 4, "character": end}))
        );
        fixture.editor.quit();
    };
    check("utf-16", 2, 23);
    check("utf-8", 2, 25);
}

#[test]
fn everything_can_be_done_without_lenses() {
    let mut fixture = rich();
    let all = fixture.actions(4, &json!({"diagnostics": []}));
    assert_eq!(
        titles(&all),
        [
            "Run check \"😀 tests\"",
            "Show output of \"😀 tests\"",
            "Start loop \"Pay 😀\"",
            "Run all checks of \"Pay 😀\"",
            "Withdraw trust in the commands of \"Pay 😀\"",
        ]
    );
    assert!(all.iter().all(|it| it["kind"].as_str().unwrap().starts_with("source.loopkeeper.")));
    let only = fixture.actions(4, &json!({"diagnostics": [], "only": ["source.loopkeeper.start"]}));
    assert_eq!(titles(&only), ["Start loop \"Pay 😀\""]);
    assert_eq!(only[0]["command"]["command"], "loopkeeper.server.start");
    assert_eq!(only[0]["command"]["arguments"], json!([{"task": fixture.file}]));
    fixture.editor.quit();
    // A client that only supports commands gets commands.
    let mut plain = TaskFixture::new(&json!({}), &json!(["utf-16"]));
    let all = plain.actions(6, &json!({"diagnostics": []}));
    assert!(all.iter().all(|it| it["command"].is_string()), "{all:#?}");
    assert!(titles(&all).contains(&"Start loop \"Pay 😀\""));
    plain.editor.quit();
}

#[test]
fn quick_fixes_edit_the_open_text() {
    let mut fixture = rich();
    let place = json!({"start": {"line": 6, "character": 8}, "end": {"line": 6, "character": 20}});
    let given = json!({"range": place, "code": "not-a-check", "source": "ralph", "message": "m"});
    let other = json!({"range": place, "code": "other", "message": "m"});
    let all = fixture.actions(6, &json!({"diagnostics": [given, other], "only": ["quickfix"]}));
    assert_eq!(all.len(), 0, "the place is behind the cursor");
    let at = json!({"start": {"line": 6, "character": 9}, "end": {"line": 6, "character": 9}});
    let context = json!({"diagnostics": [given, other], "only": ["quickfix"]});
    let all = fixture.ask("textDocument/codeAction", &json!({"range": at, "context": context}));
    assert_eq!(all[0]["title"], "Make it a check: `$ cargo test`");
    assert_eq!(all[0]["isPreferred"], true);
    assert_eq!(all[0]["diagnostics"], json!([given]));
    assert_eq!(
        all[0]["edit"]["changes"][&fixture.file],
        json!([{"range": place, "newText": "`$ cargo test`"}])
    );
    fixture.editor.quit();
}

#[test]
fn hovers_are_in_the_format_of_the_client_and_never_markup_of_others() {
    let mut fixture = rich();
    let shown = fixture.hover(4, 8)["contents"].clone();
    assert_eq!(shown["kind"], "markdown");
    let text = shown["value"].as_str().unwrap();
    for part in
        ["**😀 tests**", "```\n$ sh t.sh\n```", "It must exit 0.", "```\n[x](command:evil)\nt.sh:1: bad\n```"]
    {
        assert!(text.contains(part), "{text}");
    }
    let heading = fixture.hover(0, 3)["contents"]["value"].clone();
    assert!(heading.as_str().unwrap().contains("Idle"), "{heading}");
    assert_eq!(fixture.hover(1, 0), Value::Null);
    // Where a cursor is that came by line: on the marker of the item.
    assert_eq!(fixture.hover(4, 0)["contents"], shown);
    fixture.editor.quit();
    let mut plain = TaskFixture::new(&json!({}), &json!(["utf-16"]));
    let shown = plain.hover(4, 8)["contents"].clone();
    assert_eq!(shown["kind"], "plaintext");
    assert!(shown["value"].as_str().unwrap().starts_with("😀 tests\n\n✗ "), "{shown}");
    plain.editor.quit();
}

#[test]
fn the_outline_is_a_tree_where_the_client_knows_trees() {
    let mut fixture = rich();
    let tree = fixture.ask("textDocument/documentSymbol", &json!({}));
    assert_eq!(tree[0]["name"], "Pay 😀");
    assert_eq!(tree[0]["children"].as_array().unwrap().len(), 3);
    assert_eq!(tree[0]["children"][2]["detail"], "no check");
    fixture.editor.quit();
    let mut plain = TaskFixture::new(&json!({}), &json!(["utf-16"]));
    let list = plain.ask("textDocument/documentSymbol", &json!({}));
    let names: Vec<_> = list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4);
    assert_eq!(names[3], "bare: cargo test · no check");
    assert_eq!(list[3]["containerName"], "Pay 😀");
    plain.editor.quit();
}

#[test]
fn paths_of_the_context_are_links() {
    let mut fixture = rich();
    fixture.terminal.file("lib/a b.rs", "one\ntwo\n");
    let context = "# Pay\n\nCONTEXT:\n\n- Keep to lib/ and nowhere/x.rs\n- 😀 `lib/a b.rs:2`\n- ../outside\n";
    fixture.change(context);
    let links = fixture.ask("textDocument/documentLink", &json!({}));
    let root = uri(&fixture.terminal.root().canonicalize().unwrap());
    let at = |line: u32, from: u32, to: u32| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    let expect = json!([
        {"range": at(4, 10, 14), "target": format!("{root}/lib")},
        {"range": at(5, 5, 19), "target": format!("{root}/lib/a%20b.rs#L2")},
    ]);
    assert_eq!(links, expect);
    fixture.editor.quit();
}

#[test]
fn commands_and_files_of_the_project_are_completed_before_anything_is_trusted() {
    let mut fixture = rich();
    fixture.terminal.file("Makefile", "test:\n\ttrue\n");
    fixture
        .terminal
        .file(".gitignore", "*.o\n")
        .file("lib/a.go", "")
        .file("lib/b.go", "")
        .file("lib/c.o", "");
    fixture.change("# Pay\n\nDone when:\n\n- 😀: `$ ma\n- 😀: `exists lib/\n");
    let shown = |all: &[Value]| -> Vec<String> {
        all.iter().map(|it| format!("{}: {}", it["label"], it["detail"]).replace('"', "")).collect()
    };
    let commands = fixture.completion_items(4, 11);
    assert_eq!(shown(&commands), ["$ make test: from Makefile"]);
    let at = |line: u32, from: u32, to: u32| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    assert_eq!(commands[0]["textEdit"], json!({"range": at(4, 7, 11), "newText": "$ make test"}));
    let files = fixture.completion_items(5, 18);
    let expect = ["lib/a.go: 1 file", "lib/b.go: 1 file", "lib/**: 2 files", "lib/**/*.go: 2 files"];
    assert_eq!(shown(&files), expect);
    assert_eq!(files[0]["textEdit"]["range"], at(5, 14, 18));
    fixture.editor.quit();
}

#[test]
fn commands_of_the_project_are_added_as_criteria() {
    let mut fixture = rich();
    fixture.terminal.file("Makefile", "test:\n\ttrue\nlint:\n\ttrue\n");
    fixture.change("# Pay\n\n## Done when\n");
    let all = fixture.actions(2, &json!({"diagnostics": []}));
    let added = ["Add criterion: `$ make test`", "Add criterion: `$ make lint`"];
    assert!(titles(&all)[0].starts_with("Write criteria for this task: "));
    assert_eq!(titles(&all)[1..3], added);
    let edit = &all[1]["edit"]["changes"][&fixture.file][0];
    assert_eq!(edit["newText"], "\n\n- All tests pass: `$ make test`");
    fixture.editor.quit();
}

#[test]
fn configuration_and_checks_are_completed_and_explained() {
    let mut fixture = rich();
    fixture.change("# Pay\n\nDone when:\n\n- a: `\n\nsome `prose");
    assert_eq!(fixture.completions(4, 6)[0], "$ command");
    assert_eq!(fixture.completions(6, 8), Vec::<String>::new());
    fixture.open("notes.md", "- a: `\n");
    assert_eq!(fixture.completions(0, 6), Vec::<String>::new(), "no task");
    fixture.open("loopkeeper.toml", "[limits]\niter\ngrace = \"5s\"\nidle_tim = 3\n");
    assert!(fixture.completions(1, 4).contains(&"iterations".to_owned()));
    let grace = fixture.hover(2, 2)["contents"]["value"].clone();
    assert!(grace.as_str().unwrap().contains("killing it"), "{grace}");
    fixture.change("[limits]\nidle_tim = \"3m\"\n");
    let all = fixture.actions(1, &json!({"diagnostics": []}));
    assert_eq!(titles(&all), ["Write idle_time"]);
    fixture.editor.quit();
}

#[test]
fn other_documents_show_nothing() {
    let mut fixture = rich();
    fixture.open("notes.md", "# Notes\n");
    for method in ["textDocument/codeLens", "textDocument/documentSymbol"] {
        assert_eq!(fixture.ask(method, &json!({})), Value::Null);
    }
    fixture.file = uri(&fixture.terminal.root().join("never-opened.md"));
    assert_eq!(fixture.hover(0, 0), Value::Null);
    fixture.file = "untitled:Untitled-1".to_owned();
    assert_eq!(fixture.hover(0, 0), Value::Null);
    fixture.editor.quit();
}

#[test]
fn trust_is_given_by_an_action_alone() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Pay\n\nDone when:\n\n- a: `$ true`\n");
    let mut editor = Editor::start(server(&terminal));
    let can = json!({"window": {"showMessage": {}, "showDocument": {"support": true}}});
    editor.initialize(&terminal.root(), &json!({"capabilities": can}));
    editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Trust"})));
    editor.answers("window/showDocument", Reply::With(json!({"success": true})));
    let file = uri(&terminal.root().join("PROMPT.md"));
    let mut fixture = TaskFixture { terminal, editor, file };
    fixture.open("PROMPT.md", "# Pay\n\nDone when:\n\n- a: `$ true`\n");
    assert_eq!(fixture.lenses()[2], "4: needs trust");
    let all = fixture.actions(0, &json!({"diagnostics": []}));
    let trust =
        all.iter().find(|it| it["title"] == "Read and trust the commands of \"Pay\"…").expect("offered");
    let done = fixture.editor.request("workspace/executeCommand", trust);
    let page = fixture.editor.until("page", |it| it["method"] == "window/showDocument")["params"].clone();
    assert_eq!(page["uri"], done["uri"]);
    let until = Instant::now() + TIMEOUT;
    while fixture.lenses()[2] != "4: not checked yet" {
        assert!(Instant::now() < until, "it is never trusted: {:#?}", fixture.editor.messages());
    }
    let all = fixture.actions(0, &json!({"diagnostics": []}));
    assert!(titles(&all).contains(&"Withdraw trust in the commands of \"Pay\""), "{all:#?}");
    fixture.editor.quit();
}
