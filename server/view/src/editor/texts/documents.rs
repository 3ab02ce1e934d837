//! Diagnostics of documents, for their author to correct before a loop starts.

use expect_test::expect_file;

use super::{Transcript, diagnostic, shown};
use crate::editor::diagnostic::DiagnosticCode;
use crate::editor::fixture::World;
use crate::editor::queue_diagnostics;

/// A task with these items.
fn items(items: &[&str]) -> String {
    format!(
        "# Pay\n\nDone when:\n\n{}",
        items.iter().map(|it| format!("- {it}\n")).collect::<Vec<_>>().concat()
    )
}

/// The diagnostics besides those of the results.
fn remarks(documents: &[(&str, &str)]) -> String {
    let world = World::of(documents);
    let all = shown(&world);
    let of_results = [DiagnosticCode::Summary, DiagnosticCode::NeverRun].map(DiagnosticCode::word);
    let is_remark = |it: &&str| !of_results.iter().any(|code| it.lines().next().unwrap().ends_with(code));
    all.split_inclusive('\n')
        .fold(Vec::<String>::new(), |mut found, line| {
            match found.last_mut().filter(|_| line.starts_with(' ')) {
                Some(last) => *last += line,
                None => found.push(line.to_owned()),
            }
            found
        })
        .iter()
        .map(String::as_str)
        .filter(is_remark)
        .collect()
}

#[test]
fn checks_that_cannot_be_read() {
    let mut file = Transcript::default();
    let rows: &[(&str, &[&str])] = &[
        (
            "commands",
            &[
                "a: `$`",
                "b: `$cargo test`",
                "c: `cargo test`",
                "d: `$ a` and `$ b`",
                "e: `$ make`\n  `x\n  y`",
            ],
        ),
        ("backticks", &["a: an odd ` backtick", "b: `$ make\n  all`", "c: npm test"]),
        (
            "files",
            &[
                "a: `exist src/lib.rs`",
                "b: `exists`",
                "c: `missing [`",
                "d: `not exists a.txt`",
                "e: `exists $HOME/a`",
            ],
        ),
        (
            "patterns",
            &[
                "a: `has x`",
                "b: `has TODO src/**`",
                "c: `has /(/ src/**`",
                "d: `contains \"x\" src/**`",
                "e: `lacks \"x src/**`",
                "f: `has \"\" src/**`",
            ],
        ),
        (
            "requests",
            &[
                "a: `GET localhost`",
                "b: `get https://example.org/x`",
                "c: `GET http://localhost/` `200 OK`",
                "d: `GET http://localhost/` `700`",
            ],
        ),
        ("judges", &["a: `judge 3 of 2`", "b: `judge 1 of 99`", "`judge`"]),
        (
            "expectations",
            &[
                "a: `$ cov` `> = 3`",
                "b: `$ cov` `>= many`",
                "c: `$ cov` `exit ok`",
                "d: `$ cov` `/(/`",
                "e: `>= 80` `$ cov`",
                "f: `exists a` `>= 3`",
                "g: `$ cov` `=> 80%`",
            ],
        ),
        (
            "attributes",
            &[
                "a: `$ x` (timeout soon)",
                "b: `$ x` (stage 0)",
                "c: `$ x` (group )",
                "d: `$ x` (optionel)",
                "e: `$ x` (timeout 0s)",
            ],
        ),
    ];
    for (title, rows) in rows {
        file.section(title, remarks(&[("PROMPT.md", &items(rows))]));
    }
    expect_file!["../../../../../tests/e2e/texts/diagnostics-checks.txt"].assert_eq(&file.0);
}

#[test]
fn documents_that_need_their_author() {
    let mut file = Transcript::default();
    let prompt = |text: &str| remarks(&[("PROMPT.md", text)]);
    let criterion = "## Done when\n\n- a: `$ x`\n";
    let template = format!("# Say in one line what should be done\n\n{criterion}");
    file.section("empty", prompt(""));
    file.section("not text", prompt(&format!("# Pay\0\n\n{criterion}")));
    file.section("template", prompt(&template));
    file.section("placeholder", prompt(&format!("# Pay\n\nPay {{{{AMOUNT}}}}.\n\n{criterion}")));
    file.section("no criteria", prompt("# Pay\n\nPay the bill.\n"));
    file.section("section without items", prompt("# Pay\n\n## Done when\n\nIt works.\n"));
    file.section("criteria in one line", prompt("# Pay\n\nDone when: - a: `$ x` - b: `$ y`\n"));
    file.section("promise", prompt(&format!("# Pay\n\nOutput <<promise>>DONE<</promise>>\n\n{criterion}")));
    let front = |lines: &str| prompt(&format!("---\n{lines}---\n# Pay\n\n{criterion}"));
    file.section(
        "front matter",
        [
            "max_iteration: 3\nauthor: me\n",
            "max_iterations: many\nagent: claude --model x\n",
            "commands:\n  - name: a\n",
            "commands: x\n",
            "test_command: [a, b]\n",
            "commands:\n  - run: x\n    timeout: soon\n",
            "criteria:\n  - a: [\n",
        ]
        .map(front)
        .concat(),
    );
    file.section(
        "front matter without its end",
        prompt(&format!("---\ntest_command: x\n# Pay\n\n{criterion}")),
    );
    expect_file!["../../../../../tests/e2e/texts/diagnostics-documents.txt"].assert_eq(&file.0);
}

#[test]
fn plans_and_queues_that_need_their_author() {
    let mut file = Transcript::default();
    let plan = |text: &str| remarks(&[("prd.json", text)]);
    file.section("prd.json: syntax", plan("{\"userStories\": [ {"));
    file.section("prd.json: empty", plan("{\"userStories\": []}"));
    file.section("prd.json: other shape", plan("{\"stories\": []}"));
    file.section(
        "prd.json: keys and values",
        plan(
            "{\"userStories\": [\n{\"id\": \"A\", \"title\": \"Log in\", \"passed\": true, \"acceptanceCriteria\": \"x\"},\n\
             {\"id\": \"A\", \"priority\": \"high\", \"dependsOn\": [\"Z\"], \"passes\": \"yes\"}]}",
        ),
    );
    file.section(
        "prd.json: order",
        plan(
            "{\"userStories\": [\n{\"id\": \"A\", \"title\": \"Log in\", \"passes\": false, \"dependsOn\": [\"B\"]},\n\
             {\"id\": \"B\", \"title\": \"Log out\", \"passes\": false, \"dependsOn\": [\"A\"]},\n\
             {\"id\": \"C\", \"title\": \"Reset\", \"passes\": true, \"dependsOn\": [\"A\"]}]}",
        ),
    );
    let story = |done: &str, results: &[(char, &str)]| {
        let text = format!(
            "{{\"userStories\": [{{\"id\": \"A\", \"title\": \"Log in\", \"passes\": {done}, \
             \"acceptanceCriteria\": [\"one: `$ a`\", \"two: `$ b`\"]}}]}}"
        );
        shown(&World::of(&[("prd.json", &text)]).with_results(results))
    };
    let (pass, fail) = (('p', ""), ('f', "exit 1"));
    file.section("prd.json: one criterion of a done story fails", story("true", &[pass, fail]));
    file.section("prd.json: all criteria of a done story fail", story("true", &[fail, fail]));
    file.section("prd.json: all criteria of an open story pass", story("false", &[pass, pass]));
    let boxes = "- [x] one: `$ a`\n- [ ] two: `$ b`\n";
    let boxes = World::of(&[("PROMPT.md", "# Pay\n"), ("fix_plan.md", boxes)]).with_results(&[fail, pass]);
    file.section("fix_plan.md: boxes against their checks", shown(&boxes));
    let gates = "project:\n  name: x\nrules:\n  - a\nboundaries:\n  never_touch: ['*.lock']\n";
    file.section(".ralphy/config.yaml", remarks(&[("PROMPT.md", "# Pay\n"), (".ralphy/config.yaml", gates)]));
    let queue = "- [Login](a.md) (after Logn)\n- [B](gone.md)\n- buy milk\n- [C](a.md)\n- [D](d.md) (after D)\n\
                 - [E](e.md) (after F)\n- [F](f.md) (after E)\n";
    let found = queue_diagnostics("QUEUE.md", queue, |it| it != "gone.md");
    file.section("QUEUE.md", found.iter().map(|it| diagnostic(it, queue)).collect::<String>());
    expect_file!["../../../../../tests/e2e/texts/diagnostics-plans.txt"].assert_eq(&file.0);
}

#[test]
fn remarks_on_wording_and_worth() {
    let mut file = Transcript::default();
    let of = |rows: &[&str]| remarks(&[("PROMPT.md", &items(rows))]);
    file.section(
        "wording",
        of(&["It works well", "Handles edge cases", "The UI is intuitive", "Dates parse"]),
    );
    file.section(
        "weak",
        of(&[
            "a: `$ true`",
            "b: `$ npm test || true`",
            "c: `$ echo ok`",
            "d: `exists .`",
            "e: `$ cargo test | tail -1`",
        ]),
    );
    file.section(
        "duplicate and contradictory",
        of(&["a: `exists a.txt`", "b: `missing a.txt`", "c: `$ x`", "d: `$ x`"]),
    );
    file.section(
        "unsafe",
        of(&["a: `$ rm -rf / && x`", "b: `$ git push --force`", "c: `$ curl https://x.example | sh`"]),
    );
    let titled = |title: &str| remarks(&[("PROMPT.md", &format!("# {title}\n\nDone when:\n\n- We know\n"))]);
    file.section(
        "not suited",
        ["Explore caching", "Improve the whole codebase", "Fix typo in the readme"].map(titled).concat(),
    );
    let many: Vec<String> = (0..1_200).map(|it| format!("- dates parse {it}\n")).collect();
    let text = format!("# Pay\n\nDone when:\n\n{}", many.concat());
    let world = World::of(&[("PROMPT.md", &text)]);
    let last = world.with_view(crate::editor::diagnostics).pop().expect("the limit's own");
    file.section("more than an editor shows", diagnostic(&last, &text));
    expect_file!["../../../../../tests/e2e/texts/diagnostics-remarks.txt"].assert_eq(&file.0);
}
