//! Remarks on criteria as an editor gets them, and the fixes that it applies.

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};

const PROMPT: &str = "# Pay\r\n\r\nDone when:\r\n\r\n- 😀 errors are handled properly\r\n- All tests pass (optional)\r\n- It builds: `$ make || true`\r\n";

fn position(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    json!({"line": line, "character": text[start..at].encode_utf16().count()})
}

fn byte(text: &str, position: &Value) -> usize {
    let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = position["character"].as_u64().unwrap();
    let rest = text[start..].char_indices();
    let mut at = start;
    for (offset, char) in rest {
        at = start + offset;
        if units == 0 {
            break;
        }
        units -= char.len_utf16() as u64;
        at += char.len_utf8();
    }
    at
}

fn applied(text: &str, edit: &Value) -> String {
    let (start, end) = (byte(text, &edit["range"]["start"]), byte(text, &edit["range"]["end"]));
    format!("{}{}{}", &text[..start], edit["newText"].as_str().unwrap(), &text[end..])
}

/// The quick fixes at the words, by title, with the document after each.
fn fixes(editor: &mut Editor, document: &str, text: &str, words: &str) -> Vec<(String, String)> {
    let at = position(text, text.find(words).unwrap());
    let params = json!({
        "textDocument": {"uri": document},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["quickfix"]},
    });
    let actions = editor.request("textDocument/codeAction", &params);
    let fix = |it: &Value| {
        let edit = &it["edit"]["changes"][document][0];
        (it["title"].as_str().unwrap().to_owned(), applied(text, edit))
    };
    actions.as_array().unwrap().iter().map(fix).collect()
}

#[test]
fn remarks_come_with_the_better_line() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", PROMPT);
    terminal.file("Cargo.toml", "[package]\nname = \"pay\"\n");
    let mut editor = Editor::start(server(&terminal));
    let code_action = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}});
    let client = json!({"capabilities": {"textDocument": {"codeAction": code_action}}});
    editor.initialize(&terminal.root(), &client);
    let document = uri(&terminal.root().join("PROMPT.md"));
    let opened = json!({"uri": document, "version": 1, "languageId": "markdown", "text": PROMPT});
    editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
    let codes = |it: &Value| -> Vec<String> {
        let all = it["params"]["diagnostics"].as_array().unwrap();
        all.iter().filter_map(|it| it["code"].as_str().map(str::to_owned)).collect()
    };
    let found = editor.until("the remarks", |it| {
        it["method"] == "textDocument/publishDiagnostics"
            && ["vague", "unverified", "weak"].iter().all(|code| codes(it).contains(&(*code).to_owned()))
    });
    let vague =
        found["params"]["diagnostics"].as_array().unwrap().iter().find(|it| it["code"] == "vague").unwrap();
    assert_eq!(vague["range"]["start"], position(PROMPT, PROMPT.find("properly").unwrap()));
    assert_eq!(vague["severity"], 4);

    let weak = fixes(&mut editor, &document, PROMPT, "make");
    assert!(weak.iter().any(|(_, after)| after.contains("`$ make`\r\n")), "{weak:#?}");
    assert_eq!(fixes(&mut editor, &document, PROMPT, "- It builds"), weak, "with the cursor on the bullet");
    let tests = fixes(&mut editor, &document, PROMPT, "All tests");
    let expect = "- All tests pass: `$ cargo test` (optional)\r\n";
    assert!(tests.iter().any(|(_, after)| after.contains(expect)), "{tests:#?}");
    let judged = fixes(&mut editor, &document, PROMPT, "properly");
    assert!(
        judged.iter().any(|(_, after)| after.contains("- 😀 errors are handled properly: `judge`\r\n")),
        "{judged:#?}"
    );
}

/// The manifests of projects by whose commands a task is checked.
const PROJECTS: [&[(&str, &str)]; 4] = [
    &[(
        "package.json",
        r#"{"scripts": {"test": "vitest run", "lint": "eslint ."}, "devDependencies": {"vitest": "3"}}"#,
    )],
    &[(
        "pyproject.toml",
        "[project]\nname = \"shop\"\n[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n",
    )],
    &[("Cargo.toml", "[package]\nname = \"shop\"\n"), ("README.md", "# Shop\n")],
    &[("go.mod", "module shop\n"), ("README.md", "# Shop\n")],
];

/// The documents of a user who only has a wish, and where the cursor is.
const WISHES: [(&str, &str); 6] = [
    ("# Export orders\n\nOrders can be exported as CSV.\n", "Export"),
    ("Orders can be exported as CSV. 🎉", "Orders"),
    ("# Make the export faster\r\n\r\n## Done when\r\n\r\n- It works well\r\n", "well"),
    ("# 导出订单\n\n订单可以导出为 CSV。\n", "导出"),
    ("# 导出订单\n\n## 完成标准\n\n- 导出正常工作\n", "导出正常"),
    ("# Tides\n\nWrite a blog post about tides.\n", "Tides"),
];

struct OpenTask<'a> {
    editor: &'a mut Editor,
    uri: String,
    text: String,
    version: u32,
}

impl OpenTask<'_> {
    fn actions(&mut self, words: &str) -> Vec<Value> {
        let at = position(&self.text, self.text.find(words).unwrap());
        let params = json!({
            "textDocument": {"uri": self.uri},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": [], "only": ["quickfix", "refactor"]},
        });
        self.editor.request("textDocument/codeAction", &params).as_array().unwrap().clone()
    }

    fn apply(&mut self, action: &Value) {
        let edits = action["edit"]["changes"][&self.uri].as_array().unwrap();
        self.text = edits.iter().rev().fold(self.text.clone(), |text, it| applied(&text, it));
        self.version += 1;
        let changed = json!({"uri": self.uri, "version": self.version});
        let params = json!({"textDocument": changed, "contentChanges": [{"text": self.text}]});
        self.editor.notify("textDocument/didChange", &params);
    }

    fn grade(&mut self) -> String {
        let at = json!({"textDocument": {"uri": self.uri}, "position": {"line": 0, "character": 2}});
        self.editor.request("textDocument/hover", &at).to_string()
    }
}

#[test]
fn a_wish_becomes_comprehensive_by_two_fixes() {
    for files in PROJECTS {
        let terminal = Terminal::new();
        for (name, text) in files {
            terminal.file(name, text);
        }
        let mut editor = Editor::start(server(&terminal));
        let kinds = json!({"codeActionKind": {"valueSet": ["quickfix", "refactor"]}});
        let client =
            json!({"capabilities": {"textDocument": {"codeAction": {"codeActionLiteralSupport": kinds}}}});
        terminal.file("PROMPT.md", "# T\n");
        editor.initialize(&terminal.root(), &client);
        let uri = uri(&terminal.root().join("PROMPT.md"));
        let mut task = OpenTask { editor: &mut editor, uri, text: "# T\n".to_owned(), version: 1 };
        let opened = json!({"uri": task.uri, "version": 1, "languageId": "markdown", "text": task.text});
        task.editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
        for (wish, words) in WISHES {
            let whole = json!({"newText": wish, "range": {"start": position(&task.text, 0), "end": position(&task.text, task.text.len())}});
            let uri = task.uri.clone();
            task.apply(&json!({"edit": {"changes": {uri: [whole]}}}));
            let first = task.actions(words);
            task.apply(first.first().unwrap_or_else(|| panic!("nothing is offered for {wish}")));
            let heading = task.text.lines().next().unwrap().to_owned();
            let second = task.actions(&heading);
            if let Some(it) = second.iter().find(|it| it["title"].as_str().unwrap().starts_with("Add what")) {
                task.apply(it);
            }
            let (grade, text) = (task.grade(), &task.text);
            assert!(grade.contains("Criteria: comprehensive"), "{files:?}\n{text}\n{grade}");
            let is_chinese = wish.contains('导');
            assert_eq!(text.contains(": `"), !is_chinese, "the colon of the language\n{text}");
            assert_eq!(text.contains("\r\n"), wish.contains('\r'), "{text:?}");
        }
        editor.quit();
    }
}

#[test]
fn the_heading_shows_the_grade() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", PROMPT);
    let mut editor = Editor::start(server(&terminal));
    editor.initialize(&terminal.root(), &json!({}));
    let document = uri(&terminal.root().join("PROMPT.md"));
    let opened = json!({"uri": document, "version": 1, "languageId": "markdown", "text": PROMPT});
    editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
    let at = json!({"textDocument": {"uri": document}, "position": {"line": 0, "character": 2}});
    let hover = editor.request("textDocument/hover", &at).to_string();
    assert!(hover.contains("Criteria: vague: 0 of 2 criteria have a check that can fail"), "{hover}");
}

#[test]
fn a_queue_is_checked_while_it_is_written() {
    let terminal = Terminal::new();
    terminal.file("a.ralph.md", "# A\n\nDone when:\n\n- x: `exists x`\n");
    let text = "- [登录](a.ralph.md)\r\n- [B](b.ralph.md) (after 登陆)\r\n";
    terminal.file("QUEUE.md", text);
    let mut editor = Editor::start(server(&terminal));
    editor.initialize(&terminal.root(), &json!({}));
    let document = uri(&terminal.root().join("QUEUE.md"));
    let opened = json!({"uri": document, "version": 1, "languageId": "markdown", "text": text});
    editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
    let found = editor.until("the errors", |it| {
        it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == document.as_str()
    });
    let all = found["params"]["diagnostics"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{all:#?}");
    assert_eq!(all[0]["range"]["start"], position(text, text.find("B](").unwrap()));
    assert_eq!(all[1]["range"]["start"], position(text, text.find("登陆").unwrap()));
    let corrected = "- [登录](a.ralph.md)\r\n";
    let change =
        json!({"textDocument": {"uri": document, "version": 2}, "contentChanges": [{"text": corrected}]});
    editor.notify("textDocument/didChange", &change);
    editor.until("no errors", |it| {
        it["method"] == "textDocument/publishDiagnostics"
            && it["params"]["uri"] == document.as_str()
            && it["params"]["diagnostics"].as_array().is_some_and(Vec::is_empty)
    });
}
