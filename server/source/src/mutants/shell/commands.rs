//! Groups the words of a script into simple commands.

use std::collections::HashSet;

use super::tokens::{ShellScript, WordForm};
use super::words;

const RESERVED_WORDS: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"];

/// A simple command; its words are indices of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<usize>,
    /// The last of the words before it that make it a condition or a body.
    pub(super) keyword: Option<String>,
    /// `!`
    pub(super) negation: Option<usize>,
    /// The operator before it; of several, the one that decides whether it runs.
    pub(super) before: String,
    pub(super) after: String,
    pub(super) has_redirection: bool,
}

impl ShellCommand {
    /// The name of what it runs, after assignments.
    pub(super) fn program<'a>(&self, text: &'a str, script: &ShellScript) -> Option<&'a str> {
        let mut words = self.words.iter().map(|it| script.text_of(text, *it));
        words.find(|it| words::assigned_name(it).is_none())
    }

    /// The names that it assigns to, where it does nothing else.
    pub(super) fn assigned_names<'a>(
        &self,
        text: &'a str,
        script: &ShellScript,
    ) -> impl Iterator<Item = &'a str> + use<'a> {
        let is_assignment = self.program(text, script).is_none();
        let names = self.words.iter().filter_map(|it| words::assigned_name(script.text_of(text, *it)));
        let names: Vec<&str> = if is_assignment { names.collect() } else { Vec::new() };
        names.into_iter()
    }
}

/// The names of functions that the script declares.
pub(super) fn function_names<'a>(text: &'a str, script: &ShellScript) -> HashSet<&'a str> {
    let word = |it: usize| script.text_of(text, it);
    let is_declared =
        |it: usize| word(it + 1) == "(" && word(it + 2) == ")" || it > 0 && word(it - 1) == "function";
    let all = (0..script.tokens.len()).filter(|it| is_declared(*it)).map(word);
    all.filter(|it| words::is_name(it)).collect()
}

/// Whether it writes to files of which the name is not constant, or that are not in its folder.
pub(super) fn writes_elsewhere(text: &str, script: &ShellScript) -> bool {
    let targets = script.tokens.windows(2).filter_map(|pair| {
        let [sign, target] = pair else { return None };
        let sign = text.get(sign.range.clone()).filter(|_| sign.form == WordForm::Redirection)?;
        sign.contains('>').then_some(target)
    });
    targets.into_iter().any(|it| {
        let name = text.get(it.range.clone()).unwrap_or_default();
        let is_device =
            ["/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"].contains(&name.trim_matches('"'));
        let is_here =
            it.form == WordForm::Plain && !name.starts_with('/') && !name.split('/').any(|it| it == "..");
        !is_device && !is_here
    })
}

pub(super) fn commands(text: &str, script: &ShellScript) -> Vec<ShellCommand> {
    let mut parser = CommandParser::new(text, script);
    for token in 0..script.tokens.len() {
        parser.read(token);
    }
    parser.end("");
    parser.commands
}

struct CommandParser<'a> {
    text: &'a str,
    script: &'a ShellScript,
    commands: Vec<ShellCommand>,
    open: ShellCommand,
    /// The patterns of `case`.
    in_pattern: bool,
    /// The next word is the target of a redirection.
    is_target: bool,
}

impl<'a> CommandParser<'a> {
    fn new(text: &'a str, script: &'a ShellScript) -> Self {
        let (commands, open) = (Vec::new(), ShellCommand::default());
        Self { text, script, commands, open, in_pattern: false, is_target: false }
    }

    fn read(&mut self, token: usize) {
        let word = self.script.text_of(self.text, token);
        let form = self.script.tokens.get(token).map(|it| it.form);
        if self.in_pattern {
            self.in_pattern = !(form == Some(WordForm::Control) && word == ")" || word == "esac");
            if word == "esac" {
                self.open.words.push(token);
            } else if !self.in_pattern {
                ")".clone_into(&mut self.open.before);
            }
            return;
        }
        match form {
            Some(WordForm::Control) if self.is_in_test() && word != "\n" => self.open.words.push(token),
            Some(WordForm::Control) => {
                self.end(word);
                self.in_pattern = matches!(word, ";;" | ";&" | ";;&");
            }
            Some(WordForm::Redirection) => {
                self.open.has_redirection = true;
                self.is_target = true;
            }
            _ if std::mem::take(&mut self.is_target) => {}
            _ => self.read_word(token, word),
        }
    }

    /// Operators within `[[ … ]]` end no command.
    fn is_in_test(&self) -> bool {
        let word = |it: Option<&usize>| it.map(|it| self.script.text_of(self.text, *it));
        word(self.open.words.first()) == Some("[[") && word(self.open.words.last()) != Some("]]")
    }

    fn read_word(&mut self, token: usize, word: &str) {
        if self.open.words.is_empty() && RESERVED_WORDS.contains(&word) {
            match word {
                "!" => self.open.negation = Some(token),
                "{" | "then" | "do" | "else" => {
                    // The condition ends here, so that its keyword does not apply to the next command.
                    self.open.keyword = None;
                    ";".clone_into(&mut self.open.before);
                }
                _ => self.open.keyword = Some(word.to_owned()),
            }
            return;
        }
        self.open.words.push(token);
        let first = self.open.words.first().map(|it| self.script.text_of(self.text, *it));
        if word == "in" && first == Some("case") && self.open.words.len() == 3 {
            self.end("in");
            self.in_pattern = true;
        }
    }

    /// Ends the open command before an operator.
    fn end(&mut self, operator: &str) {
        self.is_target = false;
        if self.open.words.is_empty() {
            // A line break after `&&` continues the list, and conditions may begin on the next line.
            let continues = matches!(self.open.before.as_str(), "&&" | "||" | "|") && operator == "\n";
            if !continues && self.open.keyword.is_none() {
                self.open = ShellCommand { before: operator.to_owned(), ..ShellCommand::default() };
            }
            return;
        }
        let next = ShellCommand { before: operator.to_owned(), ..ShellCommand::default() };
        let ended = std::mem::replace(&mut self.open, next);
        self.commands.push(ShellCommand { after: operator.to_owned(), ..ended });
    }
}
