//! Detects iterations that did nothing but run tests, by their changes and commands, not by the message.

use super::status::WorkType;

/// The beginnings of commands that run tests; more words may follow.
const RUNNERS: &[&str] = &[
    "cargo test",
    "cargo nextest",
    "go test",
    "gotestsum",
    "npm test",
    "npm run test",
    "npm t",
    "yarn test",
    "yarn run test",
    "pnpm test",
    "pnpm run test",
    "bun test",
    "bun run test",
    "deno test",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "playwright test",
    "cypress run",
    "node --test",
    "npx jest",
    "npx vitest",
    "npx mocha",
    "npx playwright test",
    "pytest",
    "py.test",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "uv run pytest",
    "poetry run pytest",
    "pipenv run pytest",
    "tox",
    "nox",
    "mvn test",
    "mvn verify",
    "gradle test",
    "./gradlew test",
    "gradlew test",
    "bats",
    "shellspec",
    "make test",
    "make check",
    "just test",
    "mix test",
    "rspec",
    "bundle exec rspec",
    "rake test",
    "dotnet test",
    "ctest",
    "phpunit",
    "swift test",
];
const TEST_FOLDERS: &[&str] =
    &["test", "tests", "__tests__", "spec", "specs", "testdata", "__snapshots__", "__mocks__", "e2e"];

/// Whether only test files changed, if any, and a test command ran or the agent calls its work testing.
pub fn is_test_only(changed_files: &[String], commands: &[String], work_type: Option<&WorkType>) -> bool {
    let tested = commands.iter().any(|it| is_test_command(it)) || work_type == Some(&WorkType::Testing);
    tested && changed_files.iter().all(|it| is_test_file(it))
}

/// Recognises a test file by its name or folder, in Rust, JavaScript, TypeScript, Python, Go, Java and shell.
pub(super) fn is_test_file(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    let Some(name) = parts.pop() else { return false };
    parts.iter().any(|it| TEST_FOLDERS.contains(&it.to_lowercase().as_str())) || is_test_name(name)
}

fn is_test_name(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    match extension {
        "rs" => matches!(stem, "tests" | "test") || stem.ends_with("_test") || stem.ends_with("_tests"),
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
            matches!(stem.rsplit_once('.'), Some((_, "test" | "spec" | "cy")))
        }
        "snap" => true,
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "conftest" | "tests"),
        "go" => stem.ends_with("_test"),
        "java" | "kt" => {
            let upper_next = |rest: &str| rest.starts_with(char::is_uppercase);
            stem.strip_prefix("Test").is_some_and(upper_next)
                || ["Test", "Tests", "IT", "TestCase"].iter().any(|it| stem.ends_with(it) && stem != *it)
        }
        "bats" => true,
        "sh" | "bash" => {
            stem.starts_with("test_")
                || stem.starts_with("test-")
                || stem.ends_with("_test")
                || stem.ends_with("-test")
        }
        _ => false,
    }
}

fn is_test_command(command: &str) -> bool {
    command.split(['\n', ';', '|', '&']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().skip_while(|it| is_command_prefix(it)).collect();
        let plain = words.join(" ");
        RUNNERS.iter().any(|it| {
            plain.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
        })
    })
}

/// `CI=1` in front of a command, and wrappers that do not change what runs.
fn is_command_prefix(word: &str) -> bool {
    let names_variable = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    names_variable || matches!(word, "env" | "time" | "command" | "exec")
}
