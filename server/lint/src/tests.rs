//! Whole tasks: the remarks, their places, and the document after each fix.

use loopkeeper_task::{TaskDocument, parse_task};
use loopkeeper_text::language::Language;

use super::{
    Gate, GradeLevel, Lint, LintCode, LintFix, ProjectCommand, TaskAspect, check_fixes, fixes, grade, lints,
};

fn document(text: &str) -> Vec<TaskDocument> {
    vec![TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() }]
}

fn lint_criteria(criteria: &str) -> (Vec<TaskDocument>, Vec<Lint>) {
    let documents = document(&format!("# T\n\n## Done when\n\n{criteria}\n"));
    let found = lints(&parse_task(&documents), &documents);
    (documents, found)
}

fn codes_of(criteria: &str) -> Vec<&'static str> {
    lint_criteria(criteria).1.iter().map(|it| it.code.word()).collect()
}

fn apply_fix(documents: &[TaskDocument], fix: &LintFix) -> String {
    let document = documents.iter().find(|it| it.path == fix.place.file).unwrap();
    let mut text = document.text.clone();
    text.replace_range(fix.place.range.clone(), &fix.text);
    text
}

#[test]
fn types_are_not_missing_where_a_check_compiles() {
    let check = |command: &str, expect: bool| {
        let text = format!("# T\n\n## Done when\n\n- A: `$ {command}`\n- B: `has \"a\" src/a.rs`\n");
        let documents = document(&text);
        let task = parse_task(&documents);
        let grade = grade(&task, &documents, &lints(&task, &documents));
        assert_eq!(grade.missing.contains(&TaskAspect::Types), expect, "{command}");
        assert_eq!(grade.level, GradeLevel::Incomplete, "{command}");
    };
    check("cargo test", false);
    check("go test ./...", false);
    check("pytest", true);
    check("npm test", true);
}

#[test]
fn work_on_speed_needs_a_measurement() {
    let check = |title: &str, criterion: &str, expect: bool| {
        let usual = "- A: `$ pytest`\n- B: `$ mypy .`\n- C: `has \"a\" README.md`\n";
        let text = format!("# {title}\n\n## Done when\n\n{usual}- D: {criterion}\n");
        let documents = document(&text);
        let task = parse_task(&documents);
        let grade = grade(&task, &documents, &lints(&task, &documents));
        assert_eq!(grade.missing.first() == Some(&TaskAspect::Measurement), expect, "{title} {criterion}");
        assert_eq!(grade.level == GradeLevel::Incomplete, expect, "{title} {criterion}");
    };
    check("Make the parser faster", "`clean`", true);
    check("Make the parser faster", "`$ coverage report` `>= 80`", true);
    check("Make the parser faster", "`$ ./time.sh` `<= 200`", false);
    check("Make the parser faster", "`$ ./time.sh` `< baseline`", false);
    check("Make the parser faster", "`$ cargo bench`", false);
    check("Make the parser faster", "`judge`", false);
    check("Parse dates", "`clean`", false);
}

#[test]
fn a_finding_marks_the_words_it_concerns() {
    let (documents, found) = lint_criteria("- Ünïcode ✅ is handled properly");
    let place = &found[0].place;
    assert_eq!(&documents[0].text[place.range.clone()], "properly");
    assert_eq!(found[0].fact, "\"properly\" cannot be measured");
}

#[test]
fn every_fix_leaves_a_task_without_findings() {
    let rows = [
        ("- Errors are handled properly.", LintCode::Vague),
        ("- The layout is beautiful (optional)", LintCode::Subjective),
        ("- 界面美观。", LintCode::Subjective),
        ("- It builds: `$ make || true`", LintCode::Weak),
        ("- It works: `$ true`", LintCode::Weak),
        ("- A: `$ make`\n- B: `$ make`", LintCode::Duplicate),
        ("- A: `exists a.txt`\n- B: `missing a.txt`", LintCode::Contradictory),
        ("- A: `$ npm publish`", LintCode::Unsafe),
    ];
    for (criteria, code) in rows {
        let (documents, found) = lint_criteria(criteria);
        let lint = found.iter().find(|it| it.code == code).unwrap_or_else(|| panic!("{criteria}: {found:?}"));
        let offered = fixes(&parse_task(&documents), &documents, &[], lint);
        assert!(!offered.is_empty(), "{criteria}");
        for fix in &offered {
            let after = document(&apply_fix(&documents, fix));
            let task = parse_task(&after);
            assert_eq!(task.findings, [], "{}", after[0].text);
            let again = lints(&task, &after);
            assert!(!again.iter().any(|it| it.code == code), "{} {again:?}", after[0].text);
        }
    }
}

#[test]
fn commands_that_only_inform_are_not_weak() {
    let documents = document(
        "---\ncommands:\n  - name: log\n    run: git log --oneline\ntest_command: make || true\n---\n# T\n",
    );
    let found = lints(&parse_task(&documents), &documents);
    assert_eq!(
        found.iter().map(|it| it.fact.as_str()).collect::<Vec<_>>(),
        ["`|| true` hides every failure"]
    );
}

#[test]
fn attributes_stay_at_the_end() {
    let (documents, found) = lint_criteria("- The page is beautiful (optional) (timeout 5m).");
    let after = apply_fix(&documents, &fixes(&parse_task(&documents), &documents, &[], &found[0])[0]);
    assert!(after.contains("- The page is beautiful: `judge` (optional) (timeout 5m)."), "{after}");
    let task = parse_task(&document(&after));
    assert!(!task.criteria[0].required && task.criteria[0].check.is_some());
}

#[test]
fn a_gate_gets_the_command_of_the_project() {
    let documents = document("# T\n\nDone when:\n\n- All tests pass\n- Typecheck passes\n- 测试全部通过\n");
    let task = parse_task(&documents);
    let project = [
        ProjectCommand { gate: Gate::Tests, command: "npm test".to_owned() },
        ProjectCommand { gate: Gate::Types, command: "npx tsc --noEmit".to_owned() },
    ];
    let after = |index| apply_fix(&documents, &check_fixes(&task, &documents, &project, index)[0]);
    assert!(after(0).contains("- All tests pass: `$ npm test`\n"), "{}", after(0));
    assert!(after(1).contains("- Typecheck passes: `$ npx tsc --noEmit`\n"));
    assert!(after(2).contains("- 测试全部通过：`$ npm test`\n"));
    assert_eq!(lints(&task, &documents), []);
}

#[test]
fn a_fix_in_json_escapes() {
    let text = r#"{"userStories": [{"id": "1", "title": "T", "acceptanceCriteria": ["It prints: `$ echo \"x\" || true`", "Looks good"]}]}"#;
    let documents = vec![TaskDocument { path: "prd.json".to_owned(), text: text.to_owned() }];
    let task = parse_task(&documents);
    for lint in lints(&task, &documents) {
        for fix in &fixes(&task, &documents, &[], &lint) {
            let after = vec![TaskDocument { path: "prd.json".to_owned(), text: apply_fix(&documents, fix) }];
            let task = parse_task(&after);
            assert_eq!(task.findings, [], "{}", after[0].text);
            assert_eq!(task.criteria.len(), 2);
        }
    }
}

#[test]
fn pairs_are_compared_where_both_must_hold() {
    let rows: [(&str, &[&str]); 21] = [
        ("- A: `$ make`\n- B: `$ make`", &["duplicate"]),
        ("- Dates parse\n- dates  parse", &["duplicate"]),
        ("- A: `$ make`\n- B: `$ make` `exit 1`", &["contradictory"]),
        ("- A: `has \"x\" a.md`\n- B: `lacks \"x\" a.md`", &["contradictory"]),
        ("- A: `$ wc -l < a` `>= 100`\n- B: `$ wc -l < a` `< 50`", &["contradictory"]),
        ("- A: `$ wc -l < a` `== 3`\n- B: `$ wc -l < a` `!= 3`", &["contradictory"]),
        ("- A: `$ wc -l < a` `>= 10`\n- B: `$ wc -l < a` `<= 50`", &[]),
        ("- A: `$ wc -l < a` `>= 10`\n- B: `$ wc -l < a` `<= 10`", &[]),
        ("- A: `$ wc -l < a` `> 10`\n- B: `$ wc -l < a` `<= 10`", &["contradictory"]),
        ("- A: `$ ./x` `/a/`\n- B: `$ ./x` `!/a/`", &["contradictory"]),
        ("- A: `$ ./x` `/a/`\n- B: `$ ./x` `!/b/`", &[]),
        ("- A: `GET http://x.org/`\n- B: `GET http://x.org/` `204`", &[]),
        ("- A: `GET http://x.org/`\n- B: `GET http://x.org/` `404`", &["contradictory"]),
        ("- A: `GET http://x.org/` `200`\n- B: `GET http://x.org/` `204`", &["contradictory"]),
        ("- A: `$ ./warnings` `<= 5` (not falling)", &["contradictory"]),
        ("- A: `$ ./warnings` `< baseline` (rising)", &["contradictory"]),
        ("- A: `$ ./warnings` `<= baseline`", &[]),
        ("- A: `$ ./cover | tail -1` (not falling)", &[]),
        ("- A: `clean`\n- B: `$ ./x > out.txt`", &["contradictory"]),
        ("- A: `clean`\n- B: `$ ./x > /dev/null 2>&1`", &[]),
        ("- A: `exists a`\n- B (optional): `missing b`", &[]),
    ];
    for (criteria, expect) in rows {
        assert_eq!(codes_of(criteria), expect, "{criteria}");
    }
}

#[test]
fn stories_may_repeat_their_gates() {
    let story = |id: u32| {
        format!(
            r#"{{"id": "{id}", "title": "T{id}", "acceptanceCriteria": ["Typecheck passes", "`$ npm test`"]}}"#
        )
    };
    let text = format!(r#"{{"userStories": [{}, {}]}}"#, story(1), story(2));
    let documents = vec![TaskDocument { path: "prd.json".to_owned(), text }];
    assert_eq!(lints(&parse_task(&documents), &documents), []);
}

#[test]
fn a_task_is_graded_by_what_its_checks_decide() {
    let rows = [
        ("- It works well\n- Code is clean", GradeLevel::Vague),
        ("- `$ true`", GradeLevel::Vague),
        ("- All tests pass: `$ npm test`", GradeLevel::Incomplete),
        ("- Tests: `$ cargo test ini`\n- Clippy: `$ cargo clippy -- -D warnings`", GradeLevel::Incomplete),
        (
            "- It parses: `$ pytest tests/test_ini.py`\n- Scope: `$ git diff --exit-code main -- src/api.py`",
            GradeLevel::Incomplete,
        ),
        (
            "- It parses: `$ cargo test ini`\n- Tests: `$ cargo test`\n- Clippy: `$ cargo clippy -- -D warnings`",
            GradeLevel::Comprehensive,
        ),
        ("- `$ npm test`\n- `$ npm run lint`\n- Works well", GradeLevel::Incomplete),
        (
            "- Tests: `$ npm test`\n- Types: `$ npx tsc --noEmit`\n- Lint: `$ npm run lint`\n- It prints: `$ ./run x` `/3 items/`",
            GradeLevel::Comprehensive,
        ),
    ];
    for (criteria, expect) in rows {
        let (documents, found) = lint_criteria(criteria);
        let grade = grade(&parse_task(&documents), &documents, &found);
        assert_eq!(grade.level, expect, "{criteria}: {grade:?}");
    }
}

#[test]
fn the_brief_grade_fits_into_a_line_of_a_list() {
    let check = |criteria: &str, expect: &str| {
        let (documents, found) = lint_criteria(criteria);
        let brief = grade(&parse_task(&documents), &documents, &found).brief();
        assert_eq!(brief, expect, "{criteria}");
        assert!(brief.len() <= 52, "{brief}");
    };
    check("- It is right", "vague: no criterion has a check that can fail");
    check("- A: `$ ./a`\n- B\n- C", "vague: 1 of 3 criteria have a check that can fail");
    check("- It is there: `exists a.rs`", "incomplete: no tests, types, lint and 3 more");
    check("- `$ cargo test`\n- `$ cargo clippy`", "incomplete: no behaviour, docs, leftovers and 1 more");
    let good =
        "- `$ npm test`\n- `$ npm run lint`\n- `$ npx tsc --noEmit`\n- It prints: `$ ./run x` `/3 items/`";
    check(good, "comprehensive (not checked: docs, leftovers, …)");
    let rest = "\n- `has /x/ README.md`\n- `clean`";
    check(&format!("{good}{rest}"), "comprehensive (not checked: limits of scope)");
}

#[test]
fn the_grade_of_a_task_without_criteria_counts_nothing() {
    let documents = document("# Parser\n\nWrite it.\n");
    let sentence = grade(&parse_task(&documents), &documents, &[]).sentence();
    assert!(sentence.starts_with("vague: no required criterion; missing: behaviour, tests"), "{sentence}");
}

#[test]
fn remarks_are_written_in_the_language_of_the_user() {
    let criteria =
        "- 处理 properly\n- It builds: `$ make || true`\n- A: `$ npm publish`\n- B: `$ jest --listTests`";
    let (facts, titles, grade) = Language::SimplifiedChinese.during(|| {
        let (documents, found) = lint_criteria(criteria);
        let task = parse_task(&documents);
        let title = |it: &Lint| fixes(&task, &documents, &[], it).first().map(|it| it.title.clone());
        let titles: Vec<String> = found.iter().filter_map(title).collect();
        let facts: Vec<String> = found.iter().map(|it| format!("{}。{}", it.fact, it.remedy)).collect();
        (facts, titles, grade(&task, &documents, &found).sentence())
    });
    let expect = [
        "“properly”无法衡量。请写明输入和预期结果",
        "`|| true` 会掩盖所有失败。请让检查能够失败",
        "`npm` 会发布软件包。请使用没有副作用的检查",
        "`--listTests` 只列出测试，不运行。请让检查能够失败",
    ];
    assert_eq!(facts, expect);
    assert_eq!(titles[1..], ["写成 `$ make`", "写成 `$ npm publish --dry-run`", "写成 `$ jest`"]);
    assert_eq!(
        grade,
        "含糊：1/4 个标准带有能够失败的检查；缺少：测试、类型、代码检查、文档、遗留内容、范围限制"
    );
}
