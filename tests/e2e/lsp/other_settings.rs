//! Settings outside of `loopkeeper.toml`: completion, hovers and fixes in front matter and in files of other tools.

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};

struct SettingsFixture {
    terminal: Terminal,
    editor: Editor,
}

impl SettingsFixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let terminal = Terminal::new();
        for (path, text) in files {
            terminal.file(path, text);
        }
        let mut editor = Editor::start(server(&terminal));
        let literals = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}});
        editor.initialize(
            &terminal.root(),
            &json!({"capabilities": {"textDocument": {"codeAction": literals}}}),
        );
        for (path, text) in files {
            let document = json!({"uri": uri(&terminal.root().join(path)), "version": 1, "languageId": "x", "text": text});
            editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
        }
        Self { terminal, editor }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, path: &str, more: &Value) -> Value {
        let mut params = more.clone();
        params["textDocument"] = json!({"uri": uri(&self.terminal.root().join(path))});
        self.editor.request(&format!("textDocument/{method}"), &params)
    }

    #[track_caller]
    fn labels(&mut self, path: &str, line: u32, character: u32) -> Vec<String> {
        let all = self.ask("completion", path, &json!({"position": {"line": line, "character": character}}));
        let all = all.as_array().cloned().unwrap_or_default();
        all.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn front_matter_is_completed_and_explained() {
    let text = "---\nmax_iterations: 3\nag\n---\n# Shop\n\nSell things.\n";
    let mut fixture = SettingsFixture::new(&[("PROMPT.md", text), ("README.md", text)]);
    let labels = fixture.labels("PROMPT.md", 2, 2);
    assert!(
        labels.contains(&"agent".to_owned()) && !labels.contains(&"max_iterations".to_owned()),
        "{labels:?}"
    );
    assert_eq!(fixture.labels("README.md", 2, 2), [""; 0]);
    let hover = fixture.ask("hover", "PROMPT.md", &json!({"position": {"line": 1, "character": 4}}));
    assert!(hover.to_string().contains("limits.iterations"), "{hover}");
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 14}});
    assert_eq!(hover["range"], range);
    fixture.editor.quit();
}

#[test]
fn files_of_other_tools_are_completed_and_corrected() {
    let text = "MAX_CALL_PER_HOUR=40\n\n";
    let mut fixture = SettingsFixture::new(&[
        ("PROMPT.md", "# Shop\n\nSell things.\n"),
        (".ralphrc", text),
        ("ralph.yml", "event_loop:\n  max_iterations: 3\n  \n"),
    ]);
    assert!(fixture.labels(".ralphrc", 1, 0).contains(&"CB_COOLDOWN_MINUTES".to_owned()));
    let labels = fixture.labels("ralph.yml", 2, 2);
    assert!(
        labels.contains(&"max_cost_usd".to_owned()) && !labels.contains(&"max_iterations".to_owned()),
        "{labels:?}"
    );
    let at = json!({"line": 0, "character": 3});
    let more = json!({"range": {"start": at, "end": at}, "context": {"diagnostics": []}});
    let fixes = fixture.ask("codeAction", ".ralphrc", &more);
    assert_eq!(fixes[0]["title"], "Write MAX_CALLS_PER_HOUR", "{fixes}");
    let edit = fixes[0]["edit"].to_string();
    assert!(
        edit.contains("\"newText\":\"MAX_CALLS_PER_HOUR\"") && edit.contains("\"character\":17"),
        "{edit}"
    );
    fixture.editor.quit();
}

#[test]
fn the_page_of_what_would_run_lists_settings_that_are_not_defaults() {
    let mut fixture = SettingsFixture::new(&[
        (
            "PROMPT.md",
            "---\nmax_iterations: 3\n---\n# Shop\n\n## Done when\n\n- It sells: `$ true && test -f sold`\n",
        ),
        ("loopkeeper.toml", "breaker.no_progress = 4\n"),
    ]);
    let task = uri(&fixture.terminal.root().join("PROMPT.md"));
    let page = fixture.editor.request("loopkeeper/trustPage", &json!({"task": task}));
    let text = page["text"].as_str().unwrap();
    assert!(text.contains("\n  breaker.no_progress = 4  (loopkeeper.toml:1)\n"), "{text}");
    assert!(text.contains("\n  limits.iterations = 3  (PROMPT.md:2)\n"), "{text}");
    assert!(!text.contains("limits.grace"), "{text}");
    fixture.editor.quit();
}
