//! Diagnostics: their ranges and lifetime, and that none of them refers to another text than the one in the editor.

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};

const PROMPT: &str = "# Pay\n\nDone when:\n\n- 😀 tests: `$ sh t.sh`\n- bare: `cargo test`\n";

struct DiagnosticsFixture {
    terminal: Terminal,
    editor: Editor,
}

impl DiagnosticsFixture {
    fn new(files: &[(&str, &str)], capabilities: &Value) -> Self {
        let terminal = Terminal::new();
        for (path, text) in files {
            terminal.file(path, text);
        }
        let mut editor = Editor::start(server(&terminal));
        let text = json!({"publishDiagnostics": capabilities});
        editor.initialize(&terminal.root(), &json!({"capabilities": {"textDocument": text}}));
        Self { terminal, editor }
    }

    fn uri(&self, name: &str) -> String {
        uri(&self.terminal.root().join(name))
    }

    fn open(&self, name: &str, text: &str) {
        let document = json!({"uri": self.uri(name), "version": 1, "languageId": "x", "text": text});
        self.editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn change(&self, name: &str, version: u32, text: &str) {
        let id = json!({"uri": self.uri(name), "version": version});
        let params = json!({"textDocument": id, "contentChanges": [{"text": text}]});
        self.editor.notify("textDocument/didChange", &params);
    }

    fn execute(&mut self, command: &str, argument: &Value) {
        let command = format!("loopkeeper.server.{command}");
        self.editor
            .request("workspace/executeCommand", &json!({"command": command, "arguments": [argument]}));
    }

    fn check(&mut self) {
        let task = self.uri("PROMPT.md");
        let page = self.editor.request("loopkeeper/trustPage", &json!({"task": task}));
        self.execute("trust", &json!({"task": task, "hash": page["hash"]}));
        self.execute("check", &json!({"task": task}));
    }

    /// Waits until the document has exactly these, as `line severity code: message`.
    #[track_caller]
    fn until(&self, name: &str, expect: &[&str]) -> Value {
        let uri = self.uri(name);
        let so = |it: &Value| is_about(it, &uri) && shown(&it["params"]["diagnostics"]) == expect;
        self.editor.until(&format!("{expect:#?}"), so)["params"].clone()
    }
}

fn is_about(message: &Value, uri: &str) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
}

fn shown(diagnostics: &Value) -> Vec<String> {
    let one = |it: &Value| {
        let line = &it["range"]["start"]["line"];
        format!(
            "{line} {} {}: {}",
            it["severity"],
            it["code"].as_str().unwrap_or("-"),
            it["message"].as_str().unwrap()
        )
    };
    diagnostics.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn an_invalid_setting_is_reported_at_its_value() {
    let document = |agent: &str, more: &str| {
        format!("---\nagent: {agent}\n---\n# Pay\n\n{more}Done when:\n\n- tests: `$ sh t.sh`\n")
    };
    let fixture = DiagnosticsFixture::new(&[("PROMPT.md", &document("clade", ""))], &json!({}));
    fixture.open("PROMPT.md", &document("clade", ""));
    let unknown = "1 2 bad-value: there is no agent `clade`. Did you mean `claude`?";
    let summary = "3 4 summary: idle: 1 criterion, not checked yet";
    let said = fixture.until("PROMPT.md", &[unknown, summary, "7 4 never-run: tests: not checked yet"]);
    assert_eq!(said["diagnostics"][0]["range"]["end"]["character"], 12);
    // A hint that does not fit is left out rather than cut.
    fixture.change("PROMPT.md", 2, &document("an-agent-with-a-name-that-leaves-no-room-for-a-hint", ""));
    let no_room = "1 2 bad-value: there is no agent `an-agent-with-a-name-that-leaves-no-room-for-a-hint`";
    fixture.until("PROMPT.md", &[no_room, summary, "7 4 never-run: tests: not checked yet"]);
    // Also while the text is not saved.
    fixture.change("PROMPT.md", 3, &document("clade", "Soon.\n\n"));
    fixture.until("PROMPT.md", &[unknown, summary, "9 4 never-run: tests: not checked yet"]);
    fixture.change("PROMPT.md", 4, &document("claude", "Soon.\n\n"));
    fixture.until("PROMPT.md", &[summary, "9 4 never-run: tests: not checked yet"]);
}

#[test]
fn a_result_has_its_evidence_and_disappears_when_fixed() {
    let script = "echo first\necho src/a.py:2: bad\nexit 1\n";
    let files = [("PROMPT.md", PROMPT), ("t.sh", script), ("src/a.py", "x = 1\ny = 2\n")];
    let can = json!({"relatedInformation": true, "tagSupport": {"valueSet": [1]}});
    let mut fixture = DiagnosticsFixture::new(&files, &can);
    fixture.check();
    // Not open in an editor: results are shown, remarks on wording are not.
    let said = fixture.until(
        "PROMPT.md",
        &[
            "0 3 summary: idle: 0 of 2 criteria pass, 1 without a check",
            "4 2 failing: 😀 tests: exit 1",
            "5 2 not-a-check: `cargo test` is not run. Write `$ cargo test`.",
        ],
    );
    let failing = &said["diagnostics"][1];
    assert_eq!(failing["source"], "ralph");
    assert_eq!(failing["range"]["start"]["character"], 2);
    let related = failing["relatedInformation"].as_array().unwrap();
    assert_eq!(related[0]["location"]["uri"], fixture.uri("src/a.py"));
    assert_eq!(related[0]["location"]["range"]["start"]["line"], 1);
    assert!(related[1].to_string().contains("/0000."), "{related:#?}");
    assert_eq!(related[1]["location"]["range"]["start"]["line"], 1, "the line of the output that says so");
    let copy = fixture.until("src/a.py", &["1 2 -: bad"]);
    assert_eq!(copy["diagnostics"][0]["source"], "ralph(tests)");
    // A changed tree makes it stale; a passing check removes it.
    fixture.terminal.file("t.sh", "exit 0\n");
    fixture.editor.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
    let stale = fixture.until(
        "PROMPT.md",
        &[
            "0 4 summary: idle: 0 of 2 criteria pass, 1 without a check, files changed since",
            "4 4 failing: 😀 tests: exit 1, files changed since",
            "5 2 not-a-check: `cargo test` is not run. Write `$ cargo test`.",
        ],
    );
    assert_eq!(stale["diagnostics"][1]["tags"], json!([1]));
    let task = fixture.uri("PROMPT.md");
    fixture.execute("check", &json!({"task": task}));
    fixture.until("src/a.py", &[]);
    fixture.editor.quit();
}

#[test]
fn a_client_that_announced_nothing_gets_the_plain_form() {
    let mut fixture = DiagnosticsFixture::new(
        &[("PROMPT.md", PROMPT), ("t.sh", "echo src/a.py:2: bad; exit 1\n")],
        &json!({}),
    );
    fixture.check();
    let uri = fixture.uri("PROMPT.md");
    let failing = |it: &Value| is_about(it, &uri) && it.to_string().contains("\"failing\"");
    let said = fixture.editor.until("failing", failing)["params"]["diagnostics"].clone();
    for it in said.as_array().unwrap() {
        assert!(it.get("relatedInformation").is_none() && it.get("tags").is_none(), "{it:#}");
    }
    fixture.editor.quit();
}

#[test]
fn ranges_belong_to_the_text_of_their_version() {
    let fixture = DiagnosticsFixture::new(&[("PROMPT.md", PROMPT)], &json!({"versionSupport": true}));
    fixture.open("PROMPT.md", PROMPT);
    // Each version has a different number of leading lines.
    let text = |version: u32| format!("{}{PROMPT}", "\n".repeat(version as usize % 7));
    let last = 300;
    for version in 2..=last {
        fixture.change("PROMPT.md", version, &text(version));
    }
    let uri = fixture.uri("PROMPT.md");
    fixture.editor.until("the last version", |it| is_about(it, &uri) && it["params"]["version"] == last);
    let all = fixture.editor.messages();
    let published = all.iter().filter(|it| is_about(it, &uri)).map(|it| &it["params"]);
    for it in published {
        let text = text(it["version"].as_u64().unwrap() as u32);
        let before = text.len() - PROMPT.len();
        let version_one = it["version"] == 1;
        let found = it["diagnostics"].as_array().unwrap().iter().find(|it| it["code"] == "not-a-check");
        let line = found.expect("it is in every version")["range"]["start"]["line"].as_u64().unwrap();
        assert_eq!(line as usize, if version_one { 5 } else { before + 5 }, "{it:#}");
    }
}

#[test]
fn configuration_errors_are_shown_until_they_are_fixed() {
    let slip = "[limits]\niteratons = 3\n";
    let mut fixture = DiagnosticsFixture::new(&[("loopkeeper.toml", slip)], &json!({}));
    let expect = "1 1 unknown-key: `limits.iteratons` is not a known key. Did you mean `limits.iterations`?";
    let said = fixture.until("loopkeeper.toml", &[expect]);
    fixture.open("loopkeeper.toml", slip);
    let range = said["diagnostics"][0]["range"].clone();
    let context = json!({"diagnostics": said["diagnostics"]});
    let params =
        json!({"textDocument": {"uri": fixture.uri("loopkeeper.toml")}, "range": range, "context": context});
    assert_eq!(
        fixture.editor.request("textDocument/codeAction", &params),
        json!([]),
        "it takes only commands"
    );
    fixture.change("loopkeeper.toml", 2, "[limits]\niterations = 3\n");
    fixture.until("loopkeeper.toml", &[]);
    fixture.change("loopkeeper.toml", 3, "[prompt]\ntemplate = \"told.md\"\n");
    let expect = "1 1 bad-value: there is no file told.md. Write the template, or remove the key.";
    fixture.until("loopkeeper.toml", &[expect]);
    fixture.change("loopkeeper.toml", 4, "[limits\n");
    let uri = fixture.uri("loopkeeper.toml");
    fixture.editor.until("syntax", |it| is_about(it, &uri) && it.to_string().contains("\"syntax\""));
    fixture.editor.quit();
}

#[test]
fn keys_of_other_tools_are_explained_or_named() {
    let rc = "PROJECT_NAME=shop\nMAX_CALLS_PER_HOUR=40\n";
    let yml = "event_loop:\n  prompt: |\n    # Shop\n\n    ## Done when\n\n    - it sells: `exist sold`\n  persistent: true\n";
    let mut fixture = DiagnosticsFixture::new(&[(".ralphrc", rc), ("ralph.yml", yml)], &json!({}));
    fixture.open(".ralphrc", rc);
    fixture.until(".ralphrc", &["0 3 left-aside: not used by loopkeeper: PROJECT_NAME. Write settings of loops into `loopkeeper.toml`."]);
    let at =
        json!({"textDocument": {"uri": fixture.uri(".ralphrc")}, "position": {"line": 1, "character": 4}});
    let hover = fixture.editor.request("textDocument/hover", &at).to_string();
    assert!(hover.contains("limits.calls_per_hour = 40"), "{hover}");
    fixture.open("ralph.yml", yml);
    fixture.until(
        "ralph.yml",
        &[
            "0 4 summary: idle: 1 criterion, without a check",
            "6 1 bad-check: `exist sold` is not a check. Did you mean `exists sold`?",
            "7 3 left-aside: not used by loopkeeper: event_loop.persistent. Write settings of loops into `loopkeeper.toml`.",
        ],
    );
    fixture.editor.quit();
}

#[test]
fn a_folder_without_tasks_gets_no_diagnostics() {
    let mut fixture = DiagnosticsFixture::new(&[("README.md", "# Notes\n\n- a: `cargo test`\n")], &json!({}));
    fixture.open("README.md", "# Notes\n\n- a: `cargo test`\n");
    // A response after the first update: its diagnostics have been sent.
    fixture.editor.request("loopkeeper/loops", &json!({}));
    fixture.editor.quit();
    let said = fixture.editor.all_messages();
    assert!(said.iter().all(|it| it["method"] != "textDocument/publishDiagnostics"), "{said:#?}");
}
