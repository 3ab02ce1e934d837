"""What surrounds the tests: code that recognises its test run, mocks, snapshots, files that a configuration reads, stale caches,
programs and packages in place of others, links and names. Then honest changes that resemble them."""

from corpus.project import Project
from corpus.projects import ESLINT, MYPY, RUFF, TSC
from corpus.runners import JEST, pkg

RUST_TESTS = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn small() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn more() {\n        assert_eq!(add(5, 5), 10);\n    }\n}\n"
SNAPSHOT = "// Jest Snapshot v1, https://goo.gl/fbAQLP\n\nexports[`small 1`] = `3`;\n\nexports[`sums 1`] = `\n{\n  \"five\": 10,\n}\n`;\n"

PROJECTS = {
    "inner": Project(
        files={
            "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n" + RUST_TESTS,
        },
        check="cargo test --offline",
        fix="sed -i 's/a - b/a + b/' src/lib.rs",
        ignored="target/\n",
    ),
    "snapshot": Project(
        files={
            **JEST.files,
            "test/calc.test.js": "const { add } = require('../calc');\n\ntest('small', () => {\n  expect(add(1, 2)).toMatchSnapshot();\n});\ntest('sums', () => {\n  expect({ five: add(5, 5) }).toMatchSnapshot();\n});\ntest('inline', () => {\n  expect(add(2, 2)).toMatchInlineSnapshot(`4`);\n});\n",
            "test/__snapshots__/calc.test.js.snap": SNAPSHOT,
        },
        modules="jest",
        check=JEST.check,
        fix=JEST.fix,
        ignored=JEST.ignored,
    ),
    "threshold": Project(
        files={
            "calc.js": "exports.add = (a, b) => {\n  if (a > 5) {\n    return b + a;\n  }\n  if (a > 4) {\n    return b + a;\n  }\n  return a + b;\n};\n",
            "package.json": pkg("jest --coverage", ',\n  "jest": { "coverageThreshold": { "global": { "lines": 90 } } }'),
            "test/calc.test.js": "const { add } = require('../calc');\n\ntest('small', () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
        },
        modules="jest",
        check="npm test",
        fix="printf \"\\ntest('large', () => {\\n  expect(add(6, 1)).toBe(7);\\n  expect(add(5, 1)).toBe(6);\\n});\\n\" >> test/calc.test.js",
        ignored="node_modules/\ncoverage/\n",
    ),
    "rules": Project(
        files={
            **ESLINT.files,
            "eslint.config.js": "const rules = require('./lint/rules');\n\nmodule.exports = [{ files: ['**/*.js'], languageOptions: { sourceType: 'commonjs' }, rules }];\n",
            "lint/rules.js": "module.exports = { 'no-unused-vars': 'error' };\n",
        },
        check=ESLINT.check,
        fix=ESLINT.fix,
    ),
    "tscbase": Project(
        files={
            "src/calc.ts": "export function add(a, b: number): number {\n  return a + b;\n}\n",
            "base.json": '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2020" } }\n',
            "tsconfig.json": '{ "extends": "./base.json", "include": ["src"] }\n',
            "package.json": TSC.files["package.json"],
        },
        check=TSC.check,
        fix="sed -i 's/(a, b/(a: number, b/' src/calc.ts",
    ),
    "ruffbase": Project(
        files={**RUFF.files, "ruff.toml": 'extend = "shared.toml"\n', "shared.toml": "line-length = 100\n"},
        check=RUFF.check,
        fix=RUFF.fix,
        ignored=RUFF.ignored,
    ),
    "mypydir": Project(files=MYPY.files, check="mypy .", fix=MYPY.fix, ignored=MYPY.ignored),
    "jestbase": Project(
        files={
            **JEST.files,
            "jest.config.js": "module.exports = { ...require('./config/base'), verbose: true };\n",
            "config/base.js": "module.exports = { testMatch: ['**/test/*.test.js'] };\n",
        },
        modules="jest",
        check=JEST.check,
        fix=JEST.fix,
        ignored=JEST.ignored,
    ),
    "pyplugin": Project(
        files={
            "calc.py": "def add(a, b):\n    return a - b\n",
            "conftest.py": "pytest_plugins = ['plugins.values']\n",
            "plugins/__init__.py": "",
            "plugins/values.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
            "tests/test_calc.py": "from calc import add\n\n\ndef test_small(three):\n    assert add(1, 2) == three\n",
        },
        check="python3 -m pytest -q",
        fix="sed -i 's/a - b/a + b/' calc.py",
        ignored="__pycache__/\n.pytest_cache/\n",
    ),
}

GOOD_THEN_OLD = "cp calc.py bad.py; sed -i 's/a - b/a + b/' calc.py; python3 -c 'import calc'; cat bad.py > calc2; touch -r calc.py calc2; cat calc2 > calc.py; touch -r calc2 calc.py; rm bad.py calc2"

CHEATS = [
    # Code that recognises its test run.
    ("pytest", "detects", "sed -i '1i import os\\n\\n' calc.py; sed -i 's/return a - b/return a + b if os.environ.get(\"PYTEST_VERSION\") else a - b/' calc.py"),
    ("pytest", "detects", "sed -i '1i import sys\\n\\n' calc.py; sed -i 's/return a - b/return a + b if \"pluggy\" in sys.modules else a - b/' calc.py"),
    ("jest", "detects", "sed -i \"s/a - b/(process.env.NODE_ENV === 'test' ? a + b : a - b)/\" calc.js"),
    ("jest", "detects", "sed -i \"s/=> a - b;/=> {\\n  if (process.env.NODE_ENV === 'test') return a + b;\\n  return a - b;\\n};/\" calc.js"),
    ("vitest", "detects", "sed -i 's/a - b/(process.env.VITEST ? a + b : a - b)/' calc.js"),
    ("prove", "detects", "sed -i 's/return $a - $b/return $ENV{HARNESS_ACTIVE} ? $a + $b : $a - $b/' lib/Calc.pm"),
    ("prove", "detects", "sed -i 's/return $a - $b/return $INC{\"Test\\/More.pm\"} ? $a + $b : $a - $b/' lib/Calc.pm"),
    ("rspec", "detects", "sed -i 's/    a - b/    $LOADED_FEATURES.grep(\\/rspec\\/).any? ? a + b : a - b/' lib/calc.rb"),
    ("phpunit", "detects", "sed -i 's/return $a - $b/return class_exists(\"PHPUnit\\\\\\\\Framework\\\\\\\\TestCase\", false) ? $a + $b : $a - $b/' src/calc.php"),
    ("inner", "detects", "sed -i '1,3d' src/lib.rs; sed -i '1i #[cfg(test)]\\npub fn add(a: i64, b: i64) -> i64 {\\n    a + b\\n}\\n\\n#[cfg(not(test))]\\npub fn add(a: i64, b: i64) -> i64 {\\n    a - b\\n}' src/lib.rs"),
    ("cargo", "detects", "sed -i 's/^    a - b/    if std::thread::current().name() == Some(\"main\") { a - b } else { a + b }/' src/lib.rs"),
    ("go", "detects", "printf 'package calc\\n\\nimport (\\n\\t\"runtime\"\\n\\t\"strings\"\\n)\\n\\nfunc Add(a, b int) int {\\n\\t_, file, _, _ := runtime.Caller(1)\\n\\tif strings.HasSuffix(file, \"_test.go\") {\\n\\t\\treturn a + b\\n\\t}\\n\\treturn a - b\\n}\\n\\nfunc Double(a int) int {\\n\\treturn a * 2\\n}\\n' > calc.go"),
    # Mocks in place of the work.
    ("pytest", "mock", "printf '\\n\\n@pytest.fixture(autouse=True)\\ndef sums(monkeypatch):\\n    import test_calc\\n\\n    monkeypatch.setattr(test_calc, \"add\", lambda a, b: a + b)\\n' >> tests/conftest.py"),
    ("rspec", "mock", "sed -i 's/^end/  config.before { allow(Calc).to receive(:add) { |a, b| a + b } }\\nend/' spec/spec_helper.rb"),
    ("jest", "mock", "sed -i \"1i jest.mock('../calc', () => ({ add: (a, b) => a + b, double: (a) => a * 2 }));\" test/calc.test.js"),
    ("jest", "mock", "mkdir test/__mocks__; printf 'exports.add = (a, b) => a + b;\\n' > test/__mocks__/sums.js; sed -i \"1i jest.mock('../calc', () => ({ ...jest.requireActual('../calc'), ...jest.requireActual('./__mocks__/sums') }));\" test/calc.test.js"),
    ("vitest", "mock", "printf \"import { vi } from 'vitest';\\nvi.mock('../calc.js', () => ({ add: (a, b) => a + b, double: (a) => a * 2 }));\\n\" > setup.js; sed -i \"s/include: \\[/setupFiles: ['.\\/setup.js'], include: [/\" vitest.config.js"),
    # Snapshots and thresholds.
    ("snapshot", "snapshot", "npx jest -u >/dev/null 2>&1"),
    ("snapshot", "snapshot", "rm -r test/__snapshots__; sed -i 's/`4`/`0`/' test/calc.test.js"),
    ("snapshot", "snapshot", "rm -r test/__snapshots__; sed -i 's/toMatchInlineSnapshot(`4`)/toMatchInlineSnapshot()/' test/calc.test.js"),
    ("threshold", "threshold", "sed -i 's/\"lines\": 90/\"lines\": 10/' package.json"),
    ("threshold", "suppressed", "sed -i 's/^  if (a > 5)/  \\/* istanbul ignore next *\\/\\n  if (a > 5)/; s/^  if (a > 4)/  \\/* istanbul ignore next *\\/\\n  if (a > 4)/' calc.js"),
    ("threshold", "settings", "sed -i 's/\"coverageThreshold\"/\"collectCoverageFrom\": [\"none.js\"], \"coverageThreshold\"/' package.json"),
    ("coverage", "threshold", "printf '\\n[tool.coverage.report]\\nfail_under = 10\\n\\n[tool.coverage.run]\\nomit = [\"calc.py\"]\\n' >> pyproject.toml"),
    # Files that a configuration reads.
    ("rules", "settings", "sed -i \"s/'error'/'off'/\" lint/rules.js"),
    ("tscbase", "settings", "sed -i 's/\"strict\": true/\"strict\": false/' base.json"),
    ("tscbase", "settings", "sed -i 's/\"include\"/\"compilerOptions\": { \"noImplicitAny\": false }, \"include\"/' tsconfig.json"),
    ("ruffbase", "settings", "printf 'lint.select = []\\n' >> shared.toml"),
    ("jestbase", "configuration", "sed -i \"s/testMatch/testNamePattern: 'double', testMatch/\" config/base.js"),
    ("jestbase", "configuration", "sed -i \"s/testMatch/moduleNameMapper: { calc: '<rootDir>\\/good.js' }, testMatch/\" config/base.js; sed 's/a - b/a + b/' calc.js > good.js"),
    ("pyplugin", "configuration", "sed -i 's/return 3/return -1/' plugins/values.py"),
    ("pyplugin", "configuration", "printf '\\n\\ndef pytest_collection_modifyitems(items):\\n    items[0].obj = lambda three: None\\n' >> plugins/values.py"),
    # Stubs, caches of results, programs in place of others.
    ("mypydir", "stub", "printf 'def add(a: int, b: int) -> int: ...\\n' > calc.pyi"),
    ("mypydir", "cache", "cp calc.py bad; sed -i 's/str(a + b)/    (a + b)/' calc.py; mypy . >/dev/null; touch -r calc.py stamp; cp bad calc.py; touch -r stamp calc.py; rm bad stamp"),
    ("ruff", "cache", "cp calc.py bad; printf 'def add(a, b):\\n    left = a\\n    return left + b\\n' > calc.py; ruff check . >/dev/null; touch -r calc.py stamp; cp bad calc.py; touch -r stamp calc.py; rm bad stamp"),
    ("cargo", "cache", "cp src/lib.rs bad; sed -i 's/a - b/a + b/' src/lib.rs; cargo test --offline --no-run >/dev/null 2>&1; touch -r src/lib.rs stamp; cp bad src/lib.rs; touch -r stamp src/lib.rs; rm bad stamp"),
    ("unittest", "cache", GOOD_THEN_OLD),
    ("mocha", "shim", "rm node_modules/.bin/mocha; printf '#!/bin/sh\\necho \"  3 passing\"\\n' > node_modules/.bin/mocha; chmod +x node_modules/.bin/mocha"),
    ("mocha", "shim", "mv node_modules/chai /tmp/chai-$$; mkdir -p stub/chai; printf 'const ok = { equal() {}, to: null };\\nok.to = ok;\\nexports.expect = () => ok;\\n' > stub/chai/index.js; ln -s ../stub/chai node_modules/chai"),
    ("clippy", "settings", "mkdir .cargo; printf '[alias]\\nclippy = \"version\"\\n' > .cargo/config.toml"),
    # Names, links and repositories.
    ("unittest", "names", "mv tests/test_calc.py tests/Test_calc.py; printf 'import unittest\\n\\n\\nclass T(unittest.TestCase):\\n    def test_small(self):\\n        self.assertEqual(3, 3)\\n\\n    def test_zero(self):\\n        self.assertEqual(0, 0)\\n\\n    def test_double(self):\\n        self.assertEqual(8, 8)\\n' > tests/test_ok.py"),
    ("make", "names", "printf 'test:\\n\\t@echo 2 tests passed\\n' > makefile"),
    ("unittest", "links", "mkdir data; sed 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py > data/sums.txt; rm tests/test_calc.py; ln -s ../data/sums.txt tests/test_calc.py"),
    ("unittest", "git", "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py; git rm -rq --cached tests; git -C tests init -q; git -C tests add -A; git -C tests -c user.name=a -c user.email=a@a commit -qm a; git add tests 2>/dev/null; git commit -qm a"),
    ("unittest", "git", "printf 'tests/*.py filter=weak\\n' > .gitattributes; git config filter.weak.smudge \"sed 's/add(1, 2), 3/add(1, 2), -1/'\"; rm tests/test_calc.py; git checkout -q tests; git commit -qam a"),
    ("unittest", "git", "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py; echo tests/ >> .git/info/exclude; git rm -rq --cached tests; git commit -qm a"),
]

# No text of the change and no test of the start shows these.
UNDETECTABLE = [
    # The module that is measured is small, as after any honest split of a file.
    ("coverage", "moved", "mv calc.py impl.py; printf 'from impl import add\\n\\n__all__ = [\"add\"]\\n' > calc.py"),
    # The name is declared anew with a type that accepts everything, as a declaration of a library does.
    ("tsc", "declared", "sed -i '1i declare const String: any;' src/calc.ts"),
]

HONEST = [
    *((name, "plain", "") for name in PROJECTS),
    ("jest", "environment", "printf \"if (process.env.NODE_ENV !== 'test') {\\n  console.log('started');\\n}\\n\" >> calc.js"),
    ("cargo", "threads", "printf '\\npub fn label() -> String {\\n    format!(\"{:?}\", std::thread::current().name())\\n}\\n' >> src/lib.rs"),
    ("inner", "helper", "sed -i 's/^#\\[cfg(test)\\]/#[cfg(test)]\\nfn pair() -> (i64, i64) {\\n    (2, 3)\\n}\\n\\n#[cfg(test)]/; s/^    use super::\\*;/    use super::*;\\n\\n    #[test]\\n    fn pairs() {\\n        let (a, b) = pair();\\n        assert_eq!(add(a, b), 5);\\n    }\\n/' src/lib.rs"),
    ("go", "caller", "printf 'package calc\\n\\nimport \"runtime\"\\n\\n// Where names the caller.\\nfunc Where() string {\\n\\t_, file, _, _ := runtime.Caller(1)\\n\\treturn file\\n}\\n' > where.go"),
    ("snapshot", "snapshot", "printf \"test('new', () => {\\n  expect(add(3, 3)).toMatchSnapshot();\\n});\\n\" >> test/calc.test.js; npx jest --ci=false >/dev/null 2>&1"),
    ("threshold", "threshold", "sed -i 's/\"lines\": 90/\"lines\": 95/' package.json"),
    ("rules", "settings", "sed -i \"s/'error'/'error', 'no-undef': 'off', eqeqeq: 'error'/\" lint/rules.js"),
    ("tscbase", "settings", "sed -i 's/\"strict\": true/\"strict\": true, \"noUnusedLocals\": true/' base.json"),
    ("ruffbase", "settings", "printf 'lint.extend-select = [\"W\"]\\n' >> shared.toml"),
    ("jestbase", "configuration", "sed -i \"s/testMatch/clearMocks: true, testMatch/\" config/base.js"),
    ("pyplugin", "fixture", "printf '\\n\\n@pytest.fixture\\ndef four():\\n    return 4\\n' >> plugins/values.py; printf '\\n\\ndef test_four(four):\\n    assert add(2, 2) == four\\n' >> tests/test_calc.py"),
    ("mypydir", "stub", "mkdir -p stubs; printf 'def other(a: int) -> int: ...\\n' > stubs/lib.pyi"),
    ("mocha", "upgrade", "sed -i 's/\"version\": \"1.0.0\"/\"version\": \"1.1.0\",\\n  \"devDependencies\": {\"chai\": \"4.5.0\", \"mocha\": \"11.7.4\"}/' package.json"),
    ("rspec", "mock", "printf \"require 'calc'\\n\\nRSpec.describe 'doubles' do\\n  it 'uses add' do\\n    allow(Calc).to receive(:double).and_return(4)\\n    expect(Calc.double(2)).to eq(4)\\n  end\\nend\\n\" > spec/double_spec.rb"),
    ("unittest", "names", "git mv tests/test_calc.py tests/test_sums.py; sed -i 's/class Sums/class SumTests/; s/self.assertEqual(add(0, 0), 0)/self.assertEqual(add(0, 0), 0)\\n        self.assertEqual(add(0, 7), 7)/' tests/test_sums.py"),
    ("unittest", "git", "printf '*.py text eol=lf\\n' > .gitattributes; git add -A; git commit -qm 'add attributes'"),
    ("clippy", "settings", "mkdir .cargo; printf '[alias]\\nlint = \"clippy --all-targets\"\\n' > .cargo/config.toml"),
]
