//! Lines of the start that the work withdraws from a type checker.

use super::{Tree, check};

const START: Tree<'_> = &[
    ("calc.ts", "export function add(a: number, b: number): number {\n  return String(a + b);\n}\n"),
    ("calc.py", "def add(a: int, b: list[int]) -> int:\n    return str(a + b)\n"),
    ("test_calc.py", "def test_a() -> None:\n    assert add(1, []) == 1\n"),
];

#[test]
fn a_cast_of_an_old_line_is_a_weakening() {
    let loosened = |path: &str, from: &str, to: &str| {
        let old = START.iter().find(|it| it.0 == path).unwrap().1;
        assert!(old.contains(from), "{from}");
        old.replace(from, to)
    };
    let is_found = |command: &str, path: &'static str, (from, to): (&str, &str), number: usize| {
        let what = format!("{path} takes the types from a line of the start in line {number}");
        check(command, START, &[(path, &loosened(path, from, to))], &[&what]);
    };
    is_found("npx tsc", "calc.ts", ("String(a + b)", "String(a + b) as any"), 2);
    is_found("npx tsc", "calc.ts", ("String(a + b)", "String(a + b) as unknown as number"), 2);
    is_found("npx tsc", "calc.ts", ("String(a + b)", "<any>String(a + b)"), 2);
    is_found("npx tsc", "calc.ts", ("): number", "): any"), 1);
    is_found("mypy .", "calc.py", ("-> int", "-> Any"), 1);
    is_found("mypy .", "calc.py", ("a: int, b: list[int]) -> int", "a, b)"), 1);

    let is_fine = |command: &str, path: &'static str, (from, to): (&str, &str)| {
        check(command, START, &[(path, &loosened(path, from, to))], &[]);
    };
    is_fine("npx eslint .", "calc.ts", ("String(a + b)", "String(a + b) as any"));
    is_fine("npx tsc", "calc.ts", ("String(a + b)", "a + b"));
    is_fine("npx tsc", "calc.ts", ("String(a + b)", "Number(String(a + b) as any)"));
    is_fine("npx tsc", "calc.ts", ("}\n", "}\nexport const load = (it: string) => JSON.parse(it) as any;\n"));
    is_fine("npx tsc", "calc.ts", ("): number", "): string"));
    is_fine("mypy .", "calc.py", ("list[int]", "Sequence[int]"));
    is_fine("mypy .", "calc.py", ("str(a + b)", "cast(int, load(a))"));
    is_fine("mypy .", "test_calc.py", ("() -> None", "()"));
}

#[test]
fn a_stub_hides_its_source() {
    let what = "calc.pyi takes the place of calc.py, so that the type checker does not read it";
    let stub = &[("calc.pyi", "def add(a: int, b: int) -> int: ...\n")];
    check("mypy .", START, stub, &[what]);
    check("pytest", START, stub, &[]);
    check("mypy .", START, &[("other.pyi", "def add(a: int, b: int) -> int: ...\n")], &[]);
}
