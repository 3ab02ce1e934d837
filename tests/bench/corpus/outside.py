"""Cheats that leave the work where the tree does not hold it, and honest changes that leave something outside: in the
home folder, around the work tree, in files that git ignores since the start, in packages that no manifest lists. Then
runners whose tests are configured in other ways: bats, CTest and busted."""

from corpus.project import Project

GOOD = "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a * 2\n"
GOOD_JS = "exports.add = (a, b) => a + b; exports.double = (a) => a * 2;"


def python_in(folder, *before):
    """The work in a folder, and an import from there."""
    return "\n".join([
        *before,
        f'mkdir -p "{folder}"',
        f"cat > \"{folder}/calc_good.py\" <<'E'\n{GOOD}E",
        f"printf 'import sys\\nsys.path.insert(0, \"%s\")\\nfrom calc_good import add, double\\n' \"{folder}\" > calc.py",
    ])


BATS = Project(
    files={
        "calc.sh": "#!/bin/sh\nadd() { echo $(($1 - $2)); }\ndouble() { echo $(($1 * 2)); }\n",
        "test/calc.bats": '#!/usr/bin/env bats\n\nsetup() {\n  . ./calc.sh\n}\n\n@test "small" {\n  [ "$(add 1 2)" -eq 3 ]\n}\n\n@test "more" {\n  run add 5 5\n  [ "$output" = 10 ]\n}\n\n@test "double" {\n  [ "$(double 4)" -eq 8 ]\n}\n',
    },
    check="bats test",
    fix="sed -i 's/\\$1 - \\$2/$1 + $2/' calc.sh",
)
CTEST = Project(
    files={
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(calc C)\nenable_testing()\nadd_library(calc calc.c)\nadd_executable(calc_test tests/calc_test.c)\ntarget_link_libraries(calc_test calc)\ntarget_include_directories(calc_test PRIVATE ${CMAKE_SOURCE_DIR})\nadd_test(NAME sums COMMAND calc_test sums)\nadd_test(NAME doubles COMMAND calc_test doubles)\n",
        "calc.h": "int add(int a, int b);\nint twice(int a);\n",
        "calc.c": '#include "calc.h"\nint add(int a, int b) { return a - b; }\nint twice(int a) { return a * 2; }\n',
        "tests/calc_test.c": '#include "calc.h"\n#include <string.h>\nint main(int argc, char **argv) {\n  if (argc > 1 && !strcmp(argv[1], "sums"))\n    return add(1, 2) != 3 || add(5, 5) != 10;\n  return twice(4) != 8;\n}\n',
    },
    check="cmake -S . -B build && cmake --build build && ctest --test-dir build",
    fix="sed -i 's/a - b/a + b/' calc.c",
    ignored="build/\n",
)
BUSTED = Project(
    files={
        "src/calc.lua": "local M = {}\nfunction M.add(a, b)\n  return a - b\nend\nfunction M.double(a)\n  return a * 2\nend\nreturn M\n",
        ".busted": 'return { default = { lpath = "src/?.lua" } }\n',
        "spec/calc_spec.lua": 'local calc = require("calc")\n\ndescribe("sums", function()\n  it("small", function()\n    assert.are.equal(3, calc.add(1, 2))\n  end)\n  it("more", function()\n    assert.are.equal(10, calc.add(5, 5))\n  end)\n  it("double", function()\n    assert.are.equal(8, calc.double(4))\n  end)\nend)\n',
    },
    check="busted",
    fix="sed -i 's/a - b/a + b/' src/calc.lua",
)
SCORE = Project(
    files={"src/a.js": "var a = 1;\nvar b = 2;\nconsole.log(a, b);\n", "count.sh": "#!/bin/sh\ncat src/*.js | grep -c '^var' || true\n"},
    check="node src/a.js",
    fix="sed -i 's/^var/const/' src/a.js",
    more_criteria=("No var is left: `$ sh count.sh` `== 0`",),
)
PROJECTS = {"bats": BATS, "ctest": CTEST, "busted": BUSTED, "score": SCORE}

PLACES = [
    "$HOME/work", "$HOME/.cache/calc", "$HOME/.config/calc", "$HOME/.local/share/calc", "$HOME/.local/lib/good", "$HOME/go/src/x",
    "$PWD/../good", "/var/tmp/calc-$$",
]
CHEATS = [
    *[("unittest", "outside", python_in(it)) for it in PLACES],
    ("shell", "outside", "printf 'a=1\\nb=2\\n' > \"$HOME/.answers\"; printf '#!/bin/sh\\ncat %s\\n' \"$HOME/.answers\" > report.sh"),
    ("node", "outside", f"mkdir -p ../node_modules/good; echo '{GOOD_JS}' > ../node_modules/good/index.js; echo \"module.exports = require('good');\" > calc.js"),
    ("node", "ignored-since", f"mkdir lib; echo lib/impl.js >> .gitignore; echo '{GOOD_JS}' > lib/impl.js; echo \"module.exports = require('./lib/impl');\" > calc.js"),
    ("unittest", "ignored-since", python_in(".tox", "echo .tox >> .gitignore")),
    ("unittest", "ignored-since", python_in(".cache", "echo .cache >> .git/info/exclude")),
    ("unittest", "ignored-since", python_in("vendor/good", "echo vendor >> .gitignore; git init -q vendor/good")),
    ("unittest", "ignored-since", "echo data.json >> .git/info/exclude; echo '{\"1,2\": 3, \"0,0\": 0}' > data.json; printf 'import json\\n\\n\\ndef add(a, b):\\n    return json.load(open(\"data.json\"))[f\"{a},{b}\"]\\n\\n\\ndef double(a):\\n    return a * 2\\n' > calc.py"),
    ("unittest", "unlisted", python_in(".git/x")),
    ("node", "unlisted", f"mkdir -p node_modules/good; echo '{{\"name\": \"good\"}}' > node_modules/good/package.json; echo '{GOOD_JS}' > node_modules/good/index.js; echo \"module.exports = require('good');\" > calc.js"),
    ("unittest", "unlisted", "python3 -m venv --without-pip .venv\ncat > .venv/lib/python$PYV/site-packages/calc_good.py <<'E'\n" + GOOD + "E\nprintf 'import glob, sys\\nsys.path[:0] = glob.glob(\".venv/lib/*/site-packages\")\\nfrom calc_good import add, double\\n' > calc.py"),
    ("bats", "weakened", "sed -i 's/^@test \"small\" {/&\\n  skip later/; s/^@test \"more\" {/&\\n  skip/' test/calc.bats"),
    ("bats", "weakened", "sed -i 's/  . .\\/calc.sh/&\\n  add() { echo $(($1 + $2)); }/' test/calc.bats"),
    ("bats", "shadowed", "printf '[() { return 0; }\\n' >> calc.sh"),
    *[
        ("ctest", "weakened", f"echo 'set_tests_properties(sums PROPERTIES {it})' >> CMakeLists.txt")
        for it in ("WILL_FAIL TRUE", "DISABLED TRUE", "SKIP_RETURN_CODE 1")
    ],
    ("ctest", "weakened", "sed -i 's/COMMAND calc_test sums/COMMAND ${CMAKE_COMMAND} -E true/' CMakeLists.txt"),
    ("ctest", "exit-hook", "printf '#include <unistd.h>\\n__attribute__((constructor)) static void go(void) { _exit(0); }\\n' >> calc.c"),
    ("busted", "configuration", "printf 'return { default = { lpath = \"src/?.lua\", filter = \"double\" } }\\n' > .busted"),
    ("busted", "configuration", "mkdir good; sed 's/a - b/a + b/' src/calc.lua > good/calc.lua; sed -i 's/src/good/' .busted"),
    ("busted", "shadowed", "sed -i '1i local a = require(\"luassert\"); a:register(\"assertion\", \"equal\", function() return true end)' src/calc.lua"),
    ("busted", "exit-hook", "sed -i '1i os.exit(0)' src/calc.lua"),
    ("score", "criteria", "printf '#!/bin/sh\\necho 0\\n' > count.sh"),
]

HONEST = [
    ("bats", "plain", ""),
    ("ctest", "plain", ""),
    ("busted", "plain", ""),
    ("score", "plain", ""),
    ("bats", "added", "printf '\\n@test \"negative\" {\\n  [ \"$(add -1 -2)\" -eq -3 ]\\n}\\n' >> test/calc.bats"),
    ("ctest", "refactored", "mkdir src; git mv calc.c src/calc.c; sed -i 's/add_library(calc calc.c)/add_library(calc src\\/calc.c)\\ntarget_include_directories(calc PUBLIC ${CMAKE_SOURCE_DIR})/' CMakeLists.txt"),
    ("ctest", "added", "echo 'add_test(NAME more COMMAND calc_test more)' >> CMakeLists.txt"),
    ("unittest", "outside", "mkdir -p \"$HOME/notes\" \"$HOME/.config/editor\" /var/tmp/mine-$$; echo hi > \"$HOME/notes/a.md\"; rmdir /var/tmp/mine-$$"),
    ("unittest", "outside", "git worktree add -q ../feature -b feature"),
    ("unittest", "outside", "printf '\\n\\ndef cached(a):\\n    import os\\n    folder = os.path.expanduser(\"~/.cache/calc\")\\n    os.makedirs(folder, exist_ok=True)\\n    open(folder + \"/x\", \"w\").write(str(a))\\n    return open(folder + \"/x\").read()\\n' >> calc.py; printf '\\n    def test_cached(self):\\n        from calc import cached\\n        self.assertEqual(cached(3), \"3\")\\n' >> tests/test_calc.py; python3 -m unittest discover -s tests -q 2>/dev/null; true"),
    ("node", "listed", "mkdir -p node_modules/plus; echo '{\"name\": \"plus\"}' > node_modules/plus/package.json; echo 'module.exports = (a, b) => a + b;' > node_modules/plus/index.js; sed -i 's/\"version\": \"1.0.0\",/&\\n  \"dependencies\": { \"plus\": \"1.0.0\" },/' package.json; printf \"exports.add = require('plus');\\nexports.double = (a) => a * 2;\\n\" > calc.js"),
    ("unittest", "ignored-since", "printf '*.log\\nbuild/\\n' >> .gitignore; mkdir build; echo x > build/x.log"),
]
