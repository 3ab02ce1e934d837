//! Journals that are damaged or were tampered with: what each command says of them, and what it never says.

use std::path::PathBuf;

use crate::cli_run::{TASK, project};

#[test]
fn a_damaged_loop_is_listed_as_damaged_and_hides_no_other() {
    let terminal = project(TASK, "true");
    terminal.file("done", "");
    for _ in 0..2 {
        terminal.run(&["run", "--trust"]).expect(0);
    }
    let journals: Vec<_> = terminal.loops().iter().map(|it| it.join("journal.jsonl")).collect();
    let damage = |path: &PathBuf, line: usize| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[line] = lines[line].replacen("\"up\":", "\"up\":1", 1);
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
    };
    damage(&journals[0], 1);
    terminal.run(&["status"]).expect(0).out("its journal is damaged").out("already");
    let id = journals[0].parent().unwrap().file_name().unwrap().to_str().unwrap();
    for args in [&["resume", id][..], &["stop", id], &["watch", id], &["pause", id], &["steer", id, "look"]] {
        let ran = terminal.run(args);
        ran.expect(1).err("is damaged in line 2").err("Hint: Nothing was changed. Restore ");
        assert_eq!((ran.stderr.matches("error: ").count(), ran.stderr.matches("resume").count()), (1, 0));
    }
    damage(&journals[0], 0);
    let status = terminal.run(&["status"]);
    status.expect(0).out("already").out("its journal is damaged").out("journal.jsonl is damaged in line 1");
    terminal.run(&["log", id]).expect(0).out("is damaged in line 1");
    terminal
        .run(&["status", id, "--json"])
        .expect(0)
        .out("\"phase\":\"damaged\"")
        .out("\"title\":\"Make it\"");
    // Without the order that began it, its name is all that is known.
    std::fs::remove_file(journals[0].with_file_name("start.json")).unwrap();
    terminal.run(&["status"]).expect(0).err("journal.jsonl is damaged in line 1").out("already");
    damage(&journals[1], 0);
    std::fs::remove_file(journals[1].with_file_name("start.json")).unwrap();
    terminal.run(&["status", "--json"]).expect(0).err("is damaged").out("{\"loops\":[],");
}

/// All lines but the last, and the last.
fn split_last(text: &str) -> (&str, &str) {
    text.trim_end().rsplit_once('\n').unwrap()
}

/// An end that was edited or added is damage, and one that was cut off is no end: nothing says *completed*.
#[test]
fn an_end_that_was_tampered_with_completes_nothing() {
    let tampered = |edit: fn(&str) -> String, expect: &str| {
        let terminal = project(TASK, "true");
        terminal.file("done", "");
        terminal.run(&["run", "--trust"]).expect(0);
        let folder = terminal.loops().remove(0);
        let id = folder.file_name().unwrap().to_str().unwrap();
        let journal = folder.join("journal.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, edit(&text)).unwrap();
        let shown = terminal.run(&["status"]);
        shown.expect(0).out(expect);
        assert!(!shown.stdout.to_lowercase().contains("completed"), "{}", shown.stdout);
        if text.lines().count() >= edit(&text).lines().count() {
            let logged = terminal.run(&["log", id]);
            assert!(!logged.stdout.to_lowercase().contains("completed"), "{}", logged.stdout);
        }
        terminal.run(&["receipt", id]).expect(1);
    };
    tampered(|it| it.replace("\"kind\":\"completed\"", "\"kind\":\"stopped\""), "its journal is damaged");
    tampered(|it| format!("{}\n{}", split_last(it).0, &split_last(it).1[..40]), "nterrupted");
    tampered(|it| format!("{}\n", split_last(it).0), "nterrupted");
    let forged = |it: &str| {
        let (before, end) = split_last(it);
        format!("{before}\n{}00000000\"}}\n", &end[..end.len() - 10])
    };
    tampered(forged, "its journal is damaged");
    tampered(|it| format!("{it}{}\n", split_last(it).1), "its journal is damaged");
}
