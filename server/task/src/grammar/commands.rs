//! Detects inline code that appears to be a command without the `$ ` mark. Prefers false negatives: a false positive is
//! a warning on innocent prose.

/// `cargo test`, `FOO=1 npm run lint`, `./check.sh --all`.
pub(crate) fn looks_like_command(code: &str) -> bool {
    let mut words = code.split_whitespace().skip_while(|word| is_assignment(word));
    let (Some(program), Some(argument)) = (words.next(), words.next()) else { return false };
    if program.starts_with("./") && program.len() > 2 {
        return true;
    }
    PROGRAMS.contains(&program) && !is_version(argument)
}

/// A program whose name alone is a complete check, if the preceding text indicates that it is run.
pub(super) fn is_lone_runner(code: &str, before: impl FnOnce() -> String) -> bool {
    const RUN: &[&str] = &["run", "runs", "running", "under", "via", "with", "execute"];
    if !LONE_RUNNERS.contains(&code) {
        return false;
    }
    let before = before();
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with([':', '：', '(', '（'])
        || before.rsplit(' ').next().is_some_and(|word| RUN.contains(&word.to_lowercase().as_str()))
}

/// A program whose name alone is a complete check.
pub(super) fn is_runner(code: &str) -> bool {
    LONE_RUNNERS.contains(&code)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
    })
}

/// `node 18` and `python 3.12+` name a version.
fn is_version(word: &str) -> bool {
    let digits = word.trim_start_matches(['v', '>', '=', '~', '^']);
    digits.starts_with(|char: char| char.is_ascii_digit())
        && digits.chars().all(|char| char.is_ascii_digit() || ".+x".contains(char))
}

const LONE_RUNNERS: &[&str] = &[
    "ctest",
    "eslint",
    "golangci-lint",
    "jest",
    "make",
    "mocha",
    "mypy",
    "nox",
    "phpunit",
    "pyright",
    "pytest",
    "rspec",
    "rubocop",
    "tox",
    "tsc",
    "vitest",
];

const PROGRAMS: &[&str] = &[
    "ava",
    "bash",
    "bats",
    "bazel",
    "biome",
    "black",
    "bun",
    "bundle",
    "bunx",
    "cabal",
    "cargo",
    "clang",
    "clippy",
    "cmake",
    "composer",
    "coverage",
    "ctest",
    "curl",
    "cypress",
    "dart",
    "deno",
    "diff",
    "docker",
    "docker-compose",
    "dotnet",
    "eslint",
    "flake8",
    "flutter",
    "gcc",
    "git",
    "go",
    "golangci-lint",
    "gradle",
    "grep",
    "hadolint",
    "helm",
    "jest",
    "jq",
    "julia",
    "just",
    "kubectl",
    "lein",
    "ls",
    "make",
    "meson",
    "mix",
    "mocha",
    "mvn",
    "mypy",
    "ninja",
    "nix",
    "node",
    "nox",
    "npm",
    "npx",
    "nx",
    "perl",
    "php",
    "phpunit",
    "pip",
    "playwright",
    "pnpm",
    "poetry",
    "pre-commit",
    "prettier",
    "psql",
    "pylint",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rake",
    "rg",
    "rspec",
    "rubocop",
    "ruby",
    "ruff",
    "sbt",
    "sh",
    "shellcheck",
    "sqlite3",
    "stylelint",
    "swift",
    "terraform",
    "test",
    "tox",
    "tsc",
    "turbo",
    "uv",
    "vitest",
    "yarn",
    "zig",
];
