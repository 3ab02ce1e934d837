//! Reads Markdown pages: code blocks, code spans, and the command lines in both.

pub(crate) struct Page {
    pub(crate) name: String,
    prose: String,
    /// The language of each fence, and its text.
    fences: Vec<(String, String)>,
}

impl Page {
    pub(crate) fn new(name: String, text: &str) -> Self {
        let mut page = Self { name, prose: String::new(), fences: Vec::new() };
        let mut indent = None;
        for line in text.lines() {
            match (indent, line.trim_start().strip_prefix("```")) {
                (None, Some(language)) => {
                    indent = Some(line.len() - line.trim_start().len());
                    page.fences.push((language.trim().to_owned(), String::new()));
                }
                (Some(_), Some(_)) => indent = None,
                (None, None) => page.prose = format!("{}{line}\n", page.prose),
                (Some(width), None) => {
                    let text = &mut page.fences.last_mut().expect("begun").1;
                    text.push_str(line.get(width..).unwrap_or(""));
                    text.push('\n');
                }
            }
        }
        page
    }

    /// The texts of the code blocks in this language.
    pub(crate) fn fences(&self, language: &str) -> impl Iterator<Item = &str> {
        self.fences.iter().filter(move |(it, _)| it == language).map(|(_, text)| text.as_str())
    }

    /// The code spans outside of code blocks.
    pub(crate) fn spans(&self) -> Vec<&str> {
        self.prose.lines().flat_map(spans_of_line).collect()
    }

    /// The code spans in the first cells of tables.
    pub(crate) fn first_cells(&self) -> Vec<&str> {
        let cells = self.prose.lines().filter_map(|it| it.strip_prefix("| ")?.split(" | ").next());
        cells.flat_map(spans_of_line).collect()
    }

    /// The word after each occurrence of a text.
    pub(crate) fn words_after(&self, text: &str) -> Vec<&str> {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '!';
        let rests = self.prose.split(text).skip(1);
        rests.map(|it| it.split(|it| !is_word(it)).next().unwrap_or_default()).collect()
    }

    /// The emphasised text that begins with a text, without that.
    pub(crate) fn titles_after(&self, text: &str) -> Vec<&str> {
        let begin = format!("*{text}");
        self.prose.split(begin.as_str()).skip(1).filter_map(|it| it.split('*').next()).collect()
    }
}

/// Between equal runs of backticks.
fn spans_of_line(line: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let after = &rest[start..];
        let width = after.len() - after.trim_start_matches('`').len();
        let body = &after[width..];
        let Some(end) = body.find(&after[..width]) else { break };
        spans.push(body[..end].trim());
        rest = &body[end + width..];
    }
    spans
}

/// The arguments of every call of loopkeeper on a page.
pub(crate) fn command_lines(page: &Page) -> Vec<Vec<String>> {
    let blocks = page.fences("sh").chain(page.fences("console")).flat_map(str::lines);
    let mut lines: Vec<Vec<String>> = blocks.flat_map(calls).collect();
    for span in page.spans() {
        // A flag shows that the name of a subcommand is not just a word. On the page about agents it may be theirs.
        let is_short = !page.name.ends_with("AGENTS.md")
            && ["run ", "check ", "rollback ", "stop ", "gc "].iter().any(|it| span.starts_with(it));
        if is_short && span.contains(" --") {
            lines.extend(calls(&format!("loopkeeper {span}")));
        } else {
            lines.extend(calls(span));
        }
    }
    lines
}

/// Calls in one line of a shell.
fn calls(line: &str) -> Vec<Vec<String>> {
    let words = words(line);
    let commands = words.split(|it| it.is_operator);
    commands.filter_map(|it| arguments(&it.iter().map(|it| it.text.as_str()).collect::<Vec<_>>())).collect()
}

/// What follows the program, as it may be typed: `[--now]` as `--now`, `breaker|session` as its first.
fn arguments(command: &[&str]) -> Option<Vec<String>> {
    let is_assignment = |it: &&&str| it.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let start = command.iter().take_while(is_assignment).count();
    let rest = match &command[start..] {
        ["$", rest @ ..] => rest,
        rest => rest,
    };
    let rest = match rest {
        ["cargo", "run", "--profile", "demo", "--", rest @ ..] => rest,
        [program, rest @ ..] if program.rsplit('/').next() == Some("loopkeeper") => rest,
        _ => return None,
    };
    let is_typed = |it: &&&str| !matches!(**it, "…" | "COMMAND");
    let typed = rest.iter().filter(is_typed).map(|it| it.trim_matches(['[', ']']));
    Some(typed.map(|it| example(it.split("\\|").next().unwrap_or(it))).collect())
}

/// A word as it may be typed.
fn example(word: &str) -> String {
    match word {
        "N" => "1".to_owned(),
        "DATE" => "2026-11-20".to_owned(),
        _ => word.to_owned(),
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
}

/// A word of a shell's line, or an operator between two commands.
struct Word {
    text: String,
    is_operator: bool,
}

/// Splits a line at spaces outside of quotes. Comments and redirections are left out.
fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut previous = ' ';
    for letter in line.chars().chain([' ']) {
        match quote {
            Some(end) if letter == end => quote = None,
            Some(_) => word.push(letter),
            None if letter == '\'' || letter == '"' => quote = Some(letter),
            None if letter == '#' && previous == ' ' => break,
            None if letter == ' ' && !word.is_empty() => {
                let is_operator = matches!(word.as_str(), "&&" | "||" | "|" | "\\|" | ";" | ">" | "<");
                words.push(Word { text: std::mem::take(&mut word), is_operator });
            }
            None if letter == ' ' => {}
            None => word.push(letter),
        }
        previous = letter;
    }
    words.extend((!word.is_empty()).then_some(Word { text: word, is_operator: false }));
    words
}

#[test]
fn calls_are_read_from_lines_of_a_shell() {
    let check = |line: &str, expect: &[&[&str]]| assert_eq!(calls(line), expect, "{line}");
    check("loopkeeper run", &[&["run"]]);
    check("$ loopkeeper run # loopkeeper stop", &[&["run"]]);
    check("A=1 target/debug/loopkeeper run --check 'cargo test'", &[&["run", "--check", "cargo test"]]);
    check("cd x && loopkeeper gc", &[&["gc"]]);
    check("gh x | loopkeeper import -", &[&["import", "-"]]);
    check("loopkeeper receipt > receipt.md", &[&["receipt"]]);
    check("loopkeeper reset breaker\\|session", &[&["reset", "breaker"]]);
    check("loopkeeper stop [--now]", &[&["stop", "--now"]]);
    check("cargo install loopkeeper", &[]);
    check("loopkeeper.toml", &[]);
}

#[test]
fn blocks_and_spans_are_read_from_a_page() {
    let text = "a `b` ``c ` d``\n\n   ```sh\n   e\n     f\n   ```\n`g`\n";
    let page = Page::new("page.md".to_owned(), text);
    assert_eq!(page.spans(), ["b", "c ` d", "g"]);
    assert_eq!(page.fences("sh").collect::<Vec<_>>(), ["e\n  f\n"]);
}
