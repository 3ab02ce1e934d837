//! Scripts that could fail, and what became of them.

use super::describe_loss;

const EMPTIED: &str = "was emptied: nothing in it can fail";
const IGNORES: &str = "can no longer fail";

#[track_caller]
fn check(path: &str, before: &str, after: &str, expect: &str) {
    assert_eq!(describe_loss(path, before, after).unwrap_or_default(), expect, "{path}: {after}");
}

const PROVE_SH: &str = "#!/bin/sh\nset -eu\nout=$(./sums 1 2)\n[ \"$out\" = 3 ] || { echo wrong; exit 1; }\n";
const PROVE_PY: &str = "\"\"\"Proves the sums.\"\"\"\nimport sys\nfrom calc import add\n\n\ndef main():\n    assert add(1, 2) == 3\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n";
const PROVE_JS: &str = "const assert = require('node:assert');\nconst { add } = require('./calc');\n\nfunction main() {\n  assert.equal(add(1, 2), 3);\n}\n\nmain();\n";

#[test]
fn shell_scripts_that_cannot_fail() {
    for after in [
        "",
        "exit 0\n",
        "#!/bin/sh\ntrue\n",
        "#!/bin/sh\nset -eu\necho all is well\n",
        "#!/bin/sh\nexit 0\nset -eu\nout=$(./sums 1 2)\n[ \"$out\" = 3 ] || exit 1\n",
        "#!/bin/sh\nmain() {\n  return 0\n}\nmain \"$@\"\n",
        "#!/bin/sh\nmain() {\n  ./sums 1 2\n  exit 1\n}\nSTATUS=0\necho ok\n",
    ] {
        check("prove.sh", PROVE_SH, after, EMPTIED);
        check("prove", PROVE_SH, after, EMPTIED);
    }
    for after in [
        "#!/bin/sh\nset +e\nout=$(./sums 1 2)\n[ \"$out\" = 3 ] || echo wrong\nexit 0\n",
        "#!/bin/sh\nif [ \"$(./sums 1 2)\" = 3 ]; then\n  echo ok\nfi\nexit 0\n",
    ] {
        check("prove.sh", PROVE_SH, after, IGNORES);
    }
    let runs = "#!/bin/sh\ncd app\npython3 -m unittest\n";
    check("run.sh", runs, &format!("{runs}exit 0\n"), IGNORES);
    check("run.sh", runs, &format!("{runs}true\n"), IGNORES);
    check("run.sh", runs, "#!/bin/sh\ncd app\npython3 -m unittest || true\n", IGNORES);
}

#[test]
fn shell_scripts_that_can_still_fail() {
    for after in [
        PROVE_SH,
        "#!/bin/sh\nset -e\n./sums 1 2 | grep -q 3\nexit 0\n",
        "#!/bin/sh\n./sums 1 2 | grep -q 3 || exit 1\nexit 0\n",
        "#!/bin/sh\nif [ \"$(./sums 1 2)\" != 3 ]; then\nexit 1\nfi\nexit 0\n",
        "#!/bin/sh\n./sums 1 2 | grep -q 3 &&\nexit 0\n",
        "#!/bin/sh\nif [ -n \"$1\" ]; then\nexit 0\nfi\n./sums 1 2 | grep -q 3\n",
        "#!/bin/sh\nmain() {\n  ./sums 1 2 | grep -q 3\n}\nmain\n",
        "#!/bin/sh\n. ./lib.sh\nexit 0\n",
        "#!/bin/sh\ncat > run.sh <<END\nexit 0\nEND\nsh run.sh\n",
        "#!/bin/sh\nfail=0\n./sums 1 2 | grep -q 3 || fail=1\nexit $fail\n",
    ] {
        check("prove.sh", PROVE_SH, after, "");
    }
    let build = "#!/bin/sh\ngcc -o app a.c\n";
    check("build.sh", build, "#!/bin/sh\ngcc -o app a.c -lm\necho \"built app\"\n", "");
    let usage = "#!/bin/sh\n[ $# -gt 0 ] || { echo usage; exit 2; }\nwc -l \"$1\"\n";
    check("lines.sh", usage, "#!/bin/sh\n[ \"$1\" = --help ] && { echo usage; exit 0; }\nwc -l \"$1\"\n", "");
    // What only fails is not written yet.
    let stub = "#!/bin/sh\necho 'not implemented' >&2\nexit 1\n";
    check("greet.sh", stub, "#!/bin/sh\necho Hello\n", "");
    check("copy.sh", stub, "#!/bin/sh\ncp a b\nexit 0\n", "");
    check("stub.sh", "exit 0\n", "echo hello\n", "");
}

#[test]
fn python_scripts_that_cannot_fail() {
    for after in [
        "",
        "pass\n",
        "print('ok')\n",
        "import sys\nsys.exit(0)\nfrom calc import add\nassert add(1, 2) == 3\n",
        "raise SystemExit(0)\n",
        "\"\"\"Proves the sums.\n\nAll of them.\n\"\"\"\nimport sys\n\n\ndef main():\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n",
        "from calc import (\n    add,\n)\n\n\ndef main():\n    assert add(1, 2) == 3\n\n\nprint('all proved')\n",
    ] {
        check("tools/x.py", PROVE_PY, after, EMPTIED);
    }
    for after in [
        PROVE_PY,
        "from calc import add\n\nassert add(1, 2) == 3\n",
        "import sys\n\nif len(sys.argv) > 1:\n    sys.exit(0)\nrun()\n",
        "from calc import add\n\n\ndef main():\n    assert add(1, 2) == 3\n\n\nmain()\n",
        "import runpy\nrunpy.run_module('calc')\n",
    ] {
        check("tools/x.py", PROVE_PY, after, "");
    }
    check("app.py", "raise NotImplementedError\n", "print('Hello')\n", "");
}

#[test]
fn node_scripts_that_cannot_fail() {
    for after in [
        "",
        "process.exit(0);\n",
        "console.log('ok');\n",
        "const assert = require('node:assert');\nprocess.exit(0);\nassert.equal(1, 2);\n",
        "const assert = require('node:assert');\n\nfunction main() {\n  return;\n}\n\nmain();\n",
        "// Proves the sums.\nimport assert from 'node:assert';\n\nconst main = async () => {\n  assert.equal(1, 2);\n};\n\nconsole.log('proved');\n",
    ] {
        check("tools/x.mjs", PROVE_JS, after, EMPTIED);
    }
    for after in [
        PROVE_JS,
        "import './all.mjs';\n",
        "const { add } = require('./calc');\nif (add(1, 2) !== 3) process.exit(1);\n",
        "if (process.argv[2]) {\n  process.exit(0);\n}\nrun();\n",
    ] {
        check("tools/x.mjs", PROVE_JS, after, "");
    }
    check("app.js", "throw new Error('to do');\n", "console.log('Hello');\n", "");
}

#[test]
fn scripts_of_other_languages() {
    check("prove.rb", "require './calc'\nabort 'wrong' unless add(1, 2) == 3\n", "exit 0\n", EMPTIED);
    check(
        "prove.rb",
        "require './calc'\nabort 'wrong' unless add(1, 2) == 3\n",
        "require './calc'\nrun\n",
        "",
    );
    check("prove.lua", "assert(add(1, 2) == 3)\n", "os.exit(0)\nassert(add(1, 2) == 3)\n", EMPTIED);
}

/// A line of many megabytes, or many lines, take linear time.
#[test]
fn large_scripts_are_read_quickly() {
    let call = |n: usize| format!("f{n}() {{\n  true\n}}\nf{n}\n");
    let calls = (0..50_000).map(call).collect::<Vec<_>>().concat();
    check("prove.sh", PROVE_SH, &calls, EMPTIED);
    let commands = "./sums 1 2 | grep -q 3\n".repeat(50_000);
    check("prove.sh", PROVE_SH, &format!("{commands}exit 0\n"), IGNORES);
    check("prove.py", PROVE_PY, &"x".repeat(900_000), "");
}
