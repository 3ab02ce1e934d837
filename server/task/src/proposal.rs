//! Proposes a criterion that fails until new work is done, for a task in which nothing fails, with the tools that its
//! checks use.

use loopkeeper_text::language::{in_language_of, is_chinese};
use loopkeeper_text::tr_later;

use crate::criterion::{Check, Criterion};

/// Title words without information about the work.
const FILLERS: &[&str] = &[
    "a", "an", "the", "to", "of", "for", "and", "or", "with", "that", "this", "it", "its", "in", "on",
    "should", "must", "please", "make", "makes", "let", "lets", "ensure", "sure", "so", "we", "is", "be",
    "as", "into", "from", "md", "prompt", "task", "ralph",
];
const MAX_WORDS: usize = 3;
/// Words with which a sentence asks for work. A page about the result does not contain them: `add` of "add a flag".
const REQUESTS: &[&str] = &[
    "accept",
    "add",
    "adds",
    "allow",
    "build",
    "can",
    "change",
    "create",
    "extend",
    "fix",
    "handle",
    "implement",
    "improve",
    "introduce",
    "provide",
    "return",
    "returns",
    "show",
    "support",
    "update",
    "write",
];

/// One list item, without its bullet.
pub fn propose_criterion(title: &str, criteria: &[Criterion]) -> String {
    let words = test_name_words(title);
    let name = words.join("_");
    let commands: Vec<&str> = criteria.iter().filter_map(command).collect();
    let is_program = |word: &str, name: &str| word.rsplit('/').next() == Some(name);
    let runs =
        |name: &str| commands.iter().any(|it| it.split_whitespace().any(|word| is_program(word, name)));
    let prefix_to = |word: &str| commands.iter().find_map(|it| command_prefix(it, word));
    let check = if let Some(start) = prefix_to("pytest").or_else(|| prefix_to("unittest")) {
        format!("$ {start} tests/test_{name}.py")
    } else if let Some(start) = prefix_to("cargo nextest run").or_else(|| prefix_to("cargo test")) {
        format!("$ {start} {name}")
    } else if prefix_to("go test").is_some() {
        format!("has \"func Test{}\" **/*_test.go", camel_case(&words))
    } else if prefix_to("rspec").is_some() {
        format!("exists spec/{name}_spec.rb")
    } else if ["mvn", "mvnw", "gradle", "gradlew", "sbt"].iter().any(|it| runs(it)) {
        format!("exists **/{}Test.*", camel_case(&words))
    } else if runs("dotnet") || runs("swift") {
        format!("exists **/{}Tests.*", camel_case(&words))
    } else if runs("phpunit") {
        format!("exists tests/**/{}Test.php", camel_case(&words))
    } else if runs("mix") {
        format!("exists test/**/{name}_test.exs")
    } else if commands.iter().any(|it| runs_node(it)) {
        format!("exists **/{}.test.*", words.join("-"))
    } else {
        format!("$ sh tests/{name}.sh")
    };
    list_item(title, tr_later!("It has tests"), &format!("`{check}`"))
}

/// An item of a list in the language of `author`: `All tests pass: CHECK`.
pub(crate) fn list_item(author: &str, english: &str, check: &str) -> String {
    let colon = if is_chinese(author) { "：" } else { ": " };
    format!("{}{colon}{check}", criterion_in_language_of(author, english))
}

/// The colon between a criterion and its check: as in the rest of the document, else that of its language.
pub fn colon_before_check(document: &str, prose: &str) -> &'static str {
    let is_wide = document.contains("：`") || !document.contains(": `") && is_chinese(prose);
    if is_wide { "：" } else { ": " }
}

/// The name of a criterion of a project in the language of an author: `All tests pass in services/api`.
pub fn criterion_in_language_of(author: &str, english: &str) -> String {
    let whole = in_language_of(author, english);
    match english.split_once(" in ") {
        Some((name, package)) if whole == english && in_language_of(author, name) != name => {
            format!("{package} 中{}", in_language_of(author, name))
        }
        _ => whole.to_owned(),
    }
}

fn command(criterion: &Criterion) -> Option<&str> {
    match &criterion.check {
        Some(Check::Command { command, .. }) => Some(command),
        _ => None,
    }
}

/// The command up to the end of `words`, if they are separate words in its first part.
fn command_prefix<'a>(command: &'a str, words: &str) -> Option<&'a str> {
    let end = command.find(words)? + words.len();
    let (start, rest) = command.split_at_checked(end)?;
    let is_whole = rest.is_empty() || rest.starts_with([' ', ';', '|', '&', ')']);
    (is_whole && !start.contains(['|', '(', '`', '"', '\''])).then_some(start)
}

fn runs_node(command: &str) -> bool {
    const NODE_PROGRAMS: [&str; 9] = ["npm", "npx", "pnpm", "yarn", "bun", "node", "jest", "vitest", "mocha"];
    command.split_whitespace().any(|it| NODE_PROGRAMS.contains(&it))
}

/// The first words of a sentence that say something about the work, in lower case; none if it is not in Latin script.
fn significant_words(sentence: &str) -> Vec<String> {
    all_significant_words(sentence).take(MAX_WORDS).collect()
}

/// The same for the subject of the work, without the words that ask for it where others remain.
pub(crate) fn subject_words(sentence: &str) -> Vec<String> {
    const MIN_WORDS: usize = 2;
    let is_subject = |it: &String| !REQUESTS.contains(&it.as_str());
    let subject: Vec<String> = all_significant_words(sentence).filter(is_subject).take(MAX_WORDS).collect();
    if subject.len() >= MIN_WORDS { subject } else { significant_words(sentence) }
}

fn all_significant_words(sentence: &str) -> impl Iterator<Item = String> {
    let split = sentence.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    split.map(str::to_ascii_lowercase).filter(|it| !FILLERS.contains(&it.as_str()))
}

/// The words for the name of a test, which does not begin with a digit.
fn test_name_words(title: &str) -> Vec<String> {
    let mut words = significant_words(title);
    if words.is_empty() {
        words = vec!["new".to_owned(), "behaviour".to_owned()];
    }
    if words.first().is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit())) {
        words.insert(0, "test".to_owned());
    }
    words
}

fn camel_case(words: &[String]) -> String {
    let one = |word: &String| {
        let mut letters = word.chars();
        letters.next().map(|it| it.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    words.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{criterion_in_language_of, propose_criterion, subject_words};
    use crate::criterion::{Check, Criterion};
    use crate::parse_inline_task;

    #[test]
    fn a_criterion_fits_the_task_and_its_tools() {
        let check = |title: &str, command: &str, expect: &str| {
            let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
            let found = propose_criterion(title, &[Criterion::new("0123456789", "tests", Some(check))]);
            let name = if title.is_ascii() { "It has tests: " } else { "有测试：" };
            assert_eq!(found, format!("{name}`{expect}`"), "{title} {command}");
            let task = parse_inline_task("x", &[found]);
            assert!(task.findings.is_empty() && task.criteria[0].check.is_some(), "{:?}", task.findings);
        };
        check("Add a --json flag", "python3 -m pytest -q", "$ python3 -m pytest tests/test_add_json_flag.py");
        check("Add a flag", ".venv/bin/pytest", "$ .venv/bin/pytest tests/test_add_flag.py");
        check("Add a flag", "cd api && uv run pytest -x", "$ cd api && uv run pytest tests/test_add_flag.py");
        check("Add a flag", "python -m unittest", "$ python -m unittest tests/test_add_flag.py");
        check("Sum the words, please", "cargo test --all", "$ cargo test sum_words");
        check("Sum the words", "cargo nextest run --locked", "$ cargo nextest run sum_words");
        check("Sum the words", "go test ./...", "has \"func TestSumWords\" **/*_test.go");
        check("Sum the words", "npm test", "exists **/sum-words.test.*");
        check("Sum the words", "bundle exec rspec", "exists spec/sum_words_spec.rb");
        check("Sum the words", "./mvnw -B test", "exists **/SumWordsTest.*");
        check("Sum the words", "gradle test", "exists **/SumWordsTest.*");
        check("Sum the words", "dotnet test", "exists **/SumWordsTests.*");
        check("Sum the words", "vendor/bin/phpunit", "exists tests/**/SumWordsTest.php");
        check("Sum the words", "mix test", "exists test/**/sum_words_test.exs");
        check("Sum the words", "make check", "$ sh tests/sum_words.sh");
        check("PROMPT.md", "true", "$ sh tests/new_behaviour.sh");
        check("完成", "./pytest-like.sh", "$ sh tests/new_behaviour.sh");
        check("Make the parser handle empty input", "cargo test", "$ cargo test parser_handle_empty");
        check("3 d plots", "cat x | grep pytest", "$ sh tests/test_3_d_plots.sh");
    }

    #[test]
    fn a_page_is_recognised_by_the_subject_of_the_work() {
        let check =
            |sentence: &str, expect: &[&str]| assert_eq!(subject_words(sentence), expect, "{sentence}");
        check("Add a --json flag to export", &["json", "flag", "export"]);
        check("make the parser handle empty input", &["parser", "empty", "input"]);
        check("Fix the date parser", &["date", "parser"]);
        check("Parse dates", &["parse", "dates"]);
        check("Show totals", &["show", "totals"]);
        check("完成", &[]);
    }

    #[test]
    fn the_criteria_of_a_project_are_in_the_language_of_the_task() {
        let check = |author: &str, english: &str, expect: &str| {
            assert_eq!(criterion_in_language_of(author, english), expect, "{author} {english}");
        };
        check("Sort the list", "All tests pass in services/api", "All tests pass in services/api");
        check("排序", "All tests pass", "测试全部通过");
        check("排序", "All tests pass in services/api", "services/api 中测试全部通过");
        check("排序", "my own check in a folder", "my own check in a folder");
    }
}
