//! Python: which tool manages the environment, and which test runner, linter and type checker the project configures.

use std::path::PathBuf;

use super::package::PackageFolder;
use super::{FoundCheck, LINT, ManifestError, MissingTool, ProposedChecks, TESTS, TYPES, has_header};
use loopkeeper_system::config_text::read_text;

/// Tools that create the environment themselves, with the lock file and the section that select them.
const MANAGERS: [(&str, &str, &str); 4] = [
    ("uv", "uv.lock", "[tool.uv"),
    ("poetry", "poetry.lock", "[tool.poetry"),
    ("pdm", "pdm.lock", "[tool.pdm"),
    ("hatch", "hatch.toml", "[tool.hatch.envs"),
];

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
    if let Some((file, _)) = signs.into_iter().find(|(_, there)| *there) {
        checks.add(environment.check((TESTS, file), "pytest", "-q"));
    } else if let Some(tests) = unittest(package)? {
        checks.add(environment.unittest(tests));
    }
    let ruff = if has_header(&project, "[tool.ruff") {
        Some("pyproject.toml")
    } else {
        ["ruff.toml", ".ruff.toml"].into_iter().find(|it| package.has(it))
    };
    if let Some(file) = ruff {
        checks.add(environment.check((LINT, file), "ruff", "check ."));
    }
    if has_header(&project, "[tool.mypy") {
        checks.add(environment.check((TYPES, "pyproject.toml"), "mypy", "."));
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
        let said = |(_, lock, section): &&(&str, &str, &str)| {
            package.has_above(lock) || has_header(project, section)
        };
        let managers: Vec<&str> = MANAGERS.iter().filter(said).map(|it| it.0).collect();
        let installed = managers.iter().find(|it| package.has_program(it));
        let virtual_environment = || {
            [".venv", "venv"].into_iter().find_map(|folder| {
                let name = format!("{folder}/bin/python");
                let above = package.above(&name)?;
                let python = above.join(&name);
                Some(PythonEnvironmentKind::Virtual { shown: package.relative(&above, &name), python })
            })
        };
        let kind = installed
            .map(|it| PythonEnvironmentKind::Managed(it))
            .or_else(virtual_environment)
            .or_else(|| managers.first().map(|it| PythonEnvironmentKind::Managed(it)))
            .unwrap_or_else(|| {
                PythonEnvironmentKind::System(package.machine.program("python3", package.root))
            });
        Self { package, kind }
    }

    /// A check by a tool that is a Python module.
    fn check(&self, (name, file): (&'static str, &str), tool: &str, arguments: &str) -> FoundCheck {
        let module = |python: &str| format!("{python} -m {tool} {arguments}");
        let missing = |python: &str, place: &str| MissingTool {
            what: format!("{tool} is not installed {place}"),
            remedy: format!("Run `{}`.", self.package.command(&format!("{python} -m pip install {tool}"))),
        };
        let has = |python: &PathBuf| self.package.machine.has_module(python, tool);
        let (command, lack) = match &self.kind {
            PythonEnvironmentKind::Managed(manager) => {
                (format!("{manager} run {tool} {arguments}"), self.no_manager(manager))
            }
            PythonEnvironmentKind::Virtual { shown, python } => {
                let place = format!("in {}", shown.trim_end_matches("/bin/python"));
                (module(shown), (!has(python)).then(|| missing(shown, &place)))
            }
            PythonEnvironmentKind::System(Some(python)) if has(python) => (module("python3"), None),
            PythonEnvironmentKind::System(_) if self.package.has_program(tool) => {
                (format!("{tool} {arguments}"), None)
            }
            PythonEnvironmentKind::System(Some(_)) => {
                let remedy = format!("Make a virtual environment with it: {}.", self.venv(tool));
                let what = format!("{tool} is not installed for python3");
                (module("python3"), Some(MissingTool { what, remedy }))
            }
            PythonEnvironmentKind::System(None) => (module("python3"), Some(MissingTool::program("python3"))),
        };
        FoundCheck { name, command: self.package.command(&command), file: self.package.shown(file), lack }
    }

    /// The system's own Python often refuses to install anything.
    fn venv(&self, tool: &str) -> String {
        let line = format!("python3 -m venv .venv && .venv/bin/python -m pip install {tool}");
        format!("`{}`, then replace python3 in the check by .venv/bin/python", self.package.command(&line))
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
        let command = self.package.command(&format!("{python} -m unittest{arguments}"));
        FoundCheck { name: TESTS, command, file: self.package.shown(file), lack }
    }

    fn no_manager(&self, manager: &str) -> Option<MissingTool> {
        (!self.package.has_program(manager)).then(|| MissingTool::program(manager))
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
