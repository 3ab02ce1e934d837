//! Writes a task document from one sentence: limits, and criteria that checks decide, for code, texts and research.

use super::change_kind::ChangeKind;
use super::import::file_stem;
use super::proposal::{list_item, propose_criterion, subject_words};
use super::work_product::WorkProduct;
use super::{TaskDocument, parse_inline_task, parse_task};
use loopkeeper_text::language::{in_language_of, is_chinese};
use loopkeeper_text::{shell_word, tr_later};

/// A longer sentence is not a title.
const TITLE_CHARS: usize = 72;
/// Words of an article, and links of a list of sources: proposals for the author to change.
const MIN_WORDS: u32 = 600;
/// Chinese is written without spaces between words.
const MIN_CHINESE_CHARS: u32 = 1_000;
const MIN_LINKS: u32 = 5;

/// Everything that a new document depends on.
#[derive(Debug, Clone, Copy)]
pub struct NewTask<'a> {
    /// What the user asks for, on one line.
    pub sentence: &'a str,
    pub product: WorkProduct,
    /// The folder of the document, relative to the root in which checks run; empty for the root.
    pub folder: &'a str,
    /// Criteria of the project, each a name and a command.
    pub checks: &'a [(String, String)],
    /// Whether one of them runs tests.
    pub has_tests: bool,
    /// The page that has to describe the work, relative to the root.
    pub page: &'a str,
    /// The list of changes that has to name the work, relative to the root.
    pub changelog: Option<&'a str>,
    /// Whether the check `clean` can pass here.
    pub can_be_clean: bool,
    /// Whether no command can decide what the sentence asks for: "faster", "cleaner".
    pub needs_judge: bool,
}

impl NewTask<'_> {
    /// A criterion in the language of the sentence.
    fn item(&self, english: &str, check: &str) -> String {
        list_item(self.sentence, english, check)
    }

    /// A heading that the text needs, in its language.
    fn has_heading(&self, english: &str, heading: &str, glob: &str) -> String {
        let heading = in_language_of(self.sentence, heading);
        self.item(english, &format!("`has /^## {heading}/ {glob}`"))
    }

    /// A criterion that a judge decides. It quotes the sentence, because a judge does not see the rest of the document.
    fn judge_item(&self, english: &str) -> String {
        // Parentheses could be read as an attribute.
        let title = title(self.sentence).replace(['(', ')', '（', '）'], " ");
        let claim = in_language_of(self.sentence, english);
        let quoted = if is_chinese(self.sentence) {
            format!("{claim}，“{title}”：")
        } else {
            format!("{claim}, \"{title}\": ")
        };
        format!("{quoted}`judge`")
    }
}

/// The stem of the name of the document: `parse-iso-dates`.
pub fn new_task_stem(sentence: &str) -> String {
    file_stem(&format!("# {}\n", title(sentence)))
}

/// The document, in which every criterion has a check.
pub fn new_task_document(new: &NewTask<'_>) -> String {
    let criteria = new_task_criteria(new);
    let (title, sentence) = (title(new.sentence), with_final_stop(&plain(new.sentence)));
    let text = format_document(&title, &sentence, new.product, &criteria);
    let read = parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text: text.clone() }]);
    if read.criteria.len() == criteria.len() {
        return text;
    }
    // The sentence begins like a list of criteria: `Done when: - a - b`.
    let say = |text: &str| {
        if is_chinese(new.sentence) { format!("任务：{text}") } else { format!("Task: {text}") }
    };
    format_document(&say(&title), &say(&sentence), new.product, &criteria)
}

/// Its criteria, without their bullets.
pub fn new_task_criteria(new: &NewTask<'_>) -> Vec<String> {
    match new.product {
        WorkProduct::Code => code_criteria(new),
        WorkProduct::Writing => writing_criteria(new),
        WorkProduct::Research => research_criteria(new),
    }
}

fn format_document(title: &str, sentence: &str, product: WorkProduct, criteria: &[String]) -> String {
    let limits: &[&str] = match product {
        WorkProduct::Code => &[
            tr_later!("Change only what this task requires."),
            tr_later!(
                "Interfaces, file formats and messages that others rely on stay as they are, unless the task names them."
            ),
            tr_later!("No test is removed or weakened."),
        ],
        WorkProduct::Writing | WorkProduct::Research => &[
            tr_later!("Write only the files that the criteria name."),
            tr_later!("State nothing that no source supports, and name the source."),
        ],
    };
    let say = |english| in_language_of(sentence, english);
    let mut text = format!("# {title}\n\n{sentence}\n\n## {}\n\n", say(tr_later!("Limits")));
    text.extend(limits.iter().flat_map(|it| ["- ", say(it), "\n"]));
    text.extend(["\n## ", say(tr_later!("Completion Criteria")), "\n\n"]);
    text.extend(criteria.iter().flat_map(|it| ["- ", it.as_str(), "\n"]));
    text
}

/// Evidence of this kind of change, the gates of the project, and no files left behind.
fn code_criteria(new: &NewTask<'_>) -> Vec<String> {
    let kind = ChangeKind::of_sentence(&title(new.sentence));
    let mut all = evidence(kind, new);
    let commands = new.checks.iter().filter(|it| !it.1.contains('`'));
    all.extend(commands.map(|(name, it)| new.item(name, &format!("`$ {it}`"))));
    all.extend(judge_claim(kind, new).map(|it| new.judge_item(it)));
    all.extend(documentation(kind, new));
    if new.can_be_clean {
        all.push(new.item(tr_later!("No other files are left behind"), "`clean`"));
    }
    all
}

/// Criteria that pass only after a change of this kind.
fn evidence(kind: ChangeKind, new: &NewTask<'_>) -> Vec<String> {
    if kind == ChangeKind::Speed && new.has_tests {
        let page = format!("docs/{}.md", new_task_stem(new.sentence));
        let recorded = |english, word| new.item(english, &format!("`has /^{word}: .*\\d/ {page}`"));
        return vec![
            recorded(tr_later!("The value before is recorded"), "Before"),
            recorded(tr_later!("The value after is recorded"), "After"),
        ];
    }
    if kind == ChangeKind::Refactoring && new.has_tests {
        return Vec::new();
    }
    let lines: Vec<String> = new.checks.iter().map(|(_, command)| format!("`$ {command}`")).collect();
    let known = parse_inline_task("", &lines).criteria;
    let subject =
        if kind == ChangeKind::Tests { tested_subject(new.sentence) } else { new.sentence.to_owned() };
    vec![propose_criterion(&subject, &known)]
}

/// The claim that only a judge can decide about a change of this kind.
fn judge_claim(kind: ChangeKind, new: &NewTask<'_>) -> Option<&'static str> {
    match kind {
        ChangeKind::Feature => new.needs_judge.then_some(tr_later!("The result is what was asked for")),
        ChangeKind::Fix => Some(tr_later!("A test fails without the fix")),
        ChangeKind::Speed => {
            Some(tr_later!("One command measured both values, and their difference shows that this is done"))
        }
        ChangeKind::Refactoring => Some(tr_later!("The behaviour is as before, and this is done")),
        ChangeKind::Tests => Some(tr_later!("Each new test fails if the behaviour that it names is broken")),
    }
}

/// The sentence without the words that ask for tests.
fn tested_subject(sentence: &str) -> String {
    const REQUEST_WORDS: [&str; 12] = [
        "add",
        "write",
        "test",
        "tests",
        "unit",
        "integration",
        "more",
        "missing",
        "code",
        "coverage",
        "raise",
        "increase",
    ];
    let words =
        sentence.split_whitespace().filter(|it| !REQUEST_WORDS.contains(&it.to_ascii_lowercase().as_str()));
    words.collect::<Vec<_>>().join(" ")
}

/// The criterion that users are told about a change of this kind.
fn documentation(kind: ChangeKind, new: &NewTask<'_>) -> Option<String> {
    let pattern = topic(new.sentence).join(".*");
    let has = |page: &str| format!("`has /{pattern}/i {}`", quote_path(page));
    match kind {
        ChangeKind::Feature => Some(new.item(tr_later!("The documentation describes it"), &has(new.page))),
        ChangeKind::Fix => new.changelog.map(|it| new.item(tr_later!("The changelog names it"), &has(it))),
        ChangeKind::Speed | ChangeKind::Refactoring | ChangeKind::Tests => None,
    }
}

/// The words by which a page about the work is recognised. They contain nothing that a regular expression interprets.
pub fn topic(sentence: &str) -> Vec<String> {
    const MAX_CHARS: usize = 12;
    let words = subject_words(sentence);
    if !words.is_empty() {
        return words;
    }
    // Not in Latin script.
    let first = sentence.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty()).unwrap_or("task");
    vec![first.chars().take(MAX_CHARS).collect()]
}

fn writing_criteria(new: &NewTask<'_>) -> Vec<String> {
    let stem = new_task_stem(new.sentence);
    let file = in_folder(new.folder, &format!("{stem}.md"));
    let (glob, word) = (quote_path(&file), shell_word::quoted(&file));
    let length = if is_chinese(new.sentence) {
        format!("`$ LC_ALL=C.UTF-8 wc -m < {word}` `>= {MIN_CHINESE_CHARS}`")
    } else {
        format!("`$ wc -w < {word}` `>= {MIN_WORDS}`")
    };
    vec![
        new.item(tr_later!("The text is long enough"), &length),
        new.has_heading(tr_later!("It begins with a summary"), tr_later!("Summary"), &glob),
        new.has_heading(tr_later!("It ends with its sources"), tr_later!("Sources"), &glob),
        new.item(tr_later!("Its links answer"), &format!("`$ {}`", links_answer(&word))),
        new.item(tr_later!("Nothing is left open"), &format!("`lacks /TODO|TBD|FIXME/ {glob}`")),
        new.judge_item(tr_later!("The text says what was asked for")),
    ]
}

fn research_criteria(new: &NewTask<'_>) -> Vec<String> {
    let stem = new_task_stem(new.sentence);
    let file = in_folder(new.folder, &format!("{stem}.md"));
    let sources = in_folder(new.folder, &format!("{stem}-sources.md"));
    let (glob, word) = (quote_path(&file), shell_word::quoted(&sources));
    let links = format!("`$ grep -c 'https\\?://' {word}` `>= {MIN_LINKS}`");
    vec![
        new.item(tr_later!("The sources are listed"), &format!("`exists {}`", quote_path(&sources))),
        new.item(tr_later!("There are enough of them"), &links),
        new.item(tr_later!("They can be read"), &format!("`$ {}`", links_answer(&word))),
        new.has_heading(tr_later!("The report answers the question first"), tr_later!("Answer"), &glob),
        new.has_heading(tr_later!("It explains the findings"), tr_later!("Findings"), &glob),
        new.has_heading(tr_later!("It names what is not known"), tr_later!("Open questions"), &glob),
        new.item(tr_later!("Nothing is left to look up"), &format!("`lacks /TODO|TBD|FIXME/ {glob}`")),
        new.judge_item(tr_later!("Each finding in the report follows from a listed source")),
    ]
}

/// A command that requests each link of a file.
fn links_answer(word: &str) -> String {
    format!("grep -oE 'https?://[^]) >]+' {word} | sort -u | xargs -n 1 curl -fsSL -m 30 -o /dev/null")
}

/// The first sentence, without its final period.
fn title(sentence: &str) -> String {
    let plain = plain(sentence);
    let text = without_markers(&plain);
    let first = text.split_once(". ").map_or(text, |(first, _)| first);
    let first = first.trim_end_matches(['.', '。', ' ']);
    let mut title: String = first.chars().take(TITLE_CHARS).collect();
    if title.len() < first.len() {
        let end = title.rfind(' ').filter(|it| *it > 0).unwrap_or(title.len());
        title.truncate(end);
        title.push('…');
    }
    if title.is_empty() { "New task".to_owned() } else { title }
}

/// One line of prose: no markup of it can become a heading, an item, a comment or a check.
fn plain(sentence: &str) -> String {
    let spaced = sentence.replace('`', "'").replace('<', "\\<");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn with_final_stop(sentence: &str) -> String {
    let prose = without_markers(sentence);
    let end = match prose {
        _ if prose.ends_with(['.', '!', '?', '。', '！', '？']) => "",
        _ if is_chinese(prose) => "。",
        _ => ".",
    };
    format!("{prose}{end}")
}

/// Removes the characters that turn a line into a heading or an item.
fn without_markers(line: &str) -> &str {
    let bare = line.trim_start_matches(['#', '-', '*', '+', '>', ' ']);
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|it| bare.strip_prefix(it));
    let text = boxed.unwrap_or(bare);
    // `1. ` or `1) `
    let (digits, rest) = text.split_at(text.find(|it: char| !it.is_ascii_digit()).unwrap_or(0));
    let numbered = [". ", ") "].iter().find_map(|it| rest.strip_prefix(it));
    numbered.filter(|_| !digits.is_empty()).unwrap_or(text)
}

fn in_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{}/{name}", folder.trim_end_matches('/')) }
}

/// Formats a path as an argument of a file check.
fn quote_path(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path.to_owned() }
}
