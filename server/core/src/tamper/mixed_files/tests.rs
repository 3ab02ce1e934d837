//! Files that are work and judge at once: the parts that come from the start, and those that stay.

use super::with_parts_of_start;

#[track_caller]
fn check(path: &str, parts: &[&str], start: &str, end: &str, expect: &str) {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let found = with_parts_of_start(path, &parts, (start, end), &|it| !it.starts_with("gone/"));
    assert_eq!(found.as_deref().unwrap_or("as it is"), expect, "{path}: {end}");
}

#[test]
fn removed_members_are_not_restored() {
    let start = "[workspace]\nmembers = [\"gone\", \"x\", \"crates/*\"]\n";
    check(
        "Cargo.toml",
        &[],
        start,
        "[workspace]\nmembers = [\"crates/*\"]\n",
        "[workspace]\nmembers = [\"x\", \"crates/*\"]\n",
    );
}

#[test]
fn phony_targets_are_declared_as_at_the_start() {
    let start = ".PHONY: test\ntest:\n\tsh run.sh\n";
    check("Makefile", &["test"], start, "test:\n\tsh run.sh\n", "test:\n\tsh run.sh\n.PHONY: test\n");
}

#[test]
fn scripts_that_checks_run_and_settings_of_runners_come_from_the_start() {
    let start = r#"{"scripts":{"test":"npm run unit","unit":"vitest"},"dependencies":{}}"#;
    let check = |end: &str, expect: &str| check("web/package.json", &["test"], start, end, expect);
    check(
        r#"{"scripts":{"test":"npm run unit","unit":"vitest","dev":"vite"},"dependencies":{"a":"1"}}"#,
        "as it is",
    );
    check(
        r#"{"scripts":{"test":"true","unit":"vitest"}}"#,
        start_of(r#"{"test":"npm run unit","unit":"vitest"}"#),
    );
    check(
        r#"{"scripts":{"test":"npm run unit","unit":"true"}}"#,
        start_of(r#"{"test":"npm run unit","unit":"vitest"}"#),
    );
    check(
        r#"{"scripts":{"pretest":"exit","test":"npm run unit","unit":"vitest"}}"#,
        start_of(r#"{"test":"npm run unit","unit":"vitest"}"#),
    );
    check(
        r#"{"jest":{"testMatch":[]},"scripts":{"test":"npm run unit","unit":"vitest"}}"#,
        start_of(r#"{"test":"npm run unit","unit":"vitest"}"#),
    );
    check("{", "as it is");
}

fn start_of(scripts: &'static str) -> &'static str {
    let value: serde_json::Value = serde_json::from_str(&format!(r#"{{"scripts":{scripts}}}"#)).unwrap();
    Box::leak(serde_json::to_string_pretty(&value).unwrap().into_boxed_str())
}

#[test]
fn tables_of_tools_come_from_the_start_and_packaging_stays() {
    let start = "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
    let check = |end: &str, expect: &str| check("pyproject.toml", &[], start, end, expect);
    check(&start.replace("name = \"a\"", "name = \"b\""), "as it is");
    check(&format!("{start}[tool.poetry]\nversion = \"1\"\n"), "as it is");
    check(&start.replace("-q", "-k one"), start);
    check("[project]\nname = \"a\"\n", start);
    check(&format!("{start}[tool.ruff]\nselect = []\n"), start);
}

#[test]
fn targets_of_cargo_that_run_no_tests_come_from_the_start() {
    let start = "[package]\nname = \"a\"\n\n[workspace]\nmembers = [\"x\", \"y\"]\n";
    let check = |end: &str, expect: &str| check("Cargo.toml", &[], start, end, expect);
    check(&format!("{start}\n[dependencies]\nserde = \"1\"\n"), "as it is");
    check(&format!("{start}\n[lib]\npath = \"src/a.rs\"\n"), "as it is");
    check(
        &format!("{start}\n[lib]\npath = \"src/a.rs\"\ntest = false\n"),
        "[lib]\npath = \"src/a.rs\"\n\n[package]\nname = \"a\"\n\n[workspace]\nmembers = [\"x\", \"y\"]\n",
    );
    check(&start.replace("\"a\"\n", "\"a\"\nautotests = false\n"), start);
    check(&format!("{start}[[test]]\nname = \"t\"\npath = \"empty.rs\"\n"), start);
    check(&start.replace("\"y\"", "\"z\""), &start.replace("\"y\"", "\"y\", \"z\""));
}

#[test]
fn rules_that_checks_run_come_from_the_start_with_their_variables() {
    let start = "RUN = sh run.sh\n\nall: app\n\napp: app.c\n\tcc app.c\n\ntest: all\n\t$(RUN)\n";
    let check = |end: &str, expect: &str| check("Makefile", &["test"], start, end, expect);
    check(&start.replace("cc app.c", "cc -O2 app.c"), "as it is");
    check(&format!("{start}\nclean:\n\trm app\n"), "as it is");
    check(&start.replace("sh run.sh", "true"), start);
    check(&start.replace("\t$(RUN)", "\t-$(RUN)"), start);
    check(&format!("{start}test:\n\ttrue\n"), start);
    check(&format!("{start}override RUN = true\n"), start);
    check(&format!("{start}define RUN\ntrue\nendef\n"), start);
    check(&format!("{start}override define RUN =\ntrue\nendef\n"), start);
    check(&format!("{start}undefine RUN\n"), start);
    check(&format!("{start}$(eval RUN = true)\n"), start);
    check(&format!("{start}define HELP\nRUN = true\nendef\n"), "as it is");
    check(&format!("{start}.IGNORE:\n"), start);
    check(&format!("{start}-include local.mk\n"), start);
    check(&start.replace("test: all\n\t$(RUN)\n", ""), start);
    check(
        &format!("{}\nclean:\n\trm app\n", start.replace("sh run.sh", "true")),
        &format!("{start}\nclean:\n\trm app\n"),
    );
}

#[test]
fn modules_of_tests_in_a_source_come_from_the_start() {
    let tests = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() {\n        assert_eq!(add('{', \"}\"), r#\"}\"#); // }\n    }\n}";
    let start = format!("fn add() {{}}\n\n{tests}\n");
    let check = |end: &str, expect: &str| check("src/lib.rs", &[], &start, end, expect);
    check(&start.replace("fn add() {}", "fn add() { 1 }"), "as it is");
    check(&start.replace("assert_eq", "assert_ne"), &start);
    check(&start.replace("cfg(test)", "cfg(all(test, feature = \"x\"))"), &start);
    check("fn add() {}\n", &format!("fn add() {{}}\n\n\n{tests}\n"));
    check("fn add() {}\n\n#[cfg(test)]\nmod tests;\n", &start);
}

#[test]
fn braces_in_comments_do_not_end_a_module_of_tests() {
    for comment in ["/*/ } */", "/* { /* } */ } */", "// }"] {
        let tests = format!("#[cfg(test)]\nmod tests {{\n    {comment}\n    #[test]\n    fn one() {{}}\n}}");
        let start = format!("{tests}\n");
        check("src/lib.rs", &[], &start, &start.replace("fn one", "fn two"), &start);
    }
}

#[test]
fn tests_of_cmake_are_taken_from_the_start() {
    let start = "project(calc C)\nenable_testing()\nadd_library(calc calc.c)\nadd_test(NAME sums COMMAND calc_test sums)\n";
    let check = |end: &str, expect: Option<&str>| {
        let text = with_parts_of_start("CMakeLists.txt", &[], (start, end), &|_| true);
        assert_eq!(text.as_deref(), expect, "{end}");
    };
    check(&start.replace("calc.c)", "src/calc.c)\n# (more"), None);
    check(
        &format!("{start}set_tests_properties(sums PROPERTIES WILL_FAIL TRUE)\n"),
        Some(
            "project(calc C)\n\nadd_library(calc calc.c)\n\n\n\nenable_testing()\nadd_test(NAME sums COMMAND calc_test sums)\n",
        ),
    );
    check(
        "project(calc C)\nset(X \"a(b\")\n",
        Some(
            "project(calc C)\nset(X \"a(b\")\n\nenable_testing()\nadd_test(NAME sums COMMAND calc_test sums)\n",
        ),
    );
}

#[test]
fn imports_of_deno_that_lead_to_other_files_are_judges() {
    let check = |start: &str, end: &str, expect: Option<&str>| {
        let text = with_parts_of_start("deno.json", &[], (start, end), &|_| true);
        let text = text.map(|it| it.split_whitespace().collect::<String>());
        assert_eq!(text.as_deref(), expect, "{end}");
    };
    check("{}", r#"{"imports": {"@std/assert": "jsr:@std/assert@1"}, "fmt": {}}"#, None);
    check(
        "{}",
        r#"{"imports": {"./calc.ts": "./good.ts", "a": "npm:a@1"}}"#,
        Some(r#"{"imports":{"a":"npm:a@1"}}"#),
    );
    check("", r#"{"imports": {"node:assert": "npm:fake@1"}}"#, Some(r#"{"imports":{}}"#));
    check(
        r#"{"test": {"include": ["a"]}}"#,
        r#"{"test": {"include": ["b"]}}"#,
        Some(r#"{"test":{"include":["a"]}}"#),
    );
}
