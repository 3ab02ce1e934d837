//! Files that a loop added and that nothing needs: named, removed and brought back.

use serde_json::{Value, json};

use crate::support::ended_loop::EndedLoop;
use crate::support::lsp::{Editor, uri};
use crate::support::scenario::{Ends, Scenario};

const ADDS: &str = "mkdir -p src; echo 'import auth' > src/main.py; echo 'login = 1' > src/auth.py; echo 'login = 0' > src/auth_old.py; echo 'x = auth_old' > src/dead.py; touch done.md";

fn played(act: &str) -> EndedLoop {
    Scenario {
        criteria: &["Sold: `exists done.md`"],
        acts: &[act],
        ends: Ends::Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

#[test]
fn strays_are_named_removed_and_brought_back() {
    let played = played(ADDS);
    let terminal = &played.world.terminal;
    let named = "nothing refers to 2 added files: src/auth_old.py, src/dead.py";
    terminal.run(&["status", "latest"]).expect(0).out(named);
    terminal.run(&["report", "--format", "markdown"]).expect(0).out("othing refers to 2 added files");
    terminal.run(&["receipt", "latest"]).expect(0).out("src/auth_old.py");
    let removed = terminal.run(&["rollback", "latest", "--strays"]);
    removed.expect(0).out("2 files removed").out("--undo");
    let is_there = |path: &str| played.world.root().join(path).exists();
    assert!(!is_there("src/auth_old.py") && !is_there("src/dead.py") && is_there("src/auth.py"));
    let status = terminal.run(&["status", "latest"]);
    assert!(!status.expect(0).stdout.contains("nothing refers"), "{}", status.stdout);
    terminal.run(&["rollback", "latest", "--strays"]).expect(0).out("left no unreferenced file");
    terminal.run(&["rollback", "latest", "--undo"]).expect(0).out("2 files written");
    assert_eq!(terminal.read("src/auth_old.py"), "login = 0\n");
    terminal.run(&["status", "latest"]).expect(0).out(named);
}

#[test]
fn an_editor_offers_to_remove_strays() {
    let played = played(ADDS);
    let world = &played.world;
    let mut editor = Editor::start(world.terminal.command(&["--stdio"]));
    let literals = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}});
    let able = json!({"capabilities": {"textDocument": {"codeAction": literals}}});
    editor.initialize(&world.root(), &able);
    let file = uri(&world.root().canonicalize().unwrap().join("PROMPT.md"));
    let text = world.terminal.read("PROMPT.md");
    let document = json!({"uri": file, "version": 1, "languageId": "markdown", "text": text});
    editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
    let is_stray = |it: &Value| it["code"] == "stray";
    let published = editor.wait_for("textDocument/publishDiagnostics", |it| {
        it["uri"] == file && it["diagnostics"].as_array().is_some_and(|all| all.iter().any(is_stray))
    });
    let stray = published["diagnostics"].as_array().unwrap().iter().find(|it| is_stray(it)).unwrap();
    assert_eq!(
        stray["message"],
        "stray: nothing refers to src/auth_old.py and 1 file more. Remove or use them."
    );
    let offered = editor.request(
        "textDocument/codeAction",
        &json!({"textDocument": {"uri": file}, "range": stray["range"], "context": {"diagnostics": [stray]}}),
    );
    let is_fix = |it: &&Value| {
        it["kind"] == "quickfix" && it["title"].as_str().unwrap().starts_with("Remove 2 added files")
    };
    let fix = offered.as_array().unwrap().iter().find(is_fix).expect("a quick fix");
    let done = editor.request(
        "workspace/executeCommand",
        &json!({"command": fix["command"]["command"], "arguments": fix["command"]["arguments"]}),
    );
    assert_eq!(done["removed"], 2, "{done}");
    assert!(!world.root().join("src/dead.py").exists());
    let of_task = |it: &Value| it["uri"] == file;
    editor.until_last("textDocument/publishDiagnostics", of_task, |it| {
        it["diagnostics"].as_array().is_some_and(|all| !all.iter().any(is_stray))
    });
    editor.quit();
}

#[test]
fn a_file_that_is_used_is_not_a_stray() {
    let played = played(
        "mkdir -p src; echo 'import auth' > src/main.py; echo 'login = 1' > src/auth.py; touch done.md",
    );
    let status = played.world.terminal.run(&["status", "latest"]);
    assert!(!status.expect(0).stdout.contains("nothing refers"), "{}", status.stdout);
}
