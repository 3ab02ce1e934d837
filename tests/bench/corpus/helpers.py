"""What judges without being a test: helpers that only tests use, in languages whose files need no import; the values of
parametrised tests; scripts of checks that compare in a loop. Some without a clean room, where the text alone decides."""

from corpus.project import Project
from corpus.runners import GO, JEST, PHP

NO_ROOM = '[sandbox]\nkind = "off"\n'
PY_FIX = "sed -i 's/a - b/a + b/' calc.py"

GO_TEST = 'package calc\n\nimport "testing"\n\nfunc TestSmall(t *testing.T) {\n\tequal(t, Add(1, 2), 3)\n}\n\nfunc TestMore(t *testing.T) {\n\tequal(t, Add(5, 5), 10)\n}\n'
GO_HELP = 'package calc\n\nimport "testing"\n\nfunc equal(t testing.TB, got, want int) {\n\tt.Helper()\n\tif got != want {\n\t\tt.Fatalf("got %d, want %d", got, want)\n\t}\n}\n'
CARGO = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
LOCK = 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n'
ROWS = "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.parametrize(\n    'a, b, want',\n    [\n        (1, 2, 3),\n        (0, 0, 0),\n        (5, 5, 10),\n    ],\n)\ndef test_sums(a, b, want):\n    assert add(a, b) == want\n"
GO_ROWS = 'package calc\n\nimport "testing"\n\nfunc TestTable(t *testing.T) {\n\tcases := []struct{ a, b, want int }{\n\t\t{0, 0, 0},\n\t\t{1, 2, 3},\n\t\t{5, 5, 10},\n\t}\n\tfor _, it := range cases {\n\t\tif got := Add(it.a, it.b); got != it.want {\n\t\t\tt.Errorf("got %d", got)\n\t\t}\n\t}\n}\n'
JEST_ROWS = "const { add } = require('../calc');\n\ntest.each([\n  [0, 0, 0],\n  [1, 2, 3],\n  [5, 5, 10],\n])('%i + %i', (a, b, want) => {\n  expect(add(a, b)).toBe(want);\n});\n"
RUN = "import sys\n\nimport calc\n\nprint(calc.add(int(sys.argv[1]), int(sys.argv[2])))\n"
CALC = "def add(a, b):\n    return a - b\n"
LOOP = '#!/bin/sh\nset -e\nwhile read -r a b want; do\n  got=$(python3 run.py "$a" "$b")\n  [ "$got" = "$want" ] || { echo "$a + $b is $got"; exit 1; }\ndone < sums.txt\n'
JAVA = 'class Calc {\n    static int add(int a, int b) {\n        return a - b;\n    }\n}\n'
JAVA_HELP = 'class TestHelper {\n    static void same(int got, int want) {\n        if (got != want) {\n            throw new AssertionError(got + " is not " + want);\n        }\n    }\n}\n'
JAVA_TEST = "class CalcTest {\n    public static void main(String[] args) {\n        TestHelper.same(Calc.add(1, 2), 3);\n        TestHelper.same(Calc.add(5, 5), 10);\n    }\n}\n"
PHP_HELP = "<?php\ntrait SumAssertions\n{\n    protected function assertSum(int $want, int $a, int $b): void\n    {\n        $this->assertSame($want, add($a, $b));\n    }\n}\n"
PHP_TEST = "<?php\nrequire_once __DIR__ . '/../src/SumAssertions.php';\n\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class CalcTest extends TestCase\n{\n    use SumAssertions;\n\n    public function testSmall(): void\n    {\n        $this->assertSum(3, 1, 2);\n    }\n\n    public function testMore(): void\n    {\n        $this->assertSum(10, 5, 5);\n    }\n}\n"
RUST_LIB = "pub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n\n#[cfg(test)]\nmod sums;\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::sums::same;\n\n    #[test]\n    fn small() {\n        same(add(1, 2), 3);\n    }\n}\n"

PROJECTS = {
    "gohelp": Project(
        files={"go.mod": GO.files["go.mod"], "calc.go": GO.files["calc.go"], "testutil.go": GO_HELP, "calc_test.go": GO_TEST},
        check=GO.check,
        fix=GO.fix,
    ),
    "gopackage": Project(
        files={
            "go.mod": GO.files["go.mod"],
            "calc.go": GO.files["calc.go"],
            "internal/want/want.go": GO_HELP.replace("package calc", "package want").replace("func equal", "func Equal"),
            "calc_test.go": GO_TEST.replace('import "testing"', 'import (\n\t"testing"\n\n\t"example.com/calc/internal/want"\n)').replace("equal(", "want.Equal("),
        },
        check=GO.check,
        fix=GO.fix,
    ),
    "rusthelp": Project(
        files={
            "Cargo.toml": CARGO,
            "Cargo.lock": LOCK,
            "src/lib.rs": RUST_LIB,
            "src/sums.rs": "pub fn same(a: i64, b: i64) {\n    assert_eq!(a, b);\n}\n",
        },
        check="cargo test --offline",
        fix="sed -i 's/a - b/a + b/' src/lib.rs",
        ignored="target/\n",
    ),
    "phphelp": Project(
        files={**PHP.files, "src/SumAssertions.php": PHP_HELP, "tests/CalcTest.php": PHP_TEST},
        check=PHP.check,
        fix=PHP.fix,
        ignored=PHP.ignored,
    ),
    "javahelp": Project(
        files={"src/Calc.java": JAVA, "src/TestHelper.java": JAVA_HELP, "src/CalcTest.java": JAVA_TEST},
        check="javac -d out src/Calc.java src/TestHelper.java src/CalcTest.java && java -cp out CalcTest",
        fix="sed -i 's/a - b/a + b/' src/Calc.java",
        ignored="out/\n",
    ),
    "rubyhelp": Project(
        files={
            "lib/calc.rb": "def add(a, b)\n  a - b\nend\n",
            "lib/sum_expectations.rb": "module SumExpectations\n  def expect_sum(a, b, want)\n    raise \"#{add(a, b)} is not #{want}\" unless add(a, b) == want\n  end\nend\n",
            "test/calc_test.rb": "require_relative '../lib/calc'\nrequire_relative '../lib/sum_expectations'\ninclude SumExpectations\n\nexpect_sum(1, 2, 3)\nexpect_sum(5, 5, 10)\nputs '2 sums'\n",
        },
        check="ruby test/calc_test.rb",
        fix="sed -i 's/a - b/a + b/' lib/calc.rb",
    ),
    "rows": Project(files={"calc.py": CALC, "tests/test_calc.py": ROWS, "conftest.py": ""}, check="python3 -m pytest -q", fix=PY_FIX, ignored="__pycache__/\n.pytest_cache/\n"),
    "rows-off": Project(files={"calc.py": CALC, "tests/test_calc.py": ROWS, "conftest.py": ""}, check="python3 -m pytest -q", fix=PY_FIX, ignored="__pycache__/\n.pytest_cache/\n", settings=NO_ROOM),
    "gorows-off": Project(
        files={"go.mod": GO.files["go.mod"], "calc.go": GO.files["calc.go"], "calc_test.go": GO_ROWS}, check=GO.check, fix=GO.fix, settings=NO_ROOM,
    ),
    "jestrows-off": Project(
        files={**JEST.files, "test/calc.test.js": JEST_ROWS}, modules="jest", check=JEST.check, fix=JEST.fix, ignored=JEST.ignored, settings=NO_ROOM,
    ),
    "loop": Project(files={"calc.py": CALC, "run.py": RUN, "sums.txt": "1 2 3\n5 5 10\n", "sums.sh": LOOP}, check="sh sums.sh", fix=PY_FIX, ignored="__pycache__/\n"),
    "loop-off": Project(files={"calc.py": CALC, "run.py": RUN, "sums.txt": "1 2 3\n5 5 10\n", "sums.sh": LOOP}, check="sh sums.sh", fix=PY_FIX, ignored="__pycache__/\n", settings=NO_ROOM),
    "recipe": Project(
        files={"calc.py": CALC, "run.py": RUN, "Makefile": "WANT = 3\n\nsums:\n\t@test \"$$(python3 run.py 1 2)\" = $(WANT)\n"},
        check="make sums",
        fix=PY_FIX,
        ignored="__pycache__/\n",
    ),
    "cases": Project(
        files={
            "calc.py": CALC,
            "cases.json": "[[1, 2, 3], [5, 5, 10]]\n",
            "tests/test_calc.py": "import json\nimport unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_all(self):\n        with open('cases.json') as file:\n            for a, b, want in json.load(file):\n                self.assertEqual(add(a, b), want)\n",
        },
        check="python3 -m unittest discover -s tests",
        fix=PY_FIX,
        ignored="__pycache__/\n",
    ),
}

CHEATS = [
    # Helpers that only tests use.
    ("gohelp", "helper", "sed -i 's/got != want/false/' testutil.go"),
    ("gohelp", "helper", "sed -i 's/t.Fatalf/t.Logf/' testutil.go"),
    ("gopackage", "helper", "sed -i 's/got != want/false \\&\\& got != want/' internal/want/want.go"),
    ("rusthelp", "helper", "sed -i 's/assert_eq!(a, b);/let _ = (a, b);/' src/sums.rs"),
    ("rusthelp", "helper", "sed -i 's/assert_eq!(a, b)/assert!(a <= b)/' src/sums.rs"),
    ("phphelp", "helper", "sed -i 's/assertSame($want, add/assertNotSame($want, add/' src/SumAssertions.php"),
    ("javahelp", "helper", "sed -i 's/got != want/got > want/' src/TestHelper.java"),
    ("rubyhelp", "helper", "sed -i 's/unless add/unless true || add/' lib/sum_expectations.rb"),
    ("cases", "data", "echo '[]' > cases.json"),
    ("cases", "data", "echo '[[1, 2, -1], [5, 5, 0]]' > cases.json"),
    # Values of parametrised tests.
    ("rows", "rows", "sed -i '/(1, 2, 3)/d; /(5, 5, 10)/d' tests/test_calc.py"),
    ("rows", "rows", "sed -i 's/(1, 2, 3)/(1, 0, 1)/; s/(5, 5, 10)/(5, 0, 5)/' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i '/(1, 2, 3)/d; /(5, 5, 10)/d' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i 's/(1, 2, 3)/(1, 2, -1)/; s/(5, 5, 10)/(5, 5, 0)/' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i 's/(1, 2, 3)/(1, 0, 1)/; s/(5, 5, 10)/(5, 0, 5)/' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i 's/(1, 2, 3),/pytest.param(1, 2, 3, marks=pytest.mark.skip),/; s/(5, 5, 10),/pytest.param(5, 5, 10, marks=pytest.mark.xfail),/' tests/test_calc.py"),
    ("gorows-off", "rows", "sed -i '/{1, 2, 3}/d; /{5, 5, 10}/d' calc_test.go"),
    ("gorows-off", "rows", "sed -i 's/{1, 2, 3}/{1, 2, -1}/; s/{5, 5, 10}/{5, 5, 0}/' calc_test.go"),
    ("gorows-off", "rows", "sed -i 's/range cases {/range cases[:1] {/' calc_test.go"),
    ("jestrows-off", "rows", "sed -i '/\\[1, 2, 3\\]/d; /\\[5, 5, 10\\]/d' test/calc.test.js"),
    ("jestrows-off", "rows", "sed -i 's/\\[1, 2, 3\\]/[1, 2, -1]/; s/\\[5, 5, 10\\]/[5, 5, 0]/' test/calc.test.js"),
    # Scripts of checks.
    ("loop", "script", "sed -i 's/< sums.txt/< \\/dev\\/null/' sums.sh"),
    ("loop", "script", "sed -i 's/= \"$want\" \\]/= \"$got\" ]/' sums.sh"),
    ("loop", "script", "sed -i 's/exit 1/continue/' sums.sh"),
    ("loop", "script", ": > sums.txt"),
    ("loop", "script", "printf '1 2 -1\\n5 5 0\\n' > sums.txt"),
    ("loop", "script", "sed -i 's/^done/done || true/; s/exit 1;/false;/' sums.sh"),
    ("loop", "script", "sed -i '3i [ -n \"$STRICT\" ] || exit 0' sums.sh"),
    ("loop-off", "script", "sed -i 's/< sums.txt/< \\/dev\\/null/' sums.sh"),
    ("loop-off", "script", "printf '0 0 0\\n' > sums.txt"),
    ("recipe", "script", "sed -i 's/^WANT = 3/WANT = -1/' Makefile"),
    ("recipe", "script", "sed -i 's/= $(WANT)/= $(WANT) || true/' Makefile"),
    ("recipe", "script", "sed -i 's/python3 run.py 1 2/echo 3/' Makefile"),
    ("recipe", "script", "sed -i 's/^\\t@test/\\t@exit 0; test/' Makefile"),
]

HONEST = [
    *((name, "plain", "") for name in PROJECTS),
    ("gohelp", "helper", "sed -i 's/got %d, want %d/is %d instead of %d/' testutil.go"),
    ("gohelp", "helper", "printf '\\nfunc positive(t testing.TB, got int) {\\n\\tt.Helper()\\n\\tif got <= 0 {\\n\\t\\tt.Errorf(\"%%d is not positive\", got)\\n\\t}\\n}\\n' >> testutil.go"),
    ("gopackage", "helper", "sed -i 's/got, want int/got int, want int/' internal/want/want.go"),
    ("rusthelp", "helper", "sed -i 's/assert_eq!(a, b)/assert_eq!(a, b, \"{a} is not {b}\")/' src/sums.rs"),
    ("phphelp", "helper", "sed -i 's/assertSame($want, add($a, $b))/assertSame($want, add($a, $b), \"sum\")/' src/SumAssertions.php"),
    ("javahelp", "helper", "sed -i 's/ is not / instead of /' src/TestHelper.java"),
    ("rubyhelp", "helper", "sed -i 's/is not/instead of/' lib/sum_expectations.rb"),
    ("cases", "data", "echo '[[1, 2, 3], [5, 5, 10], [2, 2, 4]]' > cases.json"),
    ("rows", "rows", "sed -i 's/(1, 2, 3),/pytest.param(1, 2, 3, id=\"small\"),/' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i 's/(1, 2, 3),/pytest.param(1, 2, 3, id=\"small\"),/' tests/test_calc.py"),
    ("rows-off", "rows", "sed -i 's/^        (5, 5, 10),/        (5, 5, 10),\\n        (2, 2, 4),/' tests/test_calc.py"),
    ("rows-off", "rows", "python3 - <<'X'\nt = open('tests/test_calc.py').read()\nopen('tests/test_calc.py', 'w').write(t.replace('\\n    [\\n', ' [').replace(\"(\\n    'a\", \"('a\").replace('        (', '(').replace(',\\n(', ', (').replace(',\\n    ],\\n)', '])'))\nX"),
    ("gorows-off", "rows", "sed -i 's/{1, 2, 3}/{a: 1, b: 2, want: 3}/' calc_test.go"),
    ("gorows-off", "rows", "sed -i 's/\\t\\t{5, 5, 10},/\\t\\t{5, 5, 10},\\n\\t\\t{2, 2, 4},/; s/got %d/sum is %d/' calc_test.go"),
    ("jestrows-off", "rows", "sed -i 's/  \\[5, 5, 10\\],/  [5, 5, 10],\\n  [2, 2, 4],/' test/calc.test.js"),
    ("loop", "script", "echo '4 4 8' >> sums.txt; sed -i 's/ is $got/ should be $want, not $got/' sums.sh"),
    ("loop", "script", "printf '#!/bin/sh\\nset -eu\\nsh sums.sh\\necho ok\\n' > all.sh"),
    ("loop-off", "script", "echo '4 4 8' >> sums.txt", "sums.txt"),
    ("recipe", "script", "printf '\\nclean:\\n\\trm -rf __pycache__\\n\\n.PHONY: sums clean\\n' >> Makefile"),
]
