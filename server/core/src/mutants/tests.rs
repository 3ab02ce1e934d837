use super::{ChangedSource, Mutant, choose_mutants, is_source};

fn source(path: &str, before: Option<&str>, after: &str) -> ChangedSource {
    ChangedSource { path: path.to_owned(), before: before.map(str::to_owned), after: after.to_owned() }
}

/// The line numbers and lines of all mutants of a new file, in the order of the file.
fn mutated(path: &str, text: &str) -> Vec<String> {
    let mut all = choose_mutants(&[source(path, None, text)], usize::MAX);
    all.sort_by_key(|it| (it.line, it.range.start, it.kind));
    all.iter().map(|it| it.line_after(text)).collect()
}

#[track_caller]
fn check(path: &str, text: &str, expect: &[&str]) {
    assert_eq!(mutated(path, text), expect, "{text}");
}

#[test]
fn operators_of_python() {
    check("a.py", "def add(a, b):\n    return a + b\n", &["return None", "return a - b"]);
    check("a.py", "if a < b:\n", &["if a >= b:"]);
    check("a.py", "if a<=b and c:\n", &["if a>b and c:", "if a<=b or c:"]);
    check("a.py", "x = n // 2\n", &["x = n * 2", "x = n // 3"]);
    check("a.py", "x = -n\ny = [-n]\nf(*args, **kw)\n", &["pass"]);
    check("a.py", "x = 'a' + b\nx = a + \"b\"\n", &[]);
    check("a.py", "x = a % b  # a % b\ns = 'a < b'\n", &["x = a * b  # a % b"]);
    check("a.py", "\"\"\"a < b\n1 + 2\n\"\"\"\n", &[]);
    check("a.py", "ok = True\n", &["ok = False"]);
    check("a.py", "total += n\n", &["pass", "total -= n"]);
    check("a.py", "x = 0x10\nx = 1.5\nx = 1_000\ntimeout = 30\n", &["x = 1001"]);
}

#[test]
fn statements_of_python() {
    check("a.py", "if not ready:\n", &["if not (not ready):"]);
    check("a.py", "while queue:\n", &["while not (queue):"]);
    check("a.py", "self.items.append(x)\n", &["pass"]);
    check("a.py", "self.total = x\nx = y\n", &["pass"]);
    check("a.py", "f(\n    g(x),\n    h(y)\n)\n", &[]);
    check("a.py", "logger.info(x)\nimport os\nfrom a import b\n@cache(1)\nassert x == 1\n", &[]);
    check("a.py", "return\nreturn None\nreturn f(\n    x)\n", &[]);
    check("a.py", "if __name__ == \"__main__\":\n    main()\n", &["pass"]);
    check("a.py", "x = (a\n    + b)\n", &["- b)"]);
    check("a.py", "x = {\n    1: f(y)\n}\n", &["2: f(y)"]);
}

#[test]
fn sources_of_rust() {
    check("a.rs", "fn f<T: A + B>(a: Vec<u8>) -> &'a str {\n", &[]);
    check("a.rs", "    a + b\n", &["a - b"]);
    check("a.rs", "    *a = *b;\n", &[]);
    check("a.rs", "    if a < b && !c {\n", &["if a >= b && !c {", "if a < b || !c {"]);
    check("a.rs", "    if it.is_empty() {\n", &["if !(it.is_empty()) {"]);
    check("a.rs", "    if let Some(x) = y {\n", &[]);
    check("a.rs", "    } else if ready {\n", &["} else if !(ready) {"]);
    check("a.rs", "{\n    self.items.push(x);\n", &[";"]);
    check("a.rs", "{\n    self.run(x)?;\n    let y = f(x);\n", &[";"]);
    check("a.rs", "{\n    f(x)\n", &[]);
    check("a.rs", "{\n    return f(x);\n", &["return Default::default();"]);
    check("a.rs", "let c = '<'; let d = \"<\"; let e = r#\"\" < \"#;\n", &[]);
    check(
        "a.rs",
        "let x = pair.0 == 1u8; // 1 == 1\n",
        &["let x = pair.0 != 1u8; // 1 == 1", "let x = pair.0 == 2u8; // 1 == 1"],
    );
    check(
        "a.rs",
        "#[derive(A)]\nuse a::b;\n/* 1 + 1 */ const ON: bool = true;\n",
        &["/* 1 + 1 */ const ON: bool = false;"],
    );
    check(
        "a.rs",
        "fn f() -> bool { a == b }\n#[cfg(test)]\nmod tests {\n    fn t() { g(1); }\n}\n",
        &["fn f() -> bool { a != b }"],
    );
}

#[test]
fn sources_of_javascript_and_go() {
    check("a.ts", "const x: Array<number> = f(a => b);\n", &[]);
    check("a.ts", "  if (a === b) {\n", &["if (a !== b) {"]);
    check("a.js", "  if (list.includes(x)) {\n", &["if (!(list.includes(x))) {"]);
    check("a.js", "const re = /a < b/; const s = `a < ${b}`;\n", &[]);
    check("a.js", "x = a / b / c;\n", &[";", "x = a * b / c;", "x = a / b * c;"]);
    check("a.js", "items.push(x);\nitems.sort()\n", &[";", ";"]);
    check("a.js", "fetch(x)\n  .then(y)\n", &[]);
    check("a.js", "  return a;\n", &["return null;"]);
    check("a.go", "\tif err != nil {\n", &["if err == nil {"]);
    check("a.go", "\tif ok := f(); ok {\n", &[]);
    check("a.go", "\ttotal = total + *n\n", &["", "total = total - *n"]);
    check("a.go", "\ts.count++\n\tdefer f()\n\tch <- x\n", &[]);
}

#[test]
fn other_languages_have_operators_and_constants_only() {
    check(
        "A.java",
        "  List<String> a = b; // x < y\n  if (a.size() > 2) run();\n",
        &["if (a.size() <= 2) run();", "if (a.size() > 3) run();"],
    );
    check("a.c", "#define N 3\nint *p = a * b;\n", &["int *p = a / b;"]);
    check("a.rb", "x = a == b # 1\n", &["x = a != b # 1"]);
}

#[test]
fn only_sources_have_mutants() {
    for (path, expect) in [
        ("a.py", true),
        ("lib/a.tsx", true),
        ("a.json", false),
        ("a.sh", false),
        ("README", false),
        ("a.min.js", false),
        ("a.d.ts", false),
    ] {
        assert_eq!(is_source(path), expect, "{path}");
    }
    assert!(mutated("a.md", "1 + 1 == 2\n").is_empty());
}

#[test]
fn only_changed_lines_are_mutated() {
    let check = |before: &str, after: &str, expect: &[u32]| {
        let mut lines: Vec<u32> =
            choose_mutants(&[source("a.py", Some(before), after)], 99).iter().map(|it| it.line).collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines, expect, "{after}");
    };
    check("x = a + b\n", "x = a + b\n", &[]);
    check("x = a + b\n", "x = a - b\n", &[1]);
    check("x = a + b\n", "y = a * b\nx = a + b\n", &[1]);
    check("x = a + b\ny = c * d\n", "y = c * d\nx = a + b\n", &[]);
    check("x = a + b\n", "x = a + b\nx = a + b\n", &[2]);
    check("if p:\n    x = a + b\n", "x = a + b\n", &[]);
}

#[test]
fn mutants_are_spread_over_files_and_lines() {
    let text = (0..10).map(|it| format!("x{it} = a + b{it} * c\n")).collect::<Vec<_>>().concat();
    let sources = [source("a.py", None, &text), source("b.py", None, "y = a + b\n")];
    let chosen = choose_mutants(&sources, 6);
    let places: Vec<(&str, u32)> = chosen.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(places, [("a.py", 1), ("b.py", 1), ("a.py", 8), ("a.py", 5), ("a.py", 2), ("a.py", 9)]);
    assert_eq!(chosen, choose_mutants(&sources, 6));
    let all = choose_mutants(&sources, usize::MAX);
    assert_eq!(all.len(), 21);
    let mut lines: Vec<u32> = all.iter().filter(|it| it.path == "a.py").take(10).map(|it| it.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, (1..=10).collect::<Vec<_>>());
}

/// Every mutant of any text differs from it in one line, or removes one statement.
#[test]
fn any_text_has_only_mutants_of_one_line() {
    let fragments = [
        "if a < b {",
        "'",
        "\"",
        "\\",
        "é + 1",
        "/*",
        "r#\"",
        "x += 1;",
        "\n",
        "}",
        "f(1)",
        "`",
        "(",
        "return x;",
    ];
    for seed in 0..2_000_usize {
        let text: String = (0..8)
            .map(|it| fragments[(seed * 31 + it * it * 7 + seed / (it + 1)) % fragments.len()])
            .collect();
        for path in ["a.rs", "a.py", "a.js", "a.go", "a.sh", "a.lua"] {
            for mutant in choose_mutants(&[source(path, None, &text)], 50) {
                let Mutant { range, .. } = &mutant;
                assert!(
                    text.is_char_boundary(range.start) && text.is_char_boundary(range.end),
                    "{path}: {text}"
                );
                assert_ne!(mutant.apply(&text), text);
            }
        }
    }
}

#[test]
fn sources_that_affect_anything_outside_have_none() {
    let computes = "def fee(amount):\n    return amount + 2\n";
    check("a.py", computes, &["return None", "return amount - 2", "return amount + 3"]);
    for line in [
        "shutil.rmtree(path)",
        "os.remove(path)",
        "subprocess.run(command)",
        "requests.post(url)",
        "db.execute('DELETE FROM users')",
        "path.unlink()",
    ] {
        check("a.py", &format!("{computes}{line}\n"), &[]);
    }
    check("a.rs", "fn f() {\n    a + b\n}\nfn g() { std::fs::remove_dir_all(p); }\n", &[]);
    check("a.js", "x = a + b\nfs.rmSync(x)\n", &[]);
    check("a.go", "x = a + b\nos.RemoveAll(x)\n", &[]);
}
