//! Linters, type checkers, formatters and coverage tools: the files that configure them, and the directives in sources
//! that suppress their findings. Only tools that a check runs count.

use std::collections::{BTreeSet, HashSet};

use super::{FileVersions, file_name};

/// A tool that judges sources, as far as its verdict depends on files of the work tree.
pub(super) struct Linter {
    /// Words of a command line that run it.
    names: &'static [&'static str],
    /// Files that configure it; a name that ends with a dot stands for any extension.
    setup: &'static [&'static str],
    /// It also works without any of these: the first one replaces its defaults.
    has_defaults: bool,
    /// Extensions of the sources with its directives.
    extensions: &'static [&'static str],
    /// Directives, in lower case and without spaces.
    directives: &'static [&'static str],
}

const PYTHON: &[&str] = &["py", "pyi"];
const SCRIPT: &[&str] = &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "astro"];
const C: &[&str] = &["c", "h", "cc", "cpp", "cxx", "hpp", "m", "mm"];

/// Not a suppression: an import without type information, which the code cannot correct; an environment; a stricter
/// mode.
const EXEMPT_DIRECTIVES: [&str; 3] = ["type:ignore[import", "/*eslint-env", "#mypy:strict"];

#[rustfmt::skip]
const LINTERS: &[Linter] = &[
    linter(&["ruff"], &["ruff.toml", ".ruff.toml"], PYTHON, &["#noqa", ":noqa", "#ruff:"]),
    linter(&["flake8", "pycodestyle", "pyflakes"], &[".flake8"], PYTHON, &["#noqa", ":noqa"]),
    linter(&["pylint"], &[".pylintrc", "pylintrc", ".pylintrc.toml", "pylintrc.toml"], PYTHON, &["#pylint:disable", "#pylint:skip"]),
    linter(&["mypy", "dmypy"], &["mypy.ini", ".mypy.ini"], PYTHON, &["#type:ignore", "#mypy:", "@no_type_check", "@typing.no_type_check", "ifnottype_checking"]),
    linter(&["pyright", "basedpyright"], &["pyrightconfig.json"], PYTHON, &["#pyright:", "#type:ignore", "@no_type_check", "ifnottype_checking"]),
    linter(&["ty"], &["ty.toml"], PYTHON, &["#ty:ignore", "#type:ignore"]),
    linter(&["black"], &[], PYTHON, &["#fmt:off", "#fmt:skip"]),
    linter(&["isort"], &[".isort.cfg"], PYTHON, &["isort:skip", "isort:off"]),
    linter(&["bandit"], &[".bandit", "bandit.yaml"], PYTHON, &["#nosec"]),
    linter(&["coverage", "--cov"], &[], PYTHON, &["#pragma:nocover"]),
    needs_setup(&["eslint"], &[".eslintrc", ".eslintrc.", "eslint.config.", ".eslintignore"], SCRIPT, &["eslint-disable", "/*eslint"]),
    needs_setup(&["tsc", "vue-tsc", "svelte-check"], &[], SCRIPT, &["@ts-ignore", "@ts-expect-error", "@ts-nocheck"]),
    linter(&["biome"], &["biome.json", "biome.jsonc"], SCRIPT, &["biome-ignore"]),
    linter(&["oxlint"], &[".oxlintrc.json"], SCRIPT, &["oxlint-disable", "eslint-disable"]),
    linter(&["prettier"], &[".prettierrc", ".prettierrc.", "prettier.config.", ".prettierignore"], SCRIPT, &["prettier-ignore"]),
    linter(&["deno"], &[], SCRIPT, &["deno-lint-ignore", "deno-fmt-ignore", "@ts-ignore", "@ts-expect-error", "@ts-nocheck"]),
    linter(&["nyc", "c8", "--coverage"], &[".nycrc", ".nycrc.", ".c8rc."], SCRIPT, &["istanbulignore", "c8ignore", "v8ignore", "node:coveragedisable"]),
    linter(&["standard", "xo", "tslint"], &["tslint.json"], SCRIPT, &["eslint-disable", "tslint:disable"]),
    linter(&["stylelint"], &[".stylelintrc", ".stylelintrc.", "stylelint.config.", ".stylelintignore"], &["css", "scss", "less", "vue"], &["stylelint-disable"]),
    linter(&["clippy"], &["clippy.toml", ".clippy.toml"], &["rs"], &["[allow(", ",allow(", "[expect(", "not(clippy)"]),
    linter(&["fmt", "rustfmt"], &["rustfmt.toml", ".rustfmt.toml"], &["rs"], &["rustfmt::skip", "rustfmt_skip"]),
    linter(&["llvm-cov", "tarpaulin"], &["tarpaulin.toml"], &["rs"], &["coverage(off)", "no_coverage", "cfg(not(tarpaulin"]),
    linter(&["golangci-lint", "staticcheck", "revive"], &[".golangci."], &["go"], &["//nolint", "//lint:ignore", "//lint:file-ignore", "//revive:disable", "//go:buildignore", "//+buildignore"]),
    linter(&["vet"], &[], &["go"], &["//go:buildignore", "//+buildignore"]),
    linter(&["shellcheck"], &[".shellcheckrc"], &["sh", "bash", ""], &["#shellcheckdisable"]),
    linter(&["hadolint"], &[".hadolint.yaml", ".hadolint.yml"], &["", "dockerfile"], &["hadolintignore"]),
    linter(&["rubocop"], &[".rubocop.yml", ".rubocop_todo.yml"], &["rb"], &["rubocop:disable", "rubocop:todo"]),
    linter(&["phpstan", "psalm", "phpcs"], &["phpstan.", "psalm.xml", "phpcs.xml", ".phpcs.xml"], &["php"], &["@phpstan-ignore", "@psalm-suppress", "phpcs:ignore", "phpcs:disable"]),
    linter(&["checkstyle", "pmd", "spotbugs", "checkstyle:check", "pmd:check", "spotbugs:check"], &["checkstyle.xml", "pmd.xml"], &["java"], &["@suppresswarnings", "//nopmd", "checkstyle:off"]),
    linter(&["detekt", "ktlint", "ktlintcheck"], &["detekt.yml"], &["kt", "kts"], &["@suppress(", "@file:suppress("]),
    linter(&["swiftlint"], &[".swiftlint.yml"], &["swift"], &["swiftlint:disable"]),
    linter(&["clang-tidy", "cppcheck"], &[".clang-tidy"], C, &["//nolint", "cppcheck-suppress"]),
    linter(&["clang-format"], &[".clang-format", ".clang-format-ignore"], C, &["clang-formatoff"]),
    linter(&["luacheck"], &[".luacheckrc"], &["lua"], &["luacheck:ignore"]),
    linter(&["stylua"], &["stylua.toml", ".stylua.toml", ".styluaignore"], &["lua"], &["stylua:ignore"]),
    linter(&["markdownlint", "markdownlint-cli2"], &[".markdownlint.", ".markdownlint-cli2.", ".markdownlintignore"], &["md"], &["markdownlint-disable"]),
    linter(&["yamllint"], &[".yamllint", ".yamllint.yml", ".yamllint.yaml"], &["yml", "yaml"], &["yamllintdisable"]),
    linter(&["sqlfluff"], &[".sqlfluff", ".sqlfluffignore"], &["sql"], &["--noqa"]),
    linter(&["semgrep"], &[".semgrepignore"], SCRIPT, &["nosemgrep"]),
    linter(&["semgrep"], &[], PYTHON, &["nosemgrep"]),
    linter(&["gitleaks"], &[".gitleaks.toml", ".gitleaksignore"], SCRIPT, &["gitleaks:allow"]),
    linter(&["gitleaks"], &[], PYTHON, &["gitleaks:allow"]),
    linter(&["typos"], &["typos.toml", "_typos.toml", ".typos.toml"], &[], &[]),
    linter(&["codespell"], &[".codespellrc"], &[], &[]),
    linter(&["vale"], &[".vale.ini"], &[], &[]),
    linter(&["knip"], &["knip.", ".knip."], &[], &[]),
    linter(&["deny", "cargo-deny"], &["deny.toml", ".deny.toml"], &[], &[]),
    linter(&["audit", "cargo-audit"], &["audit.toml"], &[], &[]),
    linter(&["ansible-lint"], &[".ansible-lint", ".ansible-lint-ignore"], &["yml", "yaml"], &["#noqa"]),
    linter(&["tflint"], &[".tflint.hcl"], &["tf"], &["tflint-ignore"]),
    linter(&["credo"], &[".credo.exs"], &["ex", "exs"], &["#credo:disable"]),
    linter(&["dialyzer", "dialyxir"], &[".dialyzer_ignore.exs"], &["ex", "exs"], &["@dialyzer"]),
    linter(&["analyze"], &["analysis_options.yaml"], &["dart"], &["//ignore:", "//ignore_for_file:"]),
    linter(&["hlint"], &[".hlint.yaml"], &["hs"], &["hlint:ignore", "{-#annmodule\"hlint"]),
    linter(&["perlcritic"], &[".perlcriticrc"], &["pl", "pm", "t"], &["##nocritic"]),
    linter(&["lintr"], &[".lintr"], &["r"], &["#nolint"]),
    linter(&["cspell"], &["cspell.", ".cspell.", "cspell.config."], SCRIPT, &["cspell:disable", "cspell:ignore"]),
    linter(&["solhint"], &[".solhint.json", ".solhintignore"], &["sol"], &["solhint-disable"]),
    needs_setup(&["pre-commit", "prek"], &[".pre-commit-config."], &[], &[]),
    needs_setup(&["lefthook"], &["lefthook.", ".lefthook."], &[], &[]),
    needs_setup(&["trunk"], &["trunk.yaml"], &[], &[]),
    needs_setup(&["lint-staged"], &[".lintstagedrc", ".lintstagedrc.", "lint-staged.config."], &[], &[]),
];

const fn linter(
    names: &'static [&'static str],
    setup: &'static [&'static str],
    extensions: &'static [&'static str],
    directives: &'static [&'static str],
) -> Linter {
    Linter { names, setup, has_defaults: true, extensions, directives }
}

const fn needs_setup(
    names: &'static [&'static str],
    setup: &'static [&'static str],
    extensions: &'static [&'static str],
    directives: &'static [&'static str],
) -> Linter {
    Linter { names, setup, has_defaults: false, extensions, directives }
}

const SETUP_EXTENSIONS: &[&str] =
    &["js", "mjs", "cjs", "ts", "mts", "cts", "json", "jsonc", "yml", "yaml", "toml", "neon", "xml"];

/// Linters that do not read what git ignores.
const OBEYS_GITIGNORE: &[&str] = &["ruff", "black", "prettier", "biome", "oxlint"];

/// Programs that run others which their configuration names.
const RUNS_OTHERS: &[&str] =
    &["pre-commit", "prek", "tox", "nox", "trunk", "lefthook", "mega-linter", "super-linter", "check-all"];

/// The linters that the checks run, from the words of their command lines.
pub(super) struct CheckLinters(Vec<&'static Linter>);

impl CheckLinters {
    pub(super) fn of_words(words: &BTreeSet<String>) -> Self {
        let has = |name: &str| {
            words.contains(name)
                || (name.starts_with("--") && words.iter().any(|it| it.split('=').next() == Some(name)))
        };
        let runs_all = RUNS_OTHERS.iter().any(|it| words.contains(*it));
        let is_run = |it: &&Linter| runs_all || it.names.iter().any(|name| has(name));
        Self(LINTERS.iter().filter(is_run).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the files that configure them.
    pub(super) fn setup_names(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|it| it.setup);
        let names = |name: &&str| match name.strip_suffix('.') {
            Some(stem) => SETUP_EXTENSIONS.iter().map(|it| format!("{stem}.{it}")).collect(),
            None => vec![(*name).to_owned()],
        };
        all.flat_map(names).collect()
    }

    /// Whether the file configures one of them.
    pub(super) fn is_setup(&self, path: &str) -> bool {
        self.0.iter().any(|it| it.is_setup(path))
    }

    /// Whether the file, if it is new, replaces the defaults or the earlier configuration of one of them.
    pub(super) fn replaces_setup(&self, path: &str, files: &dyn FileVersions) -> bool {
        let replaces = |it: &&Linter| it.is_setup(path) && (it.has_defaults || it.had_setup(path, files));
        self.0.iter().copied().any(|it| replaces(&it))
    }

    /// Whether the file makes git ignore sources that one of them therefore does not read.
    pub(super) fn ignores_sources(&self, path: &str, files: &dyn FileVersions) -> bool {
        if ![".gitignore", ".ignore"].contains(&file_name(path)) {
            return false;
        }
        let obeys = |it: &&Linter| OBEYS_GITIGNORE.iter().any(|name| it.names.contains(name));
        let linters: Vec<&Linter> = self.0.iter().copied().filter(obeys).collect();
        if linters.is_empty() {
            return false;
        }
        let (before, after) =
            (files.read_before(path).unwrap_or_default(), files.read_after(path).unwrap_or_default());
        let known: HashSet<&str> = before.lines().collect();
        let names_source = |line: &str| {
            let extension = extension(line.trim());
            !extension.is_empty() && linters.iter().any(|it| it.extensions.contains(&extension.as_str()))
        };
        let is_new = |line: &&str| !line.starts_with(['#', '!']) && !known.contains(line);
        after.lines().filter(is_new).any(names_source)
    }

    /// Whether one of them checks types of TypeScript.
    pub(super) fn checks_typescript(&self) -> bool {
        self.0.iter().any(|it| it.names.contains(&"tsc"))
    }

    /// Whether one of them checks types of Python.
    pub(super) fn checks_python_types(&self) -> bool {
        self.0.iter().any(|it| ["mypy", "pyright", "ty"].iter().any(|name| it.names.contains(name)))
    }

    /// Whether one of them checks packages of Go.
    pub(super) fn checks_go(&self) -> bool {
        self.0.iter().any(|it| it.extensions.contains(&"go"))
    }

    /// The directives in a source, in order: the name of the linter, the normalised line and its number.
    pub(super) fn directives(&self, path: &str, text: &str) -> Vec<Directive> {
        let extension = extension(path);
        let linters: Vec<&Linter> =
            self.0.iter().copied().filter(|it| it.extensions.contains(&extension.as_str())).collect();
        if linters.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line: String =
                line.chars().filter(|it| !it.is_whitespace()).flat_map(char::to_lowercase).collect();
            let suppresses = |it: &&Linter| it.directives.iter().any(|directive| line.contains(directive));
            let Some(linter) = linters.iter().find(|it| suppresses(it)) else { continue };
            let is_reexport = file_name(path) == "__init__.py" && line.contains("noqa:f401");
            if !is_reexport && !EXEMPT_DIRECTIVES.iter().any(|it| line.contains(it)) {
                found.push(Directive { linter: linter.name(), line, number: index + 1 });
            }
        }
        found
    }
}

/// A directive that suppresses findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) linter: &'static str,
    /// The line, in lower case and without spaces.
    pub(super) line: String,
    /// From 1.
    pub(super) number: usize,
}

impl Linter {
    fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Whether it was configured at the start in the folder of `path` or above.
    fn had_setup(&self, path: &str, files: &dyn FileVersions) -> bool {
        let folders = path.rmatch_indices('/').filter_map(|(at, _)| path.get(..=at)).chain([""]);
        let exists = |name: String| files.existed_before(&name);
        folders.into_iter().any(|folder| {
            self.setup.iter().any(|name| match name.strip_suffix('.') {
                Some(stem) => {
                    SETUP_EXTENSIONS.iter().any(|extension| exists(format!("{folder}{stem}.{extension}")))
                }
                None => exists(format!("{folder}{name}")),
            })
        })
    }

    fn is_setup(&self, path: &str) -> bool {
        let name = file_name(path);
        self.setup.iter().any(|it| if it.ends_with('.') { name.starts_with(it) } else { name == *it })
    }
}

/// Whether a source at this path can hold a directive of any linter.
pub(super) fn may_have_directives(path: &str) -> bool {
    let extension = extension(path);
    LINTERS.iter().any(|it| it.extensions.contains(&extension.as_str()))
}

/// Whether the directives of any linter differ between the versions of a source.
pub(super) fn differ_in_directives(path: &str, files: &dyn FileVersions) -> bool {
    let all = CheckLinters(LINTERS.iter().collect());
    let lines = |text: Option<String>| -> Vec<String> {
        let directives = text.map_or_else(Vec::new, |it| all.directives(path, &it));
        directives.into_iter().map(|it| it.line).collect()
    };
    lines(files.read_before(path)) != lines(files.read_after(path))
}

/// In lower case; empty without one.
fn extension(path: &str) -> String {
    file_name(path).rsplit_once('.').map_or(String::new(), |(_, it)| it.to_lowercase())
}
