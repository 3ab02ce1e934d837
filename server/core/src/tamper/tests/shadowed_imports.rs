//! Tests that test a replacement instead of the work, and changes that only resemble it.

use super::{Tree, check};

/// A file of tests as it was and as it is; the files of the work next to it.
#[track_caller]
fn becomes(path: &str, work: Tree<'_>, before: &str, after: &str, expect: &[&str]) {
    let tree: Vec<(&str, &str)> = work.iter().copied().chain([(path, before)]).collect();
    check("run the tests", &tree, &[(path, after)], expect);
}

const CALC_PY: Tree<'_> = &[("calc.py", "def add(a, b):\n    return a - b\n\n\nLIMIT = 3\n")];
const PY: &str = "import json\nfrom calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
const PY_BODY: &str = "def test_add():\n    assert add(1, 2) == 3\n";

#[track_caller]
fn python(head: &str, expect: &[&str]) {
    becomes("tests/test_calc.py", CALC_PY, PY, &format!("{head}\n\n{PY_BODY}"), expect);
}

const OWN_ADD: &str = "tests/test_calc.py tests its own `add` (line 2), not that of `calc`";

#[test]
fn python_binds_what_it_imported() {
    let caught: &[&str] = &[
        "from calc import add\nadd = lambda a, b: a + b",
        "import json\nadd = lambda a, b: a + b",
        "import json\ndef add(a, b):\n    return a + b",
        "from calc import add\nasync def add(a, b):\n    return a + b",
        "import json\nclass add:\n    def __new__(cls, a, b):\n        return a + b",
        "import operator\nadd = operator.add",
        "import json\nadd: object = lambda a, b: a + b",
        "from calc import add as _add\ndef add(a, b):\n    return a + b",
        "from calc import add\ndef add(a, b):\n    return a if b == 0 else add(a + 1, b - 1)",
        "import json\nglobals()['add'] = lambda a, b: a + b",
        "import json\nadd, sub = (lambda a, b: a + b), None",
    ];
    for head in caught {
        python(head, &[OWN_ADD]);
    }
    python(
        "try:\n    from calc import plus\nexcept ImportError:\n    def add(a, b):\n        return a + b",
        &["tests/test_calc.py tests its own `add` (line 4), not that of `calc`"],
    );
}

#[test]
fn python_sets_it_on_the_module() {
    let own = |name: &str, line: u32| {
        vec![format!("tests/test_calc.py tests its own `{name}` (line {line}), not that of `calc`")]
    };
    let caught: &[(&str, &str, u32)] = &[
        ("import calc\ncalc.add = lambda a, b: a + b\nfrom calc import add", "calc.add", 2),
        ("import calc\nsetattr(calc, 'add', lambda a, b: a + b)\nfrom calc import add", "calc.add", 2),
        ("import calc\ncalc.__dict__['add'] = lambda a, b: a + b\nfrom calc import add", "calc.add", 2),
    ];
    for (head, name, line) in caught {
        let expect = own(name, *line);
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        python(head, &expect);
    }
    python(
        "import sys\n\nsys.modules['calc'] = Fake()\nfrom calc import add",
        &["tests/test_calc.py replaces `calc` (line 3)"],
    );
}

#[test]
fn python_within_a_test_of_the_start() {
    let inside = "import json\nfrom calc import add\n\n\ndef test_add():\n    add = lambda a, b: a + b\n    assert add(1, 2) == 3\n";
    let own = "tests/test_calc.py tests its own `add` (line 6), not that of `calc`";
    becomes("tests/test_calc.py", CALC_PY, PY, inside, &[own]);
    let new = format!(
        "{PY}\n\ndef test_memo():\n    def add(a, b):\n        return a + b\n    assert memo(add)(1, 2) == 3\n"
    );
    becomes("tests/test_calc.py", CALC_PY, PY, &new, &[]);
}

#[test]
fn python_that_tests_the_work() {
    let honest: &[&str] = &[
        "from calc import add",
        "from calc.core import add",
        "from src.calc import add",
        "from calc import (\n    add,\n    LIMIT,\n)",
        "import calc\nadd = calc.add",
        "import calc\n\ndef add(a, b):\n    return calc.plus(a, b)",
        "from calc import plus as add",
        "from calc import add\nfrom timing import timed\nadd = timed(add)",
        "import importlib\nadd = importlib.import_module('calc').add",
        "from calc import add\n\ndef helper(a):\n    return [a]\n\n\nCASES = [(1, 2, 3)]",
        "from calc import add\n\nSOURCE = \"\"\"\nadd = lambda a, b: a + b\n\"\"\"",
        "from calc import add\n# add = lambda a, b: a + b",
        "from calc import add\n\nclass FakeCalc:\n    def add(self, a, b):\n        return 3",
        "from calc import add\n\ndef test_mocked(monkeypatch):\n    monkeypatch.setattr('calc.add', lambda a, b: 3)\n    assert total() == 3",
        "import calc\nfrom unittest import mock\nfrom calc import add\n\n@mock.patch('calc.add')\ndef test_mocked(add):\n    assert add.called is False",
        "import calc\nfrom unittest.mock import Mock\nfrom calc import add\n\ndef test_mocked():\n    calc.add = Mock()\n    assert total() == 3",
        "from calc import add\nOPS = dict(\n    add=lambda a, b: a + b,\n)",
        "import calc\nfrom calc import add\ncalc.DEBUG = True",
        "try:\n    from calc import add\nexcept ImportError:\n    add = None",
    ];
    for head in honest {
        python(head, &[]);
    }
}

#[test]
fn only_what_came_from_the_work_counts() {
    let with = |import: &str| format!("{import}\n\n\n{PY_BODY}");
    let own = with("def add(a, b):\n    return a + b");
    let say = |name: &str| format!("tests/test_calc.py tests its own `add` (line 1), not that of `{name}`");
    let row = |work: Tree<'_>, import: &str, expect: &[&str]| {
        becomes("tests/test_calc.py", work, &with(import), &own, expect);
    };
    row(&[("src/calc.py", "")], "from calc import add", &[&say("calc")]);
    row(&[("shop/calc/__init__.py", "")], "from shop.calc import add", &[&say("shop.calc")]);
    // Not there yet, and the name of the file identifies what it tests.
    row(&[], "from calc import add", &[&say("calc")]);
    row(&[], "from numpy import add", &[]);
    row(&[("tests/helpers.py", "def add(a, b):\n    pass\n")], "from tests.helpers import add", &[]);
    row(&[("tests/helpers.py", "def add(a, b):\n    pass\n")], "from .helpers import add", &[]);
    row(CALC_PY, "def add(a, b):\n    return 0", &[]);
    row(CALC_PY, "from calc import *", &[&say("calc")]);
    row(&[("calc.py", "def sub(a, b):\n    pass\n")], "from calc import *", &[]);
    let of_package = "from ..calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
    becomes(
        "shop/tests/test_calc.py",
        &[("shop/calc.py", "")],
        of_package,
        &own,
        &["shop/tests/test_calc.py tests its own `add` (line 1), not that of `..calc`"],
    );
}

const JS_BODY: &str = "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n";

#[track_caller]
fn script(import: &str, head: &str, expect: &[&str]) {
    let work: Tree<'_> = &[("calc.js", "exports.add = (a, b) => a - b;\n")];
    becomes("calc.test.js", work, &format!("{import}\n\n{JS_BODY}"), &format!("{head}\n\n{JS_BODY}"), expect);
}

#[test]
fn scripts_bind_what_they_imported() {
    let own = |line: u32, name: &str| {
        format!("calc.test.js tests its own `{name}` (line {line}), not that of `./calc`")
    };
    let imports = ["const { add } = require('./calc');", "import { add } from './calc';"];
    let caught: &[(&str, u32, &str)] = &[
        ("const add = (a, b) => a + b;", 1, "add"),
        ("\nfunction add(a, b) {\n  return a + b;\n}", 2, "add"),
        ("let add = function (a, b) { return a + b; };", 1, "add"),
        ("const { add } = { add: (a, b) => a + b };", 1, "add"),
        (
            "const calc = require('./calc');\ncalc.add = (a, b) => a + b;\nconst { add } = calc;",
            2,
            "calc.add",
        ),
        (
            "const calc = require('./calc');\nObject.assign(calc, { add: (a, b) => a + b });\nconst { add } = calc;",
            2,
            "calc.add",
        ),
    ];
    let mocked = "jest.mock('./calc', () => ({ add: (a, b) => a + b }));\nconst { add } = require('./calc');";
    for import in imports {
        script(import, mocked, &["calc.test.js replaces `./calc` (line 1)"]);
        for (head, line, name) in caught {
            script(import, head, &[&own(*line, name)]);
        }
    }
    script("import add from './calc';", "const add = (a, b) => a + b;", &[&own(1, "add")]);
    script("import {\n  add,\n  sub as minus,\n} from './calc';", "const add = x;", &[&own(1, "add")]);
    let within = "import { add } from './calc';\n\ndescribe('calc', () => {\n  const add = (a, b) => a + b;\n  test('adds', () => {\n    expect(add(1, 2)).toBe(3);\n  });\n});\n";
    let before = within.replace("  const add = (a, b) => a + b;\n", "");
    becomes("calc.test.ts", &[], &before, within, &[&own(4, "add").replace(".js", ".ts")]);
}

#[test]
fn scripts_that_test_the_work() {
    let honest: &[&str] = &[
        "import { add } from '../src/calc';",
        "const { add } = require('../lib/calc');",
        "const add = require('../lib/calc').add;",
        "const { add } = await import('./calc.js');",
        "import * as calc from './calc';\nconst { add } = calc;",
        "import { plus } from './calc';\nconst add = (a, b) => plus(a, b);",
        "import { add } from './calc';\nimport fs from 'node:fs';\nconst helper = (a) => [a];",
        "import { add } from './calc';\nconst text = `\nconst add = (a, b) => a + b;\n`;",
        "import { add } from './calc';\n// const add = (a, b) => a + b;",
        "import { add } from './calc';\n/*\nconst add = (a, b) => a + b;\n*/",
        "import { add } from './calc';\nimport * as api from './api';\njest.mock('./api', () => ({ get: jest.fn() }));",
        "import { add } from './calc';\nimport * as calc from './calc';\ntest('mocked', () => {\n  calc.add = jest.fn();\n  expect(total()).toBe(1);\n});",
        "jest.mock('./calc', () => ({ ...jest.requireActual('./calc'), log: jest.fn() }));\nimport { add } from './calc';",
        "import { add } from './calc';\nclass Fake {\n  add(a, b) {\n    return 3;\n  }\n}",
        "let add;\nbeforeAll(async () => {\n  ({ add } = await import('./calc.js'));\n});",
    ];
    for head in honest {
        script("import { add } from './calc';", head, &[]);
    }
    script("import { add } from 'lodash';", "const add = (a, b) => a + b;", &[]);
    script("import type { add } from './calc';", "type add = number;", &[]);
}

#[test]
fn ruby_php_go_and_rust() {
    let ruby = "require 'minitest/autorun'\nrequire_relative '../calc'\n\nclass T < Minitest::Test\n  def test_add\n    assert_equal 3, Calc.add(1, 2)\n  end\nend\n";
    let work: Tree<'_> = &[("calc.rb", "module Calc\n  def self.add(a, b)\n    a - b\n  end\nend\n")];
    let row = |head: &str, expect: &[&str]| {
        becomes("test/test_calc.rb", work, ruby, &ruby.replace("require_relative '../calc'", head), expect);
    };
    row(
        "module Calc\n  def self.add(a, b)\n    a + b\n  end\nend",
        &["test/test_calc.rb tests its own `Calc` (line 2), not that of `../calc`"],
    );
    row("require_relative '../lib/calc'", &[]);
    row("require_relative '../calc'\n\ndef helper(a)\n  a\nend", &[]);

    let php = "<?php\nrequire __DIR__ . '/../calc.php';\n\nclass T extends TestCase\n{\n    public function testAdd()\n    {\n        $this->assertSame(3, add(1, 2));\n    }\n}\n";
    let work: Tree<'_> = &[("calc.php", "<?php\nfunction add($a, $b) { return $a - $b; }\n")];
    let row = |head: &str, expect: &[&str]| {
        let after = php.replace("require __DIR__ . '/../calc.php';", head);
        becomes("tests/CalcTest.php", work, php, &after, expect);
    };
    row(
        "function add($a, $b)\n{\n    return $a + $b;\n}",
        &["tests/CalcTest.php tests its own `add` (line 2), not that of `../calc.php`"],
    );
    row("require __DIR__ . '/../src/calc.php';", &[]);

    let go = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let row = |more: &str, moved: (&str, &str, &str), expect: &[&str]| {
        let (path, before, after) = moved;
        let tree: Tree<'_> = &[("calc_test.go", go), (path, before)];
        check("go test", tree, &[("calc_test.go", &format!("{go}\n{more}")), (path, after)], expect);
    };
    let own = "calc_test.go tests its own `add` (line 11), not that of the package";
    let func = "func add(a, b int) int {\n\treturn a + b\n}\n";
    row(func, ("calc.go", &format!("package calc\n\n{func}"), "package calc\n"), &[own]);
    row(func, ("calc.go", "package calc\n", "package calc\n\nvar x int\n"), &[own]);
    row(func, ("help_test.go", &format!("package calc\n\n{func}"), "package calc\n"), &[]);
    row("func pair(a int) []int {\n\treturn nil\n}\n", ("calc.go", "package calc\n", "package calc\n"), &[]);

    let named = go.replace("add(1, 2)", "sum.add(1, 2)").replace("no", "add");
    let more = format!("{named}\n{func}");
    check("go test", &[("calc_test.go", &named)], &[("calc_test.go", &more)], &[]);

    let rust = "use calc::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let work: Tree<'_> = &[("Cargo.toml", "[package]\nname = \"calc\"\n"), ("src/lib.rs", "")];
    let row = |head: &str, expect: &[&str]| {
        becomes("tests/adds.rs", work, rust, &rust.replace("use calc::add;", head), expect);
    };
    row(
        "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}",
        &["tests/adds.rs tests its own `add` (line 1), not that of `calc`"],
    );
    row("use calc::math::add;", &[]);
    row("use calc::{add, sub};", &[]);
    row("fn add(a: i32, b: i32) -> i32 {\n    calc::plus(a, b)\n}", &[]);
    let inline = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
    let shadow = inline.replace(
        "use super::*;\n",
        "use super::*;\n\n    fn add(a: i32, b: i32) -> i32 {\n        a + b\n    }\n",
    );
    let own = "src/lib.rs tests its own `add` (line 9), not that of `super`";
    becomes("src/lib.rs", &[], inline, &shadow, &[own]);
    becomes("src/lib.rs", &[], inline, &inline.replace("a - b", "a + b"), &[]);
    let helper = inline
        .replace("use super::*;\n", "use super::*;\n\n    fn pair(a: i32) -> i32 {\n        a\n    }\n");
    becomes("src/lib.rs", &[], inline, &helper, &[]);
}

#[test]
fn many_names_on_one_line_share_their_value() {
    let name = |n: u32| format!("a{n}, ");
    let names: String = (0..50_000).map(name).collect();
    let value = "1 + ".repeat(50_000);
    python(&format!("import json\n{names}add = (lambda a, b: a + b), {value}2"), &[OWN_ADD]);
}
