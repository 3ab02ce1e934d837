//! Recognises the gates that nearly every project has (tests, types, linter, format, build, coverage) in prose and in
//! commands, in English and Chinese.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::shell::{self, SimpleCommand};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    Coverage,
    Tests,
    Types,
    Lint,
    Format,
    Build,
}

/// A command of the project that decides a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectCommand {
    pub gate: Gate,
    /// Runs in the root, by `sh -c`.
    pub command: String,
}

/// The words by which people name a gate in a criterion that is nothing but this gate.
static PROSE: LazyLock<Vec<(Gate, Option<Regex>)>> = LazyLock::new(|| {
    let words = [
        (Gate::Coverage, r"\bcoverage\b.{0,20}(\d|threshold|pass|target|met\b)|\d.{0,12}\bcoverage\b|覆盖率"),
        (
            Gate::Types,
            r"\btype[ -]?check(s|ing|er)?\b|\btypes? (check|pass|are valid)|\btsc\b|\bmypy\b|\bpyright\b|\bno type errors?\b|类型检查|类型错误",
        ),
        (
            Gate::Lint,
            r"\blint(s|er|ers|ing)?\b|\beslint\b|\bclippy\b|\bruff\b|\bbiome\b|\bflake8\b|\bpylint\b|\bgolangci|代码检查|静态检查",
        ),
        (
            Gate::Format,
            r"\bformatt(ed|ing|er)\b|\bprettier\b|\brustfmt\b|\bgofmt\b|\bcargo fmt\b|格式化|格式检查",
        ),
        (
            Gate::Tests,
            r"\b(all|the|unit|integration|existing|new|e2e|every|test suite|both|npm)?\s*tests?( suites?| cases?)?\b.{0,30}\b(pass(es|ed|ing)?|green|succeeds?|ok)\b|\btest suite\b|(测试|单测|用例).{0,8}(通过|成功|全绿)|(通过|跑通).{0,6}(测试|单测|用例)",
        ),
        (
            Gate::Build,
            r"\bbuilds? (passes|succeeds|is green|completes|works)|\b(project|code|it|app|crate|package) (builds|compiles)\b|\bcompil(es|ation)\b|\bbuild (successfully|without)|(构建|编译).{0,6}(成功|通过)",
        ),
    ];
    words.into_iter().map(|(gate, pattern)| (gate, Regex::new(&format!("(?i){pattern}")).ok())).collect()
});

/// The gate that a criterion's prose names; `None` if it is about something else.
pub(crate) fn gate_of_prose(prose: &str) -> Option<Gate> {
    // A longer sentence states more than the gate, so the gate is not a sufficient check for it.
    const MAX_CHARS: usize = 90;
    if prose.chars().count() > MAX_CHARS {
        return None;
    }
    let named = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(prose));
    PROSE.iter().find(|(_, pattern)| named(pattern)).map(|(gate, _)| *gate)
}

/// The gates that a command decides.
pub(crate) fn gates_of_command(command: &str) -> Vec<Gate> {
    let mut gates: Vec<Gate> = shell::segments(command).iter().filter_map(gate_of_segment).collect();
    if command.contains("--cov") || command.contains("coverage") || command.contains("llvm-cov") {
        gates.push(Gate::Coverage);
    }
    gates.sort_unstable();
    gates.dedup();
    gates
}

/// Whether a command compiles a language with static types, such as `cargo test` and `go vet`.
pub(crate) fn compiles(command: &str) -> bool {
    const BUILD_TOOLS: [&str; 13] = [
        "cargo",
        "go",
        "gotestsum",
        "mvn",
        "mvnw",
        "gradle",
        "gradlew",
        "dotnet",
        "swift",
        "zig",
        "sbt",
        "stack",
        "cabal",
    ];
    const COMPILERS: [&str; 9] =
        ["rustc", "javac", "kotlinc", "scalac", "ghc", "gcc", "g++", "clang", "clang++"];
    shell::segments(command).iter().any(|segment| {
        let program = segment.program().unwrap_or_default();
        COMPILERS.contains(&program)
            || BUILD_TOOLS.contains(&program)
                && (program == "gotestsum" || gate_of_segment(segment).is_some_and(|it| it != Gate::Format))
    })
}

fn gate_of_segment(segment: &SimpleCommand<'_>) -> Option<Gate> {
    let words = segment.program_words();
    let program = segment.program()?;
    let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let has = |word: &str| rest.contains(&word);
    let first = rest.iter().find(|it| !it.starts_with(['-', '+'])).copied().unwrap_or_default();
    let gate = match program {
        "pytest" | "py.test" | "jest" | "vitest" | "mocha" | "ava" | "tap" | "rspec" | "phpunit"
        | "ctest" | "nextest" | "tox" | "nox" | "bats" | "busted" | "playwright" | "cypress"
        | "gotestsum" => Gate::Tests,
        "tsc" | "vue-tsc" | "mypy" | "pyright" | "basedpyright" | "pyre" | "ty" | "svelte-check" | "flow" => {
            Gate::Types
        }
        "biome" if has("format") => Gate::Format,
        "ruff" if first == "format" => Gate::Format,
        "eslint" | "biome" | "ruff" | "flake8" | "pylint" | "golangci-lint" | "rubocop" | "shellcheck"
        | "stylelint" | "luacheck" | "clippy-driver" | "staticcheck" | "ktlint" | "oxlint" | "standard"
        | "markdownlint" | "markdownlint-cli2" | "vale" => Gate::Lint,
        "prettier" | "black" | "rustfmt" | "gofmt" | "stylua" | "isort" | "dprint" | "clang-format" => {
            Gate::Format
        }
        "python" | "python3" | "py" => return gate_of_python_module(&rest),
        "node" if has("--test") => Gate::Tests,
        "cargo" | "go" | "make" | "gmake" | "just" | "task" | "npm" | "pnpm" | "yarn" | "bun" | "deno"
        | "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" | "mix" | "rake" | "bundle" | "composer"
        | "swift" | "zig" | "sbt" => {
            return rest.iter().find_map(|it| gate_of_target(it));
        }
        _ => return None,
    };
    Some(gate)
}

fn gate_of_python_module(rest: &[&str]) -> Option<Gate> {
    let module = rest.iter().position(|it| *it == "-m").and_then(|at| rest.get(at + 1))?;
    match *module {
        "pytest" | "unittest" | "doctest" | "nose2" => Some(Gate::Tests),
        "mypy" | "pyright" => Some(Gate::Types),
        "ruff" | "flake8" | "pylint" => Some(Gate::Lint),
        "black" | "isort" => Some(Gate::Format),
        _ => None,
    }
}

/// `test` of `npm test`, `typecheck` of `npm run typecheck`, `clippy` of `cargo clippy`.
fn gate_of_target(target: &str) -> Option<Gate> {
    let name = target.trim_start_matches(':').to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|it| name.starts_with(it));
    if begins(&["typecheck", "type-check", "types", "check-types", "tsc", "mypy"]) {
        Some(Gate::Types)
    } else if begins(&["test", "nextest", "spec", "e2e", "unit", "jest", "vitest"]) || name == "verify" {
        Some(Gate::Tests)
    } else if begins(&["lint", "eslint", "clippy", "vet", "check:lint", "ruff"]) {
        Some(Gate::Lint)
    } else if begins(&["fmt", "format", "prettier"]) {
        Some(Gate::Format)
    } else if begins(&["build", "compile"]) || name == "check" {
        Some(Gate::Build)
    } else {
        None
    }
}

/// The project's own command for a gate.
pub(crate) fn command_for(gate: Gate, project: &[ProjectCommand]) -> Option<&ProjectCommand> {
    project.iter().find(|it| it.gate == gate)
}

#[cfg(test)]
mod tests {
    use super::{Gate, gate_of_prose, gates_of_command};

    #[test]
    fn gates_are_recognised_in_prose() {
        let rows = [
            ("Typecheck passes", Some(Gate::Types)),
            ("typecheck/lint passes", Some(Gate::Types)),
            ("TypeScript compiles with no type errors", Some(Gate::Types)),
            ("All tests pass", Some(Gate::Tests)),
            ("Tests are green", Some(Gate::Tests)),
            ("tests pass (coverage > 80 %)", Some(Gate::Coverage)),
            ("npm run lint is clean", Some(Gate::Lint)),
            ("Clippy has no warnings", Some(Gate::Lint)),
            ("The build succeeds", Some(Gate::Build)),
            ("Code is formatted", Some(Gate::Format)),
            ("测试全部通过", Some(Gate::Tests)),
            ("通过所有单元测试", Some(Gate::Tests)),
            ("覆盖率达标", Some(Gate::Coverage)),
            ("类型检查通过", Some(Gate::Types)),
            ("编译成功", Some(Gate::Build)),
            ("Users can sort by date", None),
            ("The footer shows the version", None),
            ("Dates parse", None),
        ];
        for (prose, gate) in rows {
            assert_eq!(gate_of_prose(prose), gate, "{prose}");
        }
    }

    #[test]
    fn commands_that_check_types_by_compiling_are_known() {
        for command in [
            "cargo test",
            "cargo nextest run -p a",
            "cargo clippy -- -D warnings",
            "cd a && go test ./...",
            "go vet ./...",
            "./mvnw -q verify",
            "./gradlew test",
            "dotnet test",
            "swift build",
            "g++ -fsyntax-only a.cc",
        ] {
            assert!(super::compiles(command), "{command}");
        }
        for command in [
            "cargo fmt --check",
            "gofmt -l .",
            "npm test",
            "pytest",
            "make test",
            "go generate",
            "ruff check .",
        ] {
            assert!(!super::compiles(command), "{command}");
        }
    }

    #[test]
    fn gates_are_recognised_in_commands() {
        let rows: [(&str, &[Gate]); 17] = [
            ("cargo test --workspace", &[Gate::Tests]),
            ("cargo clippy --all-targets -- -D warnings", &[Gate::Lint]),
            ("npm test", &[Gate::Tests]),
            ("npm run typecheck && npm run lint", &[Gate::Types, Gate::Lint]),
            ("npx tsc --noEmit", &[Gate::Types]),
            ("npx --no-install tsc --noEmit", &[Gate::Types]),
            ("cd api && uv run pytest -q --cov=app", &[Gate::Coverage, Gate::Tests]),
            ("python3 -m unittest discover", &[Gate::Tests]),
            ("CI=1 pnpm exec vitest run", &[Gate::Tests]),
            ("go vet ./...", &[Gate::Lint]),
            ("go build ./...", &[Gate::Build]),
            ("./gradlew :app:test", &[]),
            ("./gradlew test", &[Gate::Tests]),
            ("ruff format --check .", &[Gate::Format]),
            ("ruff check .", &[Gate::Lint]),
            ("make check", &[Gate::Build]),
            ("./receipt.sh --help", &[]),
        ];
        for (command, gates) in rows {
            assert_eq!(gates_of_command(command), gates, "{command}");
        }
    }
}
