//! Python: finds which tool manages the environment, and which test runner, linter and type checker the project
//! configures.

use std::path::PathBuf;

use super::package::PackageFolder;
use super::{
    COVERAGE, FORMAT, FoundCheck, LINT, ManifestError, MissingTool, ProposedChecks, TESTS, TYPES, has_header,
};
use loopkeeper_system::config_text::read_text;
use loopkeeper_text::tr;

/// Tools that create the environment themselves, with the lock file and the section that select them.
const MANAGERS: [(&str, &str, &str); 4] = [
    ("uv", "uv.lock", "[tool.uv"),
    ("poetry", "poetry.lock", "[tool.poetry"),
    ("pdm", "pdm.lock", "[tool.pdm"),
    ("hatch", "hatch.toml", "[tool.hatch.envs"),
];

/// Where a tool is configured.
struct ToolPlace {
    /// A section of `pyproject.toml`.
    section: &'static str,
    /// Files of its own.
    files: &'static [&'static str],
    /// Files of several tools, with the line that begins its section or setting.
    shared: &'static [(&'static str, &'static str)],
}

const RUFF: &[&str] = &["ruff.toml", ".ruff.toml"];
const MYPY: &[&str] = &["mypy.ini", ".mypy.ini"];
const NONE: &[&str] = &[];

/// Tool, place of its configuration, criterion, arguments.
const TOOLS: [(&str, ToolPlace, &str, &str); 6] = [
    ("ruff", ToolPlace::new("[tool.ruff", RUFF, &[]), LINT, "check ."),
    ("ruff", ToolPlace::new("[tool.ruff.format", NONE, &[]), FORMAT, "format --check ."),
    ("flake8", ToolPlace::new("[tool.flake8", &[".flake8"], &[("setup.cfg", "[flake8]")]), LINT, ""),
    ("black", ToolPlace::new("[tool.black", NONE, &[]), FORMAT, "--check ."),
    ("mypy", ToolPlace::new("[tool.mypy", MYPY, &[("setup.cfg", "[mypy]")]), TYPES, "."),
    ("pyright", ToolPlace::new("[tool.pyright", &["pyrightconfig.json"], &[]), TYPES, ""),
];

/// A share of covered lines that the project demands.
const COVERAGE_RULE: ToolPlace = ToolPlace::new(
    "fail_under",
    NONE,
    &[(".coveragerc", "fail_under"), ("setup.cfg", "fail_under"), ("tox.ini", "fail_under")],
);

impl ToolPlace {
    const fn new(
        section: &'static str,
        files: &'static [&'static str],
        shared: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { section, files, shared }
    }

    fn find(
        &self,
        package: &PackageFolder<'_>,
        project: &str,
    ) -> Result<Option<&'static str>, ManifestError> {
        if has_header(project, self.section) {
            return Ok(Some("pyproject.toml"));
        }
        if let Some(file) = self.files.iter().find(|it| package.has(it)) {
            return Ok(Some(file));
        }
        for (file, header) in self.shared {
            if package.text(file)?.is_some_and(|it| has_header(&it, header)) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let project = package.text("pyproject.toml")?.unwrap_or_default();
    let environment = PythonEnvironment::of(package, &project);
    let header = |file: &str, header: &str| -> Result<bool, ManifestError> {
        Ok(package.text(file)?.is_some_and(|it| has_header(&it, header)))
    };
    let signs = [
        ("pyproject.toml", has_header(&project, "[tool.pytest") || project.contains("\"pytest")),
        ("pytest.ini", package.has("pytest.ini")),
        ("conftest.py", package.has("conftest.py")),
        ("tests/conftest.py", package.has("tests/conftest.py")),
        ("setup.cfg", header("setup.cfg", "[tool:pytest]")?),
        ("tox.ini", header("tox.ini", "[pytest]")?),
        ("requirements.txt", header("requirements.txt", "pytest")?),
        ("requirements-dev.txt", header("requirements-dev.txt", "pytest")?),
    ];
    let pytest = signs.into_iter().find(|(_, there)| *there);
    if let Some((file, _)) = pytest {
        checks.add(environment.check((TESTS, file), "pytest", "-q"));
    } else if let Some(tests) = unittest(package)? {
        checks.add(environment.unittest(tests));
    }
    for (tool, place, name, arguments) in TOOLS {
        if let Some(file) = place.find(package, &project)? {
            checks.add(environment.check((name, file), tool, arguments));
        }
    }
    // The share of covered lines is that of the tests under pytest.
    if let Some(file) = COVERAGE_RULE.find(package, &project)?.filter(|_| pytest.is_some()) {
        checks.add(environment.coverage(file));
    }
    Ok(())
}

/// The Python that runs the project's tools.
struct PythonEnvironment<'a> {
    package: &'a PackageFolder<'a>,
    kind: PythonEnvironmentKind,
}

enum PythonEnvironmentKind {
    /// `uv run`, `poetry run`: installs what the project declares.
    Managed(&'static str),
    /// `.venv/bin/python`, relative to the package's folder, and its path.
    Virtual { shown: String, python: PathBuf },
    /// `python3`, because `python` is missing on many systems outside of a virtual environment.
    System(Option<PathBuf>),
}

impl<'a> PythonEnvironment<'a> {
    fn of(package: &'a PackageFolder<'a>, project: &str) -> Self {
        let is_declared = |(_, lock, section): &&(&str, &str, &str)| {
            package.has_above(lock) || has_header(project, section)
        };
        let managers: Vec<&str> = MANAGERS.iter().filter(is_declared).map(|it| it.0).collect();
        let installed = managers.iter().find(|it| package.has_program(it));
        let virtual_environment = || {
            [".venv", "venv"].into_iter().find_map(|folder| {
                let name = format!("{folder}/bin/python");
                let above = package.find_above(&name)?;
                let python = above.join(&name);
                Some(PythonEnvironmentKind::Virtual { shown: package.relative(&above, &name), python })
            })
        };
        let kind = installed
            .map(|it| PythonEnvironmentKind::Managed(it))
            .or_else(virtual_environment)
            .or_else(|| managers.first().map(|it| PythonEnvironmentKind::Managed(it)))
            .unwrap_or_else(|| {
                PythonEnvironmentKind::System(package.installed.program("python3", package.root))
            });
        Self { package, kind }
    }

    /// A check by a tool that is a Python module.
    fn check(&self, (name, file): (&'static str, &str), tool: &str, arguments: &str) -> FoundCheck {
        let arguments = if arguments.is_empty() { String::new() } else { format!(" {arguments}") };
        let module = |python: &str| format!("{python} -m {tool}{arguments}");
        let missing = |python: &str, place: &str| {
            let command = self.package.command(&format!("{python} -m pip install {tool}"));
            MissingTool {
                what: tr!("{tool} is not installed in {place}", tool, place),
                remedy: tr!("Run `{command}`.", command),
            }
        };
        let has = |python: &PathBuf| self.package.installed.has_module(python, tool);
        let (command, lack) = match &self.kind {
            PythonEnvironmentKind::Managed(manager) => {
                let lack = self.no_manager(manager).or_else(|| self.undeclared_tool(manager, tool));
                (format!("{manager} run {tool}{arguments}"), lack)
            }
            PythonEnvironmentKind::Virtual { shown, python } => {
                let place = shown.trim_end_matches("/bin/python");
                (module(shown), (!has(python)).then(|| missing(shown, place)))
            }
            PythonEnvironmentKind::System(Some(python)) if has(python) => (module("python3"), None),
            PythonEnvironmentKind::System(_) if self.package.has_program(tool) => {
                (format!("{tool}{arguments}"), None)
            }
            PythonEnvironmentKind::System(Some(_)) => {
                let remedy = self.venv(tool);
                let what = tr!("{tool} is not installed for python3", tool);
                (module("python3"), Some(MissingTool { what, remedy }))
            }
            PythonEnvironmentKind::System(None) => (module("python3"), Some(MissingTool::program("python3"))),
        };
        self.package.package_check((name, file), &command, lack)
    }

    /// Runs the tests under coverage.py; its report fails below the configured share.
    fn coverage(&self, file: &str) -> FoundCheck {
        let run = self.check((COVERAGE, file), "coverage", "run -m pytest -q");
        let second = run.command.rsplit(" && ").next().unwrap_or_default();
        let report = second.replace("run -m pytest -q", "report");
        let command = format!("{} && {report}", run.command);
        FoundCheck { command, ..run }
    }

    /// The system's own Python often refuses to install anything.
    fn venv(&self, tool: &str) -> String {
        let line = format!("python3 -m venv .venv && .venv/bin/python -m pip install {tool}");
        tr!(
            "Make a virtual environment with it: `{command}`, then replace python3 in the check by .venv/bin/python.",
            command = self.package.command(&line)
        )
    }

    fn unittest(&self, (file, arguments): UnittestTests) -> FoundCheck {
        let (python, lack) = match &self.kind {
            PythonEnvironmentKind::Managed(manager) => {
                (format!("{manager} run python"), self.no_manager(manager))
            }
            PythonEnvironmentKind::Virtual { shown, .. } => (shown.clone(), None),
            PythonEnvironmentKind::System(Some(_)) => ("python3".to_owned(), None),
            PythonEnvironmentKind::System(None) => {
                ("python3".to_owned(), Some(MissingTool::program("python3")))
            }
        };
        self.package.package_check((TESTS, file), &format!("{python} -m unittest{arguments}"), lack)
    }

    fn no_manager(&self, manager: &str) -> Option<MissingTool> {
        (!self.package.has_program(manager)).then(|| MissingTool::program(manager))
    }

    /// A tool that a lock file with packages does not contain; `uv run` and the like would start that of `PATH`.
    fn undeclared_tool(&self, manager: &str, tool: &str) -> Option<MissingTool> {
        let lock = MANAGERS.iter().find(|it| it.0 == manager).map(|it| it.1)?;
        let text = read_text(&self.package.find_above(lock)?.join(lock)).ok().flatten()?;
        let contains = |name: &str| text.lines().any(|it| it == format!("name = \"{name}\""));
        let is_missing = text.contains("[[package]]") && !contains(tool) && !self.package.has_program(tool);
        let add = match manager {
            "uv" => "uv add --dev",
            "poetry" => "poetry add --group dev",
            _ => "pdm add --dev",
        };
        is_missing.then(|| {
            let command = self.package.command(&format!("{add} {tool}"));
            MissingTool {
                what: tr!("{tool} is not installed in {place}", tool, place = lock),
                remedy: tr!("Run `{command}`.", command),
            }
        })
    }
}

/// Tests of unittest: their pattern, and the arguments that discover them.
type UnittestTests = (&'static str, &'static str);

/// Next to the code or in a package of tests `python -m unittest` discovers tests on its own; a folder of tests that is
/// no package has to be named.
fn unittest(package: &PackageFolder<'_>) -> Result<Option<UnittestTests>, ManifestError> {
    let arguments = if package.has("tests/__init__.py") { "" } else { " discover -s tests" };
    for (place, found) in [("", ("test*.py", "")), ("tests", ("tests/test*.py", arguments))] {
        let entries = std::fs::read_dir(package.path(place)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|it| it.strip_suffix(".py"));
            if stem.is_some_and(|it| it.starts_with("test"))
                && read_text(&entry.path())?.is_some_and(|it| it.contains("unittest"))
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}
