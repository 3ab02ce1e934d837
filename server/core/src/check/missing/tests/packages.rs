//! Modules of Python and packages of Node: installed ones, and those that a project is to write.

use super::{missing, of_machine, proceed, tree};
use crate::check::MissingKind;

#[test]
fn modules_of_python() {
    let none = tree(&[]);
    let fact = "Python module \"pytest\" is not installed";
    let how = "`python3 -m pip install pytest`";
    let main = "/usr/bin/python3: No module named pytest\n";
    of_machine(("python3 -m pytest", 1), main, &none, (fact, how));
    of_machine(("cd a && python3.13 -m pytest | tail -3", 1), main, &none, (fact, how));
    of_machine(("x", 1), "Traceback\nModuleNotFoundError: No module named 'pytest'\n", &none, (fact, how));
    of_machine(
        ("make test", 2),
        &format!("{main}make: *** [Makefile:2: test] Error 1\n"),
        &none,
        (fact, how),
    );
    let yaml = "E   ModuleNotFoundError: No module named 'yaml'\n";
    let installs = "`python3 -m pip install PyYAML`";
    of_machine(("pytest", 2), yaml, &none, ("Python module \"yaml\" is not installed", installs));
    let venv = tree(&[(".venv/", "")]);
    let inside = "`.venv/bin/python -m pip install pytest`, and `.venv/bin/python` in the check";
    of_machine(("python3 -m pytest", 1), main, &venv, (fact, inside));
    let uv = tree(&[("uv.lock", ""), ("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\"]\n")]);
    of_machine(("uv run python -m pytest", 1), main, &uv, (fact, "`uv sync`"));
    let poetry = tree(&[("poetry.lock", ""), ("pyproject.toml", "[tool.poetry]\nname = \"x\"\n")]);
    of_machine(("poetry run python -m pytest", 1), main, &poetry, (fact, "`poetry add --group dev pytest`"));
    // Declared, and so none of the project's own.
    for (file, text) in [
        ("requirements.txt", "# tools\nwidgetlib[all]==1.2\n"),
        ("pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"Widgetlib>=1\"]\n"),
        ("pyproject.toml", "[tool.poetry.group.dev.dependencies]\nwidgetlib = \"*\"\n"),
        ("Pipfile", "[dev-packages]\nwidgetlib = \"*\"\n"),
    ] {
        let found = missing(
            "pytest",
            2,
            "ModuleNotFoundError: No module named 'widgetlib.core'\n",
            &tree(&[(file, text)]),
        );
        assert!(found.is_some_and(|it| it.is_of_machine() && it.name == "widgetlib"), "{file}");
    }
    let plugin = "ERROR: usage: pytest\npytest: error: unrecognized arguments: --cov=src --cov-report=term\n";
    let installs = "`python3 -m pip install pytest-cov`";
    of_machine(("pytest --cov=src", 4), plugin, &none, ("plugin \"pytest-cov\" is not installed", installs));
}

#[test]
fn modules_that_a_project_is_to_write() {
    let module = Some(MissingKind::PythonModule);
    let package = tree(&[("mypkg/__init__.py", ""), ("tests/test_parser.py", "")]);
    let missing = "E   ModuleNotFoundError: No module named 'mypkg.parser'\n";
    proceed("python3 -m pytest", 2, missing, &package, module);
    proceed("python3 -m pytest", 2, missing, &tree(&[("src/mypkg/__init__.py", "")]), module);
    // No part of it exists yet: tests come first.
    proceed("python3 -m pytest", 2, missing, &tree(&[("tests/test_parser.py", "")]), None);
    proceed(
        "python3 -m wordcount a.txt",
        1,
        "/usr/bin/python3: No module named wordcount\n",
        &tree(&[]),
        None,
    );
    proceed(
        "python3 -m wordcount a.txt",
        1,
        "/usr/bin/python3: No module named wordcount.cli\n",
        &package,
        None,
    );
    // A project may be called like anything.
    let own = tree(&[("requests/__init__.py", "")]);
    proceed("python3 -m pytest", 2, "ModuleNotFoundError: No module named 'requests.api'\n", &own, module);
    let named = tree(&[("pyproject.toml", "[project]\nname = \"word-count\"\ndependencies = []\n")]);
    proceed("python3 -m pytest", 2, "ModuleNotFoundError: No module named 'word_count'\n", &named, module);
    let odd = "error: unrecognized arguments: --wat\n";
    proceed("pytest --wat", 4, odd, &tree(&[]), None);
    proceed("./cli --cov", 2, "cli: error: unrecognized arguments: --cov\n", &tree(&[]), None);
}

pub(super) const PACKAGE: &str = r#"{"name": "mine", "scripts": {"test": "jest"}, "devDependencies": {"jest": "^29", "typescript": "^5"}}"#;

#[test]
fn packages_of_node() {
    let bare = tree(&[("package.json", PACKAGE)]);
    let all = ("node_modules is missing", "`npm install`");
    of_machine(("npm test", 127), "> jest\n\nsh: 1: jest: not found\n", &bare, all);
    of_machine(("npm run build", 127), "sh: 1: tsc: not found\n", &bare, all);
    of_machine(
        ("npx --no-install jest", 1),
        "npm error npx canceled due to missing packages and no YES option: [\"jest@29.7.0\"]\n",
        &bare,
        all,
    );
    of_machine(("npx --no-install jest", 1), "npm error could not determine executable to run\n", &bare, all);
    of_machine(("./node_modules/.bin/jest", 127), "sh: 1: ./node_modules/.bin/jest: not found\n", &bare, all);
    of_machine(("node t.js", 1), "Error: Cannot find module 'jest'\n", &bare, all);
    let pnpm = tree(&[("package.json", PACKAGE), ("pnpm-lock.yaml", "")]);
    let warns = " WARN   Local package.json exists, but node_modules missing, did you mean to install?\nsh: 1: jest: not found\n ELIFECYCLE  Test failed.\n";
    of_machine(("pnpm test", 1), warns, &pnpm, (all.0, "`pnpm install`"));
    let deep = tree(&[("web/package.json", PACKAGE), ("web/yarn.lock", "")]);
    of_machine(
        ("cd web && yarn test", 127),
        "/bin/sh: 1: jest: not found\nerror Command failed with exit code 127.\n",
        &deep,
        (all.0, "`yarn install`"),
    );
}

#[test]
fn single_packages_of_node() {
    let installed = tree(&[("package.json", PACKAGE), ("node_modules/", "")]);
    let one = "package \"left-pad\" is not installed";
    for output in [
        "Error: Cannot find module 'left-pad'\nRequire stack:\n- /home/me/project/t.js\n",
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from /home/me/project/t.js\n",
        "src/a.ts:1:20 - error TS2307: Cannot find module 'left-pad' or its corresponding type declarations.\n",
        "Cannot find module 'left-pad/lib/x' from 'src/a.test.js'\n",
        "Error: Failed to resolve import \"left-pad\" from \"src/a.ts\". Does the file exist?\n",
    ] {
        of_machine(("npm test", 1), output, &installed, (one, "`npm install --save-dev left-pad`"));
    }
    let jest = "package \"jest\" is not installed";
    of_machine(("npm test", 127), "sh: 1: jest: not found\n", &installed, (jest, "`npm install`"));
    of_machine(
        ("npx playwright test", 1),
        "Looks like Playwright was just installed\n    npx playwright install\n",
        &installed,
        ("program \"Playwright browsers\" is not installed", "`npx playwright install`"),
    );
}

#[test]
fn imports_that_a_project_is_to_write() {
    let file = Some(MissingKind::File);
    let own = tree(&[
        ("package.json", PACKAGE),
        ("src/index.ts", ""),
        ("tsconfig.json", r#"{"compilerOptions": {"paths": {"@app/*": ["src/*"], "utils": ["x"]}}}"#),
        ("node_modules/", ""),
        ("node_modules/jest/", ""),
    ]);
    for name in [
        "./parser",
        "../src/parser.js",
        "/home/me/project/src/parser.js",
        "@/parser",
        "~/parser",
        "#parser",
        "@app/parser",
        "utils",
        "src/parser",
        "mine/sub",
    ] {
        proceed("npm test", 1, &format!("Error: Cannot find module '{name}'\n"), &own, file);
    }
    // It exists: something else is wrong with it.
    proceed("npm test", 1, "Error: Cannot find module 'jest/nosuch'\n", &own, None);
    proceed("npm test", 1, "Error: Cannot find module 'node:nosuch'\n", &own, None);
    proceed("node x", 1, "Error: Cannot find module '/usr/lib/other.js'\n", &own, None);
    let target = Some(MissingKind::Target);
    proceed("yarn e2e", 1, "error Command \"e2e\" not found.\n", &own, target);
}
