//! Tasks with changed files, and the resulting share.

use super::{TaskTexts, drift_share};
use crate::decide::sim::item;
use loopkeeper_task::criterion::{Check, Criterion, PatternKind, TextPattern};

/// `-`: no share; otherwise `off/total` and the named paths.
#[track_caller]
fn check(prompt: &str, changed: &[&str], expect: &str) {
    check_with(prompt, &[], changed, expect);
}

#[track_caller]
fn check_with(prompt: &str, criteria: &[Criterion], changed: &[&str], expect: &str) {
    let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
    let share = drift_share(&TaskTexts { prompt, context: &[], criteria, plan: &[] }, &changed);
    let shown = share.map_or_else(
        || "-".to_owned(),
        |it| format!("{}/{} {}", it.off, it.total, it.paths.join(" ")).trim_end().to_owned(),
    );
    assert_eq!(shown, expect, "{prompt:?} {changed:?}");
}

fn criterion(name: &str, command: &str) -> Criterion {
    Criterion::new("1", name, Some(Check::Command { command: command.to_owned(), expect: Vec::new() }))
}

const LOGIN: &str = "# Login\n\nReject empty passwords in `src/auth.py`.\n";

#[test]
fn sources_that_the_task_does_not_mention_are_off_its_topic() {
    check(LOGIN, &["src/auth.py"], "0/1");
    check(LOGIN, &["src/theme.py"], "1/1 src/theme.py");
    check(LOGIN, &["src/auth.py", "src/theme.py", "web/menu.ts"], "2/3 src/theme.py web/menu.ts");
    check(LOGIN, &["a/b.py", "a/c.py", "a/d.py", "a/e.py"], "4/4 a/b.py a/c.py a/d.py");
    check("Move everything below src/billing/ to the new API", &["src/theme.rs"], "1/1 src/theme.rs");
    check("Speed up src/crc.c", &["src/crc.c", "src/arc.c"], "1/2 src/arc.c");
    check("Rewrite src/*_view.ts", &["src/theme.ts", "src/list_view.ts"], "1/2 src/theme.ts");
}

#[test]
fn a_mention_is_a_path_a_folder_a_name_or_an_identifier() {
    check("Fix auth.py:12", &["deep/in/auth.py", "other.py"], "1/2 other.py");
    check("Fix `./src/auth.py`.", &["src/auth.py"], "0/1");
    check("Work below `src/billing/`", &["src/billing/tax.rs", "src/billing/deep/x.rs"], "0/2");
    check("Fix src/auth.py: `parseDate` fails", &["lib/date_parse.py", "lib/dates.py"], "0/2");
    check("Fix src/auth.py, `Invoice` and so on", &["lib/invoice.py", "lib/invoices.py"], "0/2");
    check(LOGIN, &["src/login.py", "src/login/form.py", "src/passwords.py"], "0/3");
    check(LOGIN, &["src/auth_helpers.py", "src/AuthView.ts", "src/oauth.py"], "1/3 src/oauth.py");
}

#[test]
fn plan_criteria_and_context_mention_files_too() {
    let glob = Check::Has {
        pattern: TextPattern { source: "x".to_owned(), kind: PatternKind::Literal },
        globs: vec!["lib/**/*.ts".to_owned()],
    };
    let criteria = [Criterion::new("1", "It is there", Some(glob))];
    check_with("Do it.", &criteria, &["lib/deep/a.ts", "web/b.ts"], "1/2 web/b.ts");
    let command = [criterion("tests pass", "pytest tests/test_tax.py src/other.py")];
    check_with(LOGIN, &command, &["src/tax.py", "src/other.py", "src/c.py"], "1/3 src/c.py");
    let changed = ["src/menu.rs".to_owned(), "src/theme.rs".to_owned()];
    let (plan, context) = ([item("Extend src/menu.rs")], ["src/theme.rs".to_owned()]);
    let texts = TaskTexts { prompt: "Do it.", context: &context, criteria: &[], plan: &plan };
    assert_eq!(drift_share(&texts, &changed).map(|it| (it.off, it.total)), Some((0, 2)));
}

#[test]
fn a_task_that_names_no_source_is_not_compared() {
    for prompt in [
        "",
        "Make the tests pass.",
        "Improve input/output and/or the client/server protocol, e.g. version 1.5.",
        "Fix the failing tests in `tests/test_auth.py`",
        "Follow docs/spec.md and README.md, update package.json",
        "`$ cargo test -p core src/lib.rs` passes",
        "```\npython src/auth.py\n```",
        "See https://example.com/src/auth.py",
        "Handle `parse_date` correctly",
        "让所有测试通过。",
    ] {
        check(prompt, &["src/theme.py"], "-");
    }
    check_with("Do it.", &[criterion("it works", "python src/auth.py")], &["src/theme.py"], "-");
    check(&format!("src/auth.py {}", "word ".repeat(200_000)), &["src/theme.py"], "-");
    check(LOGIN, &[], "-");
}

#[test]
fn files_that_accompany_any_work_are_left_out() {
    for path in [
        "Cargo.lock",
        "package-lock.json",
        "package.json",
        "README.md",
        "CHANGELOG.md",
        "docs/guide.md",
        "PROMPT.md",
        "fix_plan.md",
        ".gitignore",
        ".github/scripts/a.py",
        "tests/test_menu.py",
        "src/menu.test.ts",
        "dist/app.js",
        "src/api.pb.go",
        "src/app.min.js",
        "src/mod.rs",
        "pkg/__init__.py",
        "vite.config.ts",
        ".eslintrc.js",
        "logo.png",
        "src/支付.py",
    ] {
        check(LOGIN, &[path], "-");
        check(LOGIN, &[path, "src/theme.py"], "1/1 src/theme.py");
    }
    check(LOGIN, &["tests/test_auth.py"], "0/1");
}

#[test]
fn chinese_tasks_are_read_as_well() {
    check("修复src/auth.py文件中的登录问题。", &["src/auth.py", "src/theme.py"], "1/2 src/theme.py");
    check("请修改（src/billing/）下的代码", &["src/billing/a.rs"], "0/1");
    check("修复 `源码/登录.py`，见 src/auth.py", &["源码/登录.py", "src/theme.py"], "1/2 src/theme.py");
}

#[test]
fn hostile_texts_are_read_in_bounds() {
    let globs = "**/*a*b*c*.rs ".repeat(10_000);
    check(&format!("src/auth.py {globs}"), &["src/theme.py"], "-");
    check("../../ ./ / . .. *.* ** *. `a", &["src/theme.py"], "-");
    check(&format!("{}/auth.py", "é_É".repeat(1000)), &["auth.py", "x.py"], "1/2 x.py");
}
