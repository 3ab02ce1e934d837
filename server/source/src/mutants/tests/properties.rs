//! Properties that hold for any text.

use super::super::{Mutant, MutationKind, choose_mutants};
use super::source;

const PATHS: [&str; 20] = [
    "a.rs", "a.py", "a.js", "a.go", "a.sh", "a.lua", "a.rb", "a.php", "A.java", "A.kt", "a.c", "a.cpp",
    "A.cs", "A.swift", "a.ex", "A.scala", "a.jl", "a.nim", "a.awk", "a.r",
];

const FRAGMENTS: [&str; 34] = [
    "if a < b {",
    "'",
    "\"",
    "\\",
    "é + 1",
    "/*",
    "*/",
    "r#\"",
    "x += 1;",
    "\n",
    "}",
    "f(1)",
    "`",
    "(",
    "return x;",
    "$(",
    "${",
    "[ a -eq 1 ]",
    " && ",
    "#",
    "<<END\n",
    "END\n",
    "case x in",
    "a) b ;;",
    "awk '{ x = 1 }'",
    "--[[",
    "]]",
    "\"\"\"",
    "%w[",
    "~r/",
    "<?php ",
    "?>",
    "=begin\n",
    "((",
];

/// A number that looks random.
fn mixed(seed: usize) -> usize {
    let mixed = (seed as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as usize
}

fn any_text(seed: usize, length: usize) -> String {
    (0..length).map(|it| FRAGMENTS[mixed(seed * 1000 + it) % FRAGMENTS.len()]).collect()
}

/// Every mutant differs from its source in one place of one line.
#[test]
fn any_text_has_only_mutants_of_one_place() {
    for seed in 0..1_000_usize {
        let text = any_text(seed, 4 + seed % 12);
        for path in PATHS {
            for mutant in choose_mutants(&[source(path, None, &text)], 50) {
                let Mutant { range, replacement, line, .. } = &mutant;
                let (head, tail) = (text.get(..range.start), text.get(range.end..));
                let (Some(head), Some(tail)) = (head, tail) else {
                    panic!("{path}: within a character: {text}")
                };
                let mutated = mutant.apply(&text);
                assert_eq!(mutated, format!("{head}{replacement}{tail}"));
                assert_ne!(mutated, text, "{path}");
                let lines = head.matches('\n').count() as u32 + 1;
                assert_eq!(*line, lines, "{path}: {text}");
                assert!(!text[range.clone()].contains('\n') && !replacement.contains('\n'), "{path}: {text}");
            }
        }
    }
}

/// Comments and texts that are put around a line of code change nothing about its mutants.
#[test]
fn no_mutant_is_in_a_comment_or_a_text() {
    const INNER: [&str; 5] = ["a == b", "x += 1", "true && false", "if (a < b)", "[ a -eq 1 ] || exit 1"];
    let check = |path: &str, code: &str, marks: &[(&str, &str)]| {
        // The statement with the text may be removed as a whole.
        let replacements = |text: &str| -> Vec<String> {
            let mut all = choose_mutants(&[source(path, None, text)], 99);
            all.retain(|it| it.kind != MutationKind::Statement);
            all.into_iter().map(|it| it.replacement).collect()
        };
        let expect = replacements(&format!("{code}\n"));
        assert!(!expect.is_empty(), "{path}: the control has none");
        for (open, close) in marks {
            for inner in INNER {
                let text = format!("{open}{inner}{close}\n{code}\n");
                let found = replacements(&text);
                assert_eq!(found, expect, "{path}: {text}");
            }
        }
    };
    let slashes = [("// ", ""), ("/* ", " */"), ("/*\n", "\n*/"), ("s = \"", "\""), ("s = \"\\\" ", "\"")];
    for path in
        ["a.rs", "a.js", "a.go", "a.c", "a.cpp", "A.java", "A.cs", "A.kt", "A.swift", "A.scala", "a.dart"]
    {
        check(path, "x = a == b", &slashes);
    }
    check("a.rs", "x = a == b", &[("s = r#\"\" ", "\"#"), ("/* /* */ ", " */"), ("s = \"\n", "\n\"")]);
    check("a.js", "x = a == b", &[("s = `", "`"), ("s = `${`", "`}`"), ("s = /[/]", "/"), ("s = '", "'")]);
    check("a.py", "x = a == b", &[("# ", ""), ("s = '''\n", "\n'''"), ("\"\"\"", "\"\"\""), ("s = '", "'")]);
    check(
        "a.rb",
        "x = a == b",
        &[("# ", ""), ("=begin\n", "\n=end"), ("s = <<~E\n", "\nE"), ("s = %q(", ")")],
    );
    check(
        "a.ex",
        "x = a == b",
        &[("# ", ""), ("@doc \"\"\"\n", "\n\"\"\""), ("s = ~S(", " )"), ("s = \"", "\"")],
    );
    check("a.lua", "x = a == b", &[("-- ", ""), ("--[[\n", "\n]]"), ("s = [=[\n", "\n]=]"), ("s = '", "'")]);
    check(
        "a.sh",
        "[ a = b ]",
        &[("# ", ""), ("x '", "'"), ("x \"", "\""), ("x <<E\n", "\nE"), ("x '\n", "\n'")],
    );
}

/// In quadratic time this would not end within hours.
#[test]
fn a_large_text_takes_linear_time() {
    const LARGE: usize = 10 * 1024 * 1024;
    const HOSTILE: usize = 512 * 1024;
    let check = |path: &str, unit: &str, size: usize| {
        let text = unit.repeat(size / unit.len());
        assert!(choose_mutants(&[source(path, None, &text)], 30).len() <= 30, "{path}: {unit}");
    };
    let line = format!("// {}\nx = a + b;\n", "of a comment ".repeat(20));
    check("a.c", &line, LARGE);
    check("a.sh", &line.replace("//", "#").replace(" = a + b;", "=1"), LARGE);
    for (path, unit) in [
        ("a.sh", "if [ \"$a\" -eq 3 ]; then echo \"$(f x)\"; fi\n"),
        ("a.sh", "(("),
        ("a.sh", "\"$("),
        ("a.sh", "[[ a && "),
        ("a.sh", "awk '{ x = 1 }' \n"),
        ("a.rs", "#[cfg(test)] mod a {\n"),
        ("a.rs", "'\\"),
        ("a.js", "if (a / b) {"),
        ("a.cpp", "R\""),
        ("a.rb", "x = <<~END\n"),
        ("a.rb", "%w["),
        ("a.kt", "\"${"),
        ("a.lua", "--[["),
        ("a.php", "<?php ?>"),
    ] {
        check(path, unit, HOSTILE);
    }
}
