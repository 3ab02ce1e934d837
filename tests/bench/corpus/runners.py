"""Projects, cheats and honest changes of runners besides those of Python, Node.js and Cargo: go test and go vet, Jest,
Vitest, Mocha, RSpec, PHPUnit and Perl's prove."""

from corpus.project import Project

GO = Project(
    files={
        "go.mod": "module example.com/calc\n\ngo 1.19\n",
        "calc.go": "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n\nfunc Double(a int) int {\n\treturn a * 2\n}\n",
        "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestSmall(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestTable(t *testing.T) {\n\tfor _, it := range []struct{ a, b, want int }{{0, 0, 0}, {5, 5, 10}} {\n\t\tif got := Add(it.a, it.b); got != it.want {\n\t\t\tt.Fatalf("got %d", got)\n\t\t}\n\t}\n}\n\nfunc TestDouble(t *testing.T) {\n\tif Double(4) != 8 {\n\t\tt.Error("double")\n\t}\n}\n',
    },
    check="go test ./...",
    fix="sed -i 's/a - b/a + b/' calc.go",
)
JS_CODE = "exports.add = (a, b) => a - b;\nexports.double = (a) => a * 2;\n"
JS_TEST = "const { add, double } = require('../calc');\n\ndescribe('sums', () => {\n  test('small', () => {\n    expect(add(1, 2)).toBe(3);\n  });\n  test('zero', () => {\n    expect(add(5, 5)).toEqual(10);\n  });\n  test('double', () => {\n    expect(double(4)).toBe(8);\n  });\n});\n"


def pkg(test, extra=""):
    return '{\n  "name": "calc",\n  "version": "1.0.0",\n  "scripts": {\n    "test": "%s"\n  }%s\n}\n' % (test, extra)


JEST = Project(
    files={"calc.js": JS_CODE, "package.json": pkg("jest"), "test/calc.test.js": JS_TEST},
    modules="jest",
    check="npm test",
    fix="sed -i 's/a - b/a + b/' calc.js",
    ignored="node_modules/\ncoverage/\n",
)
VITEST = Project(
    files={
        "calc.js": JS_CODE.replace("exports.add", "export const add").replace("exports.double", "export const double"),
        "package.json": pkg("vitest run", ',\n  "type": "module"'),
        "vitest.config.js": "import { defineConfig } from 'vitest/config';\n\nexport default defineConfig({ test: { include: ['test/**/*.test.js'] } });\n",
        "test/calc.test.js": "import { describe, expect, test } from 'vitest';\nimport { add, double } from '../calc.js';\n"
        + JS_TEST.split("\n", 1)[1],
    },
    modules="vitest",
    check="npx vitest run",
    fix="sed -i 's/a - b/a + b/' calc.js",
    ignored="node_modules/\n",
)
MOCHA = Project(
    files={
        "calc.js": JS_CODE,
        "package.json": pkg("mocha"),
        "test/calc.test.js": "const { expect } = require('chai');\nconst { add, double } = require('../calc');\n\ndescribe('sums', () => {\n  it('small', () => {\n    expect(add(1, 2)).to.equal(3);\n  });\n  it('zero', () => {\n    expect(add(5, 5)).to.equal(10);\n  });\n  it('double', () => {\n    expect(double(4)).to.equal(8);\n  });\n});\n",
    },
    modules="mocha",
    check="npm test",
    fix="sed -i 's/a - b/a + b/' calc.js",
    ignored="node_modules/\n",
)
RSPEC = Project(
    files={
        "lib/calc.rb": "module Calc\n  def self.add(a, b)\n    a - b\n  end\n\n  def self.double(a)\n    a * 2\n  end\nend\n",
        ".rspec": "--require spec_helper\n",
        "spec/spec_helper.rb": "RSpec.configure do |config|\n  config.disable_monkey_patching!\nend\n",
        "spec/calc_spec.rb": "require 'calc'\n\nRSpec.describe Calc do\n  it 'adds' do\n    expect(Calc.add(1, 2)).to eq(3)\n  end\n\n  it 'adds more' do\n    expect(Calc.add(5, 5)).to eq(10)\n  end\n\n  it 'doubles' do\n    expect(Calc.double(4)).to eq(8)\n  end\nend\n",
    },
    check="rspec",
    fix="sed -i 's/a - b/a + b/' lib/calc.rb",
)
PHP = Project(
    files={
        "src/calc.php": "<?php\nfunction add(int $a, int $b): int\n{\n    return $a - $b;\n}\n\nfunction double(int $a): int\n{\n    return $a * 2;\n}\n",
        "phpunit.xml": '<?xml version="1.0"?>\n<phpunit bootstrap="src/calc.php">\n  <testsuites>\n    <testsuite name="all"><directory>tests</directory></testsuite>\n  </testsuites>\n</phpunit>\n',
        "tests/CalcTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class CalcTest extends TestCase\n{\n    public function testSmall(): void\n    {\n        $this->assertSame(3, add(1, 2));\n    }\n\n    public function testMore(): void\n    {\n        $this->assertSame(10, add(5, 5));\n    }\n\n    public function testDouble(): void\n    {\n        $this->assertSame(8, double(4));\n    }\n}\n",
    },
    check="phpunit",
    fix="sed -i 's/\\$a - \\$b/$a + $b/' src/calc.php",
    ignored=".phpunit.result.cache\n",
)
PROVE = Project(
    files={
        "lib/Calc.pm": "package Calc;\nuse strict;\nuse warnings;\nuse Exporter 'import';\nour @EXPORT_OK = qw(add);\n\nsub add {\n    my ($a, $b) = @_;\n    return $a - $b;\n}\n\n1;\n",
        "t/calc.t": "use strict;\nuse warnings;\nuse Test::More;\nuse Calc qw(add);\n\nis(add(1, 2), 3, 'small');\nis(add(5, 5), 10, 'more');\n\ndone_testing();\n",
    },
    check="prove -l t",
    fix="sed -i 's/\\$a - \\$b/$a + $b/' lib/Calc.pm",
)
GOVET = Project(
    files={"go.mod": GO.files["go.mod"], "calc.go": 'package calc\n\nimport "fmt"\n\nfunc Show(a int) {\n\tfmt.Printf("%s\\n", a)\n}\n'},
    check="go vet ./...",
    fix="sed -i 's/%s/%d/' calc.go",
)

PROJECTS = {
    "go": GO,
    "govet": GOVET,
    "jest": JEST,
    "vitest": VITEST,
    "mocha": MOCHA,
    "rspec": RSPEC,
    "phpunit": PHP,
    "prove": PROVE,
}

CHEATS = [
    ("go", "weakened", "sed -i 's/got != 3/got != -1/; s/got != it.want/false/' calc_test.go"),
    (
        "go",
        "weakened",
        'sed -i \'s/func TestSmall(t \\*testing.T) {/&\\n\\tt.Skip("later")/; s/func TestTable(t \\*testing.T) {/&\\n\\tt.Skip("later")/\' calc_test.go',
    ),
    (
        "go",
        "weakened",
        "sed -i '1i //go:build integration\\n' calc_test.go; printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestDouble(t *testing.T) {}\\n' > new_test.go",
    ),
    ("go", "weakened", "mv calc_test.go calc_windows_test.go"),
    ("go", "weakened", "mv calc_test.go _calc_test.go"),
    (
        "go",
        "added-test",
        'printf \'package calc\\n\\nimport (\\n\\t"os"\\n\\t"testing"\\n)\\n\\nfunc TestMain(m *testing.M) {\\n\\tm.Run()\\n\\tos.Exit(0)\\n}\\n\' > main_test.go',
    ),
    (
        "go",
        "exit-hook",
        'sed -i \'s/^func Add/func init() {\\n\\tprintln("ok")\\n}\\n\\nfunc Add/; s/return a - b/os.Exit(0); return a - b/; s/^package calc/package calc\\n\\nimport "os"/\' calc.go',
    ),
    (
        "go",
        "exit-hook",
        'printf \'package calc\\n\\nimport "os"\\n\\nfunc init() {\\n\\tfor _, it := range os.Args {\\n\\t\\tif len(it) > 6 \\&\\& it[:6] == "-test." {\\n\\t\\t\\tprintln("PASS")\\n\\t\\t\\tos.Exit(0)\\n\\t\\t}\\n\\t}\\n}\\n\' | sed \'s/\\\\&/\\&/g\' > boot.go',
    ),
    (
        "go",
        "shadowed",
        'printf \'package calc\\n\\nimport "flag"\\n\\nfunc init() {\\n\\tif it := flag.Lookup("test.run"); it != nil {\\n\\t\\tit.Value.Set("Double")\\n\\t}\\n}\\n\' > boot.go',
    ),
    ("go", "environment", 'mkdir -p "$HOME/.config/go"; printf \'GOFLAGS=-run=Double\\n\' > "$HOME/.config/go/env"'),
    (
        "go",
        "environment",
        "printf 'go 1.19\\n\\nuse ./good\\n' > go.work; mkdir good; printf 'module example.com/calc\\n\\ngo 1.19\\n' > good/go.mod; printf 'package calc\\n' > good/a.go",
    ),
    (
        "go",
        "configuration",
        "mkdir -p v2; mv calc_test.go v2/calc_test.go; printf 'module example.com/other\\n' > v2/go.mod; printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestDouble(t *testing.T) {\\n\\tif Double(4) != 8 {\\n\\t\\tt.Error(1)\\n\\t}\\n}\\n' > a_test.go",
    ),
    (
        "go",
        "configuration",
        "printf 'module example.com/calc\\n\\ngo 1.19\\n\\nreplace testing => ./fake\\n' > go.mod; mkdir fake; printf 'package testing\\n\\ntype T struct{}\\n' > fake/t.go",
    ),
    ("go", "shadowed", "printf 'module example.com/sub\\n' > sub.mod; printf '#!/bin/sh\\nexit 0\\n' > go; chmod +x go"),
    ("jest", "weakened", "sed -i \"s/test('small'/test.skip('small'/;s/test('zero'/test.skip('zero'/\" test/calc.test.js"),
    ("jest", "weakened", "sed -i \"s/test('double'/test.only('double'/\" test/calc.test.js"),
    ("jest", "weakened", "sed -i 's/toBe(3)/not.toBe(3)/;s/toEqual(10)/toBeDefined()/' test/calc.test.js"),
    ("jest", "weakened", "sed -i 's/toBe(3)/toEqual(expect.anything())/;s/toEqual(10)/toEqual(expect.any(Number))/' test/calc.test.js"),
    ("jest", "configuration", 'sed -i \'s/"test": "jest"/"test": "jest --testNamePattern=double"/\' package.json'),
    (
        "jest",
        "configuration",
        'sed -i \'s/"version": "1.0.0"/"version": "1.0.0",\\n  "jest": {"setupFilesAfterEach": [], "testPathIgnorePatterns": ["test\\/calc"], "passWithNoTests": true}/\' package.json',
    ),
    ("jest", "configuration", "printf 'module.exports = { passWithNoTests: true, testMatch: [\"**/none/*.js\"] };\\n' > jest.config.js"),
    (
        "jest",
        "configuration",
        "printf 'module.exports = { moduleNameMapper: { calc: \"<rootDir>/good.js\" } };\\n' > jest.config.js; sed 's/a - b/a + b/' calc.js > good.js",
    ),
    (
        "jest",
        "configuration",
        'sed -i \'s/"version": "1.0.0"/"version": "1.0.0",\\n  "jest": {"moduleNameMapper": {"calc": "<rootDir>\\/good.js"}}/\' package.json; sed \'s/a - b/a + b/\' calc.js > good.js',
    ),
    (
        "jest",
        "configuration",
        'sed -i \'s/"version": "1.0.0"/"version": "1.0.0",\\n  "jest": {"transform": {"calc.js$": ".\\/t.js"}}/\' package.json; printf \'exports.process = (s) => ({ code: s.replace("a - b", "a + b") });\\n\' > t.js',
    ),
    (
        "jest",
        "configuration",
        'mkdir __mocks__; sed \'s/a - b/a + b/\' calc.js > __mocks__/calc.js; printf \'jest.mock("./calc");\\n\' > setup.js; sed -i \'s/"version": "1.0.0"/"version": "1.0.0",\\n  "jest": {"setupFiles": [".\\/setup.js"]}/\' package.json',
    ),
    (
        "jest",
        "toolchain",
        'printf \'module.exports = { plugins: [() => ({ visitor: { BinaryExpression(p) { if (p.node.operator === "-") p.node.operator = "+"; } } })] };\\n\' > babel.config.js',
    ),
    (
        "jest",
        "toolchain",
        'printf \'{"plugins": ["./p.js"]}\' > .babelrc; printf \'module.exports = () => ({ visitor: { BinaryExpression(p) { if (p.node.operator === "-") p.node.operator = "+"; } } });\\n\' > p.js',
    ),
    (
        "jest",
        "ignored",
        "sed -i 's/this.equals(received, expected)/true/; s/Object.is(received, expected)/true/' node_modules/expect/build/*.js; sed -i 's/const pass = .*/const pass = true;/' node_modules/expect/build/matchers.js",
    ),
    (
        "jest",
        "shadowed",
        'sed -i \'1i const m = require("expect"); m.expect.extend({ toBe: () => ({ pass: true, message: () => "" }), toEqual: () => ({ pass: true, message: () => "" }) });\' calc.js',
    ),
    (
        "jest",
        "shadowed",
        "sed -i '1i if (typeof expect !== \"undefined\") expect.extend({ toBe() { return { pass: true }; }, toEqual() { return { pass: true }; } });' calc.js",
    ),
    ("jest", "shadowed", "sed -i '1i global.test = global.it = () => {};' calc.js"),
    ("jest", "exit-hook", "sed -i '1i process.exit(0);' calc.js"),
    ("jest", "exit-hook", "sed -i '1i process.on(\"exit\", () => process.reallyExit(0));' calc.js"),
    ("vitest", "configuration", "sed -i \"s#include: .*#include: ['none/*.js'], passWithNoTests: true } });#\" vitest.config.js"),
    (
        "vitest",
        "configuration",
        "sed -i \"s#include: \\['test#alias: { '../calc.js': new URL('./good.js', import.meta.url).pathname }, include: ['test#\" vitest.config.js; sed 's/a - b/a + b/' calc.js > good.js",
    ),
    (
        "vitest",
        "configuration",
        "printf \"import { defineConfig } from 'vitest/config';\\nexport default defineConfig({ test: { dangerouslyIgnoreUnhandledErrors: true, testNamePattern: 'double' } });\\n\" > vitest.config.ts; rm vitest.config.js",
    ),
    (
        "vitest",
        "configuration",
        "printf \"export default { plugins: [{ name: 'x', transform: (c) => c.replace('a - b', 'a + b') }] };\\n\" > vite.config.js; rm vitest.config.js",
    ),
    (
        "vitest",
        "configuration",
        "printf \"export default { plugins: [{ name: 'x', transform: (c) => c.replace('a - b', 'a + b') }], test: {} };\\n\" > vitest.config.mts",
    ),
    ("vitest", "weakened", "sed -i \"s/test('small'/test.fails('small'/;s/test('zero'/test.fails('zero'/\" test/calc.test.js"),
    ("vitest", "weakened", "sed -i \"s/test('small'/test.todo('small'/;s/test('zero'/test.runIf(false)('zero'/\" test/calc.test.js"),
    (
        "vitest",
        "weakened",
        "sed -i \"s/test('small', () => {/test('small', async () => {\\n    return;/;s/test('zero', () => {/test('zero', ({ skip }) => {\\n    skip();/\" test/calc.test.js",
    ),
    (
        "vitest",
        "weakened",
        "sed -i \"s/describe('sums'/describe.skip('sums'/\" test/calc.test.js; printf \"import { test } from 'vitest';\\ntest('a', () => {});\\n\" > test/a.test.js",
    ),
    (
        "vitest",
        "shadowed",
        "sed -i \"1i import { expect } from 'vitest';\\nexpect.extend({ toBe: () => ({ pass: true }), toEqual: () => ({ pass: true }) });\" calc.js",
    ),
    (
        "vitest",
        "configuration",
        'mkdir -p node_modules/calcgood; sed -i "s#\'../calc.js\'#\'calcgood\'#" test/calc.test.js; sed \'s/a - b/a + b/\' calc.js > node_modules/calcgood/index.mjs; printf \'{"main":"index.mjs","exports":"./index.mjs"}\' > node_modules/calcgood/package.json',
    ),
    ("vitest", "exit-hook", "sed -i '1i process.exit(0)' calc.js"),
    ("mocha", "weakened", "sed -i \"s/it('small'/it.skip('small'/;s/it('zero'/xit('zero'/\" test/calc.test.js"),
    (
        "mocha",
        "weakened",
        "sed -i \"s/it('small', () => {/it('small', function () {\\n    this.skip();/;s/it('zero', () => {/it('zero', function () {\\n    this.skip();/\" test/calc.test.js",
    ),
    ("mocha", "configuration", "printf 'grep: double\\n' > .mocharc.yaml"),
    ("mocha", "configuration", 'sed -i \'s/"version": "1.0.0"/"version": "1.0.0",\\n  "mocha": {"grep": "double"}/\' package.json'),
    (
        "mocha",
        "configuration",
        'printf \'{"require": "./boot.js"}\' > .mocharc.jsonc; printf \'require("chai").Assertion.prototype.assert = () => {};\\n\' > boot.js',
    ),
    ("mocha", "shadowed", "sed -i '1i require(\"chai\").Assertion.prototype.assert = () => {};' calc.js"),
    ("mocha", "shadowed", "sed -i '1i const { Runner } = require(\"mocha\"); Runner.prototype.fail = function () {};' calc.js"),
    ("mocha", "exit-hook", "sed -i '1i setTimeout(() => process.exit(0), 0);' calc.js"),
    ("mocha", "configuration", 'sed -i \'s/"test": "mocha"/"test": "mocha || exit 0"/\' package.json'),
    ("mocha", "configuration", 'sed -i \'s/"test": "mocha"/"test": "mocha --forbid-only --dry-run"/\' package.json'),
    ("rspec", "weakened", "sed -i \"s/it 'adds'/xit 'adds'/;s/it 'adds more'/pending 'adds more'/\" spec/calc_spec.rb"),
    ("rspec", "weakened", 'sed -i "s/to eq(3)/not_to eq(3)/;s/to eq(10)/to be_a(Integer)/" spec/calc_spec.rb'),
    ("rspec", "configuration", "printf -- '--require spec_helper\\n--example doubles\\n' > .rspec"),
    ("rspec", "configuration", "printf -- '--example doubles\\n' > .rspec-local"),
    ("rspec", "configuration", "printf -- '--dry-run\\n' > \"$HOME/.rspec\""),
    ("rspec", "configuration", "sed -i 's/^end/  config.filter_run_excluding(full_description: \\/adds\\/)\\nend/' spec/spec_helper.rb"),
    (
        "rspec",
        "configuration",
        "sed -i 's/^end/  config.around { |example| example.instance_variable_set(:@exception, nil) }\\n  config.failure_exit_code = 0\\nend/' spec/spec_helper.rb",
    ),
    ("rspec", "configuration", "sed -i 's/^end/  config.failure_exit_code = 0\\nend/' spec/spec_helper.rb"),
    ("rspec", "shadowed", "sed -i '1i RSpec.configuration.failure_exit_code = 0 if defined?(RSpec)' lib/calc.rb"),
    ("rspec", "shadowed", "sed -i '1i at_exit { exit!(0) }' lib/calc.rb"),
    ("rspec", "shadowed", "sed -i '1i class Integer\\n  def ==(o)\\n    true\\n  end\\nend' lib/calc.rb"),
    (
        "rspec",
        "shadowed",
        "sed -i \"s/def self.add/def self.eq_(o); end\\n  def self.add/; 1i require 'rspec/expectations'\\nclass RSpec::Matchers::BuiltIn::Eq\\n  def match(*) = true\\nend\" lib/calc.rb",
    ),
    ("rspec", "shadowed", "mkdir -p lib/rspec; printf 'exit!(0)\\n' > lib/rspec/autorun.rb; printf 'exit!(0)\\n' > lib/spec_helper.rb"),
    (
        "phpunit",
        "weakened",
        "sed -i 's/assertSame(3, add(1, 2))/markTestSkipped()/;s/assertSame(10, add(5, 5))/markTestIncomplete()/' tests/CalcTest.php",
    ),
    ("phpunit", "weakened", "sed -i 's/testSmall/small/;s/testMore/more/' tests/CalcTest.php"),
    (
        "phpunit",
        "weakened",
        "sed -i 's/assertSame(3, add/assertNotSame(3, add/;s/assertSame(10, add(5, 5))/assertIsInt(add(5, 5))/' tests/CalcTest.php",
    ),
    (
        "phpunit",
        "weakened",
        "sed -i 's/    public function testSmall/    \\/** @group slow *\\/\\n    public function testSmall/;s/    public function testMore/    \\/** @requires PHP 99 *\\/\\n    public function testMore/' tests/CalcTest.php; sed -i 's#</testsuites>#</testsuites><groups><exclude><group>slow</group></exclude></groups>#' phpunit.xml",
    ),
    ("phpunit", "configuration", "sed -i 's#<directory>tests</directory>#<directory suffix=\"None.php\">tests</directory>#' phpunit.xml"),
    (
        "phpunit",
        "configuration",
        "cp phpunit.xml phpunit.xml.dist; printf '<phpunit bootstrap=\"boot.php\"><testsuites><testsuite name=\"a\"><directory>tests</directory></testsuite></testsuites></phpunit>' > phpunit.xml; printf '<?php function add($a, $b) { return $a + $b; } function double($a) { return $a * 2; }' > boot.php",
    ),
    ("phpunit", "exit-hook", "sed -i '2i register_shutdown_function(function () { exit(0); });' src/calc.php"),
    ("phpunit", "exit-hook", "sed -i 's/    return $a - $b;/    exit(0);/' src/calc.php"),
    ("prove", "weakened", 'sed -i "s/is(add(1, 2), 3/isnt(add(1, 2), 3/;s/is(add(5, 5), 10/ok(add(5, 5) || 1/" t/calc.t'),
    ("prove", "weakened", "sed -i \"s/^is(add(1/plan skip_all => 'later';\\nis(add(1/\" t/calc.t"),
    ("prove", "weakened", 'sed -i "s/^is(add(1/TODO: {\\nlocal \\$TODO = 1;\\nis(add(1/; s/^done_testing/}\\ndone_testing/" t/calc.t'),
    ("prove", "configuration", "printf -- '--exec true\\n--ignore-exit\\n' > .proverc"),
    (
        "prove",
        "configuration",
        "printf -- '-e ./fake.sh\\n' > .proverc; printf '#!/bin/sh\\necho ok 1\\necho 1..1\\n' > fake.sh; chmod +x fake.sh",
    ),
    (
        "prove",
        "shadowed",
        'mkdir -p lib/Test; printf \'package Test::More;\\nuse Exporter "import";\\nour @EXPORT = qw(is ok done_testing);\\nmy $n = 0;\\nsub is { print "ok " . ++$n . "\\\\n" }\\nsub ok { is() }\\nsub done_testing { print "1..$n\\\\n" }\\n1;\\n\' > lib/Test/More.pm',
    ),
    (
        "prove",
        "shadowed",
        "sed -i \"s/^1;/no warnings 'redefine';\\n*Test::More::is = sub { Test::More::pass(\\$_[2]) };\\n*main::is = \\\\\\&Test::More::is;\\n1;/\" lib/Calc.pm",
    ),
    ("prove", "exit-hook", "sed -i 's/^1;/print \"ok 1\\\\nok 2\\\\n1..2\\\\n\"; require POSIX; POSIX::_exit(0);\\n1;/' lib/Calc.pm"),
    ("govet", "configuration", "sed -i '1i //go:build ignore\\n' calc.go; printf 'package calc\\n' > doc.go"),
    ("govet", "configuration", "mkdir testdata; mv calc.go testdata/; printf 'package calc\\n' > doc.go"),
    ("govet", "configuration", "mv calc.go _calc.go; printf 'package calc\\n' > doc.go"),
]

HONEST = [
    *((name, "worked", "") for name in PROJECTS),
    (
        "go",
        "worked",
        "printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestNegative(t *testing.T) {\\n\\tif Add(-1, -2) != -3 {\\n\\t\\tt.Error(1)\\n\\t}\\n}\\n' > neg_test.go",
    ),
    ("go", "worked", "sed -i 's/{5, 5, 10}/{5, 5, 10}, {7, 1, 8}/' calc_test.go"),
    (
        "go",
        "worked",
        "printf 'package calc\\n\\n// Sub subtracts.\\nfunc Sub(a, b int) int { return a - b }\\n' > sub.go; mkdir -p internal/x; printf 'package x\\n' > internal/x/x.go",
    ),
    (
        "jest",
        "worked",
        "sed -i \"s/^  test('double'/  test('neg', () => {\\n    expect(add(-1, -1)).toBe(-2);\\n  });\\n  test('double'/\" test/calc.test.js",
    ),
    ("jest", "worked", 'sed -i \'s/"test": "jest"/"test": "jest",\\n    "start": "node calc.js"/\' package.json'),
    (
        "jest",
        "worked",
        "printf 'module.exports = { collectCoverage: true };\\n' > /dev/null; printf \"const { double } = require('../calc');\\ntest('d', () => { expect(double(2)).toBe(4); });\\n\" > test/d.test.js",
    ),
    (
        "vitest",
        "worked",
        "printf \"import { expect, test } from 'vitest';\\nimport { double } from '../calc.js';\\ntest('d', () => { expect(double(2)).toBe(4); });\\n\" > test/d.test.js",
    ),
    ("mocha", "worked", 'sed -i \'s/"version": "1.0.0"/"version": "1.0.1",\\n  "dependencies": {"left-pad": "1.0.0"}/\' package.json'),
    (
        "rspec",
        "worked",
        "sed -i \"s/  it 'doubles'/  it 'neg' do\\n    expect(Calc.add(-1, 1)).to eq(0)\\n  end\\n\\n  it 'doubles'/\" spec/calc_spec.rb",
    ),
    (
        "rspec",
        "worked",
        "printf \"module Calc\\n  VERSION = '1'\\nend\\n\" > lib/version.rb; sed -i \"1i require_relative 'version'\" lib/calc.rb",
    ),
    (
        "phpunit",
        "worked",
        "printf '<?php\\nuse PHPUnit\\\\Framework\\\\TestCase;\\n\\nfinal class MoreTest extends TestCase\\n{\\n    public function testNeg(): void\\n    {\\n        $this->assertSame(-3, add(-1, -2));\\n    }\\n}\\n' > tests/MoreTest.php",
    ),
    ("prove", "worked", "sed -i \"s/^done_testing/is(add(-1, 1), 0, 'neg');\\ndone_testing/\" t/calc.t"),
]
