#!/usr/bin/env python3
"""Tests of `names.py` on small crates, and of the cycles in our own.

usage: target/tools/python/bin/python tests/bench/test_names.py
"""
import pathlib
import tempfile
import unittest

import names

MANIFEST = '[package]\nname = "small"\n'


def source(files):
    """The crates of a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"Cargo.toml": MANIFEST, **files}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return names.Source("small", folder)


def cycles(files, strict=False):
    crate = source(files).crates["small"]
    return [["::".join(it) for it in modules] for _, modules, _ in names.cycles(crate, strict)]


class Words(unittest.TestCase):
    def test_types(self):
        for name, expected in (("Loop", 1), ("URL", 1), ("Utf8", 1), ("LspError", 2), ("LSPError", 2), ("TaskId", 2)):
            self.assertEqual(len(names.words_of_type(name)), expected, name)

    def test_functions(self):
        for name, expected in (("read", 1), ("_read", 1), ("r#match", 1), ("read_file", 2)):
            self.assertEqual(len(names.words_of_function(name)), expected, name)


class Counting(unittest.TestCase):
    def test_types_and_functions_of_production_code(self):
        found = source({
            "src/lib.rs": """
                mod part;
                #[cfg(test)]
                mod tests;
                #[cfg(not(test))]
                mod real { struct InReal; }
                #[derive(Debug)]
                struct Record { number: u32 }
                enum Kind { One }
                trait Named { type Output; fn name(&self) -> u8; }
                type Names = Vec<u8>;
                impl Iterator for Record {
                    type Item = u8;
                    fn next(&mut self) -> Option<u8> { None }
                }
                fn outer() { fn inner() {} }
                #[cfg(test)]
                fn for_tests() {}
                #[test]
                fn a_test() {}
            """,
            "src/part.rs": "struct Record;\n#[cfg(all(test, unix))]\nmod tests { struct InTest; }\n",
            "src/tests.rs": "struct InTests;",
            "src/unused.rs": "struct Unused;",
        })
        self.assertEqual(sorted(found.all("types")), ["InReal", "Kind", "Named", "Names", "Record", "Record"])
        self.assertEqual(sorted(found.all("functions")), ["inner", "name", "next", "outer"])
        row = dict(zip(["types", "one", "shared"], found.row(strict=False)[1:]))
        self.assertEqual(row, {"types": 6, "one": "83 %", "shared": "33 %"})

    def test_lines_begin_at_the_signature(self):
        found = source({"src/lib.rs": "/// What.\n#[inline]\npub fn three(\n) {\n}\nfn one() {}\n"})
        self.assertEqual(sorted(found.all("lengths")), [1, 3])

    def test_root_files_come_from_the_manifest(self):
        manifest = MANIFEST + '[lib]\npath = "code/lib.rs"\n[[bin]]\nname = "tool"\npath = "code/tool.rs"\n'
        files = {"Cargo.toml": manifest, "code/lib.rs": "struct Library;", "code/tool.rs": "struct Tool;"}
        self.assertEqual(sorted(source(files).all("types")), ["Library", "Tool"])


class Cycles(unittest.TestCase):
    def test_modules_that_use_each_other(self):
        self.assertEqual(cycles({"src/lib.rs": "mod a { use crate::b; } mod b { use crate::c::X; } mod c { struct X; }"}), [])
        for way in ("use crate::a::X;", "use super::a;", "use crate::{c, a::{self, X}};", "fn f() { super::a::g() }",
                    "fn f() -> crate::a::X {}", "fn f() { print!(\"{}\", crate::a::X) }", "use super::*; fn f() { a::g() }"):
            code = f"mod a {{ use crate::b; pub struct X; }} mod b {{ {way} }} mod c {{}}"
            self.assertEqual(cycles({"src/lib.rs": code}), [["a", "b"]], way)

    def test_tests_and_other_crates_do_not_count(self):
        for way in ("#[cfg(test)] mod tests { use crate::a; }", "use other::a;", "// crate::a::X", 'const A: &str = "crate::a";'):
            code = f"mod a {{ use crate::b; }} mod b {{ {way} }}"
            self.assertEqual(cycles({"src/lib.rs": code}), [], way)

    def test_reexports_lead_to_the_module_that_declares(self):
        code = "mod a { use crate::X; } mod b { pub use self::c::X; use crate::a; mod c { pub struct X; } } pub use b::X;"
        self.assertEqual(cycles({"src/lib.rs": code}), [["a", "b"]])

    def test_a_parent_and_its_children_are_one_unit_unless_strict(self):
        files = {"src/lib.rs": "mod a;", "src/a.rs": "mod b; use b::X; struct Y;", "src/a/b.rs": "use super::Y; struct X;"}
        self.assertEqual(cycles(files), [])
        self.assertEqual(cycles(files, strict=True), [["a", "a::b"]])

    def test_components(self):
        edges = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (5, 6), (7, 1)]
        self.assertEqual(names.components(edges), [[1, 2, 3], [4, 5]])


class OwnCrates(unittest.TestCase):
    def test_no_cycles(self):
        own = names.Source("loopkeeper", pathlib.Path(__file__).resolve().parents[2])
        for name, crate in own.crates.items():
            found = [", ".join("::".join(it) for it in modules) for _, modules, _ in names.cycles(crate, strict=False)]
            self.assertEqual(found, [], f"{name} has a cycle: `names.py --edges` shows its references")


if __name__ == "__main__":
    unittest.main()
