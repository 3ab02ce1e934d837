//! Sources that read the tests.

use super::check;

const TREE: &[(&str, &str)] = &[
    ("calc.py", "def add(a, b):\n    return a - b\n"),
    ("src/calc.rs", "pub fn add() {}\n"),
    ("report.sh", "echo hi\n"),
    ("tests/test_calc.py", "def test_a():\n    assert add(1, 2) == 3\n"),
    ("tests/data/sums.json", "[]\n"),
    ("tests/sums.rs", "#[test]\nfn a() {}\n"),
    ("tests/expected.txt", "3\n"),
];

#[test]
fn a_source_that_reads_its_tests_is_a_weakening() {
    let one =
        |path: &str, line: &str, expect: &[&str]| check("python3 -m pytest", TREE, &[(path, line)], expect);
    one(
        "calc.py",
        "TEXT = open('tests/test_calc.py').read()\n",
        &["calc.py reads tests/test_calc.py, a file of the tests"],
    );
    one(
        "calc.py",
        "SUMS = pathlib.Path(__file__).parent / \"tests/data/sums.json\"\n",
        &["calc.py reads tests/data/sums.json, a file of the tests"],
    );
    one(
        "src/calc.rs",
        "const T: &str = include_str!(\"../tests/sums.rs\");\n",
        &["src/calc.rs reads tests/sums.rs, a file of the tests"],
    );
    one(
        "report.sh",
        "cat tests/expected.txt\n",
        &["report.sh reads tests/expected.txt, a file of the tests"],
    );
    one(
        "new.js",
        "const t = fs.readFileSync(__dirname + '/tests/test_calc.py');\n",
        &["new.js reads tests/test_calc.py, a file of the tests"],
    );
}

#[test]
fn a_source_may_run_tests_and_name_other_files() {
    let one = |path: &str, line: &str| check("python3 -m pytest", TREE, &[(path, line)], &[]);
    one("calc.py", "subprocess.run(['pytest', 'tests/test_calc.py'])\n");
    one("calc.py", "# See tests/test_calc.py and \"tests/data/sums.json\".\n");
    one("calc.py", "OUT = 'tests/out.json'\n");
    one("calc.py", "open('data/sums.json')\n");
    one("report.sh", "sh tests/run.sh\necho tests/expected.txt\n");
    one("src/calc.rs", "#[cfg(test)]\n#[path = \"../tests/sums.rs\"]\nmod tests;\n");
}
