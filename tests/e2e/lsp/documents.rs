//! The documents of a workspace and their diagnostics: open or not, in one folder or several, created, renamed and
//! deleted outside of the editor.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, has, remarks, show, start};
use super::server;
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};
use crate::support::scenario::{Scenario, task};

const BAD: &str = "# Bad\n\nDone when:\n\n- twice: `$ a` `$ b`\n";
const GOOD: &str = "# Good\n\nDone when:\n\n- it is: `exists it`\n";

fn one<'a>() -> Scenario<'a> {
    Scenario { criteria: &["It is: `exists it`"], ..Scenario::default() }
}

fn ids(status: &Value) -> Vec<String> {
    status["tasks"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn unsaved_text_is_analysed_until_it_is_closed() {
    let fixture = EditorFixture::open(&one());
    fixture.show("PROMPT.md");
    fixture.type_into("PROMPT.md", 2, BAD);
    fixture.remarks("PROMPT.md", |it| has(it, "bad-check"));
    fixture.type_into("PROMPT.md", 3, GOOD);
    fixture.remarks("PROMPT.md", |it| !has(it, "bad-check"));
    fixture.type_into("PROMPT.md", 4, BAD);
    fixture.remarks("PROMPT.md", |it| has(it, "bad-check"));
    // Closed without saving: the file counts again.
    fixture.close("PROMPT.md");
    fixture.remarks("PROMPT.md", |it| !has(it, "bad-check"));
    fixture.show("PROMPT.md");
    fixture.save("PROMPT.md", BAD);
    fixture.type_into("PROMPT.md", 2, BAD);
    fixture.remarks("PROMPT.md", |it| has(it, "bad-check"));
    // Wording is remarked on only in open documents.
    fixture.close("PROMPT.md");
    fixture.remarks("PROMPT.md", |it| !has(it, "bad-check"));
}

#[test]
fn files_changed_outside_of_the_editor_are_noticed() {
    let mut fixture = EditorFixture::open(&one());
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    fixture.world.terminal.file("good.ralph.md", GOOD);
    fixture.status(|it| ids(it).len() == 2);
    // Results are shown even if the document is not open.
    fixture.world.run(&["check", "good.ralph.md"]).expect(1);
    fixture.remarks("good.ralph.md", |it| has(it, "failing"));
    fs::rename(fixture.path("good.ralph.md"), fixture.path("new.ralph.md")).unwrap();
    fixture.remarks("good.ralph.md", <[Value]>::is_empty);
    fixture.status(|it| ids(it).contains(&"new.ralph.md".to_owned()));
    fixture.show("new.ralph.md");
    fixture.world.terminal.file("new.ralph.md", BAD);
    fixture.type_into("new.ralph.md", 2, BAD);
    fixture.remarks("new.ralph.md", |it| has(it, "bad-check"));
    // Open and deleted: the displayed text is no task any more.
    fs::remove_file(fixture.path("new.ralph.md")).unwrap();
    fixture.remarks("new.ralph.md", <[Value]>::is_empty);
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    fixture.refused("check", &json!({"task": fixture.uri("new.ralph.md")}), "noTask");
    // Some editors save by replacing the file.
    fixture.world.terminal.file("draft", "# Another\n\nDone when:\n\n- `exists x`\n- `exists y`\n");
    fs::rename(fixture.path("draft"), fixture.path("PROMPT.md")).unwrap();
    fixture.status(|it| it["tasks"][0]["title"] == "Another" && it["tasks"][0]["criteria"]["total"] == 2);
}

#[test]
fn deep_folders_are_scanned_when_the_client_reports_a_change() {
    let fixture = EditorFixture::open(&one());
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    fixture.world.terminal.file("a/b/c/RALPH.md", GOOD);
    let changes = json!({"changes": [{"uri": fixture.uri("a/b/c/RALPH.md"), "type": 1}]});
    fixture.editor.notify("workspace/didChangeWatchedFiles", &changes);
    fixture.status(|it| ids(it).contains(&"a/b/c/RALPH.md".to_owned()));
    fixture.world.run(&["check", "a/b/c/RALPH.md"]).expect(1);
    fixture.remarks("a/b/c/RALPH.md", |it| has(it, "failing"));
    fs::remove_dir_all(fixture.path("a")).unwrap();
    fixture.remarks("a/b/c/RALPH.md", <[Value]>::is_empty);
    // Without a file event as well, when the document is opened.
    fixture.world.terminal.file("x/y/RALPH.md", BAD);
    fixture.show("x/y/RALPH.md");
    fixture.remarks("x/y/RALPH.md", |it| has(it, "bad-check"));
}

#[test]
fn a_plan_belongs_to_its_task() {
    let files =
        [("prd.json", "{\"userStories\": [{\"id\": \"A\", \"title\": \"First\", \"passes\": false}]}\n")];
    let mut fixture = EditorFixture::open(&Scenario { files: &files, ..one() });
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    fixture.show("prd.json");
    fixture.type_into("prd.json", 2, "{\"userStories\": [\n");
    let remarks = fixture.remarks("prd.json", |it| has(it, "syntax"));
    assert_eq!(remarks[0]["severity"], 1);
    let error = fixture.refused("check", &json!({"task": "PROMPT.md"}), "unsaved");
    assert_eq!(error["data"]["uri"], fixture.uri("prd.json"));
    fixture.type_into("prd.json", 3, files[0].1);
    fixture.remarks("prd.json", |it| !has(it, "syntax"));
}

/// Before `initialized` nothing has used the index yet.
#[test]
fn folders_opened_before_initialized_are_scanned() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", GOOD).file("other/RALPH.md", GOOD);
    let mut editor = Editor::start(server(&terminal));
    let capabilities = json!({"experimental": {"loopkeeper": {"version": 1}}});
    let params = json!({"processId": null, "rootUri": uri(&terminal.root()), "capabilities": capabilities});
    editor.request("initialize", &params);
    let added = json!([{"uri": uri(&terminal.root().join("other")), "name": "other"}]);
    let event = json!({"event": {"added": added, "removed": []}});
    for _ in 0..3 {
        editor.notify("workspace/didChangeWorkspaceFolders", &event);
    }
    editor.request("loopkeeper/loops", &json!({}));
    editor.notify("initialized", &json!({}));
    editor.wait_for("loopkeeper/status", |it| ids(it).len() == 2);
}

#[test]
fn tasks_appear_and_disappear_with_their_folder() {
    let fixture = EditorFixture::open(&one());
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    let other = fixture.world.terminal.folder().canonicalize().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("RALPH.md"), GOOD).unwrap();
    fixture.world.run(&["check", other.join("RALPH.md").to_str().unwrap()]).expect(1);
    let folder = json!([{"uri": uri(&other), "name": "other"}]);
    let change = |added: &Value, removed: &Value| {
        let event = json!({"event": {"added": added, "removed": removed}});
        fixture.editor.notify("workspace/didChangeWorkspaceFolders", &event);
    };
    change(&folder, &json!([]));
    fixture.status(|it| ids(it).len() == 2);
    remarks(&fixture.editor, &uri(&other.join("RALPH.md")), |it| has(it, "failing"));
    change(&json!([]), &folder);
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    remarks(&fixture.editor, &uri(&other.join("RALPH.md")), <[Value]>::is_empty);
    // A folder that does not exist yet.
    let later = json!([{"uri": uri(&other.join("later")), "name": "later"}]);
    change(&later, &json!([]));
    fs::create_dir(other.join("later")).unwrap();
    fs::write(other.join("later/RALPH.md"), GOOD).unwrap();
    fixture.editor.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
    fixture.status(|it| ids(it).len() == 2);
}

#[test]
fn nested_roots_have_their_own_tasks() {
    let files = [("sub/loopkeeper.toml", ""), ("sub/PROMPT.md", BAD), ("plain/RALPH.md", GOOD)];
    let world = Scenario { files: &files, ..one() }.world();
    let root = world.root().canonicalize().unwrap();
    let folders =
        json!([{"uri": uri(&root), "name": "work"}, {"uri": uri(&root.join("sub")), "name": "sub"}]);
    let editor = start(world.terminal.command(&["--stdio"]), &root, &json!({"workspaceFolders": folders}));
    let fixture = EditorFixture { editor, world };
    let status = fixture.status(|it| ids(it).len() == 3);
    let roots: Vec<&Value> = status["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["id"] == "PROMPT.md")
        .map(|it| &it["root"])
        .collect();
    assert_eq!(roots.len(), 2);
    assert_ne!(roots[0], roots[1]);
    fixture.show("sub/PROMPT.md");
    fixture.remarks("sub/PROMPT.md", |it| has(it, "bad-check"));
}

#[test]
fn a_document_is_named_as_the_client_names_it() {
    let world = one().world();
    let link = world.terminal.folder().canonicalize().unwrap().join("link");
    symlink(world.root(), &link).unwrap();
    let editor = through(&world.terminal, &link);
    let mut fixture = EditorFixture { editor, world };
    fixture.status(|it| ids(it) == ["PROMPT.md"]);
    show(&fixture.editor, &link.join("PROMPT.md"));
    let change = json!({"textDocument": {"uri": uri(&link.join("PROMPT.md")), "version": 2}, "contentChanges": [{"text": BAD}]});
    fixture.editor.notify("textDocument/didChange", &change);
    remarks(&fixture.editor, &uri(&link.join("PROMPT.md")), |it| has(it, "bad-check"));
    let error = fixture.refused("check", &json!({"task": uri(&link.join("PROMPT.md"))}), "unsaved");
    assert_eq!(error["data"]["uri"], uri(&link.join("PROMPT.md")));
    let closed = json!({"textDocument": {"uri": uri(&link.join("PROMPT.md"))}});
    fixture.editor.notify("textDocument/didClose", &closed);
    remarks(&fixture.editor, &uri(&link.join("PROMPT.md")), |it| !has(it, "bad-check"));
    let id = fixture.start(&uri(&link.join("PROMPT.md")));
    fixture.status(|it| it["loops"][0]["id"] == id.as_str());
}

fn through(terminal: &crate::cli::Terminal, link: &std::path::Path) -> Editor {
    let mut editor = Editor::start(terminal.command(&["--stdio"]));
    editor.initialize(link, &json!({"capabilities": super::editor_fixture::everything()}));
    editor
}

#[test]
fn a_link_inside_the_root_is_a_document() {
    let world = Scenario { files: &[("docs/real.txt", GOOD)], ..one() }.world();
    symlink("docs/real.txt", world.root().join("RALPH.md")).unwrap();
    let editor = start(world.terminal.command(&["--stdio"]), &world.root(), &json!({}));
    let fixture = EditorFixture { editor, world };
    fixture.status(|it| ids(it).contains(&"RALPH.md".to_owned()) && it["health"] == "ok");
    fixture.show("RALPH.md");
    fixture.type_into("RALPH.md", 2, BAD);
    fixture.remarks("RALPH.md", |it| has(it, "bad-check"));
    // A link out of the root is not read; it is reported, and everything else continues.
    fs::write(fixture.world.terminal.folder().join("elsewhere.md"), BAD).unwrap();
    symlink("../elsewhere.md", fixture.path("out.ralph.md")).unwrap();
    let status = fixture.status(|it| it["health"] == "warning");
    assert!(status["message"].as_str().unwrap().contains("out.ralph.md"), "{status}");
    assert_eq!(ids(&status).len(), 2);
}

#[test]
fn results_are_stale_while_files_differ() {
    let mut fixture = EditorFixture::open(&Scenario { files: &[("src", "one\n")], ..one() });
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    let is_stale = |it: &[Value]| {
        let failing = it.iter().find(|it| it["code"] == "failing");
        failing.map(|it| it["tags"] == json!([1]) && it["severity"] == 4)
    };
    fixture.remarks("PROMPT.md", |it| is_stale(it) == Some(false));
    fixture.save("src", "two\n");
    let remarks = fixture.remarks("PROMPT.md", |it| is_stale(it) == Some(true));
    assert!(remarks.iter().any(|it| it["message"].as_str().unwrap().ends_with(", files changed since")));
    fixture.save("src", "one\n");
    fixture.remarks("PROMPT.md", |it| is_stale(it) == Some(false));
    // The task itself is a file, too; the server gets no notification.
    let text = fixture.world.terminal.read("PROMPT.md");
    fixture.world.terminal.file("PROMPT.md", &format!("{text}\nMore.\n"));
    fixture.remarks("PROMPT.md", |it| is_stale(it) == Some(true));
    fixture.world.terminal.file("PROMPT.md", &text);
    fixture.remarks("PROMPT.md", |it| is_stale(it) == Some(false));
}

#[test]
fn columns_are_counted_in_the_negotiated_encoding() {
    let line = "- 完成 🎉 e\u{301}: `$ a` `$ b`";
    let text = format!("# 🎉 T\r\n\r\nDone when:\r\n\r\n{line}\r\n");
    let span = "- 完成 🎉 e\u{301}: `$ a` ";
    for (encodings, start, end) in [
        (json!(["utf-8"]), span.len(), line.len()),
        (json!(["utf-16"]), span.encode_utf16().count(), line.encode_utf16().count()),
    ] {
        let mut can = super::editor_fixture::everything();
        can["general"]["positionEncodings"] = encodings;
        let fixture = EditorFixture::open_as(&one(), &json!({"capabilities": can}));
        fixture.show("PROMPT.md");
        fixture.type_into("PROMPT.md", 2, &text);
        let remarks = fixture.remarks("PROMPT.md", |it| has(it, "bad-check"));
        let range = &remarks.iter().find(|it| it["code"] == "bad-check").unwrap()["range"];
        // The second span is superfluous.
        assert_eq!(range["start"], json!({"line": 4, "character": start}));
        assert_eq!(range["end"], json!({"line": 4, "character": end}));
    }
}

#[test]
fn a_task_outside_of_every_folder_is_shown_once_opened() {
    let fixture = EditorFixture::open(&one());
    let lonely = fixture.world.terminal.folder().canonicalize().unwrap().join("lonely");
    fs::create_dir(&lonely).unwrap();
    fs::write(lonely.join("PROMPT.md"), task(&["twice: `$ a` `$ b`"])).unwrap();
    show(&fixture.editor, &lonely.join("PROMPT.md"));
    remarks(&fixture.editor, &uri(&lonely.join("PROMPT.md")), |it| has(it, "bad-check"));
    fixture
        .editor
        .notify("textDocument/didClose", &json!({"textDocument": {"uri": uri(&lonely.join("PROMPT.md"))}}));
    remarks(&fixture.editor, &uri(&lonely.join("PROMPT.md")), <[Value]>::is_empty);
}
