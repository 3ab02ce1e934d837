//! Git commands that an agent may run if commits are left to it (`git.commit = "agent"`): `git add` and `git commit`,
//! without flags that bypass the repository's hooks or replace a commit. Each command line enforces as much of this as
//! its agent's rules can express; [`super::commit_limitation`] describes the rest.

use std::iter::Peekable;
use std::str::Chars;

/// The repository of the work tree: the folders that a commit writes to. Needed by agents with their own sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDirs {
    /// The Git directory of this work tree.
    pub git_dir: String,
    /// Shared by all work trees; the same folder if there is only one.
    pub common_dir: String,
}

/// The allowed commands, with any arguments.
pub const ALLOWED: [&str; 2] = ["git add", "git commit"];

/// The refused forms of these, with `*` as a wildcard. Long options may be abbreviated and short ones joined; only the
/// usual joined ones are listed because no rule can cover them all.
pub const REFUSED_FORMS: [&str; 12] = [
    "git commit *--no-ver*",
    "git commit *--am*",
    "git commit -n*",
    "git commit * -n*",
    "git commit -an*",
    "git commit * -an*",
    "git commit -qn*",
    "git commit * -qn*",
    "git commit -sn*",
    "git commit * -sn*",
    "git commit -vn*",
    "git commit * -vn*",
];

/// Whether a command line consists only of `git add` and `git commit`, one or several, with arguments whose meaning is
/// certain: no expansion, no redirection, no unknown option.
pub fn is_plain(command: &str) -> bool {
    let Some(commands) = ShellLexer::new(command).split_commands() else { return false };
    !commands.is_empty() && commands.iter().all(|words| is_allowed(words))
}

fn is_allowed(words: &[String]) -> bool {
    match words {
        [git, verb, ..] if git == "git" && verb == "add" => true,
        [git, verb, rest @ ..] if git == "git" && verb == "commit" => is_commit(rest),
        _ => false,
    }
}

fn is_commit(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let takes_next = match word.as_str() {
            "--" => return true,
            "--message" | "--file" | "--trailer" => true,
            "--all" | "--signoff" | "--quiet" | "--verbose" | "--only" | "--include" | "--allow-empty" => {
                false
            }
            long if long.starts_with("--") => {
                if !["--message=", "--file=", "--trailer="].iter().any(|it| long.starts_with(it)) {
                    return false;
                }
                false
            }
            "-" => return false,
            short if short.starts_with('-') => match last_takes_argument(short) {
                Some(takes_next) => takes_next,
                None => return false,
            },
            _ => false,
        };
        if takes_next && rest.next().is_none() {
            return false;
        }
    }
    true
}

/// Whether the last one of joined short options takes the next argument; `None` if one of them is unknown.
fn last_takes_argument(word: &str) -> Option<bool> {
    let mut options = word.chars().skip(1);
    while let Some(option) = options.next() {
        match option {
            'a' | 'q' | 's' | 'v' | 'o' | 'i' => {}
            'm' | 'F' => return Some(options.next().is_none()),
            _ => return None,
        }
    }
    Some(false)
}

/// Reads a shell command line as long as its meaning is unambiguous.
struct ShellLexer<'a> {
    rest: Peekable<Chars<'a>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl<'a> ShellLexer<'a> {
    fn new(command: &'a str) -> Self {
        Self { rest: command.trim().chars().peekable(), commands: Vec::new(), words: Vec::new(), word: None }
    }

    /// `None` if the meaning of any part is uncertain.
    fn split_commands(mut self) -> Option<Vec<Vec<String>>> {
        while let Some(it) = self.rest.next() {
            match it {
                ' ' | '\t' => self.end_word(),
                '\n' | ';' => self.end_command()?,
                '&' => {
                    self.rest.next_if_eq(&'&')?;
                    self.end_command()?;
                }
                '\'' => self.read_single_quoted()?,
                '"' => self.read_double_quoted()?,
                '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\\' | '*' | '?' | '[' | ']' | '{' | '}' | '~'
                | '#' | '!' => return None,
                it if it.is_control() => return None,
                it => self.word.get_or_insert_default().push(it),
            }
        }
        self.end_word();
        if !self.words.is_empty() {
            self.end_command()?;
        }
        Some(self.commands)
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return None;
        }
        self.commands.push(words);
        Some(())
    }

    fn read_single_quoted(&mut self) -> Option<()> {
        let quoted = self.read_until('\'')?;
        self.word.get_or_insert_default().push_str(&quoted);
        Some(())
    }

    fn read_double_quoted(&mut self) -> Option<()> {
        if self.rest.peek() == Some(&'$') {
            let text = self.read_here_document()?;
            self.word.get_or_insert_default().push_str(&text);
            return Some(());
        }
        let word = self.word.get_or_insert_default();
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => match self.rest.next()? {
                    // The shell removes both characters.
                    '\n' => {}
                    it @ ('"' | '$' | '`' | '\\') => word.push(it),
                    it => word.extend(['\\', it]),
                },
                it => word.push(it),
            }
        }
    }

    /// Reads `$(cat <<'EOF' … EOF )"`, which many agents use for messages of several lines. Nothing in it is expanded
    /// because its tag is quoted.
    fn read_here_document(&mut self) -> Option<String> {
        for expected in "$(cat <<'".chars() {
            self.rest.next_if_eq(&expected)?;
        }
        let tag = self.read_until('\'')?;
        if tag.is_empty() || !tag.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') {
            return None;
        }
        self.rest.next_if_eq(&'\n')?;
        let mut text = String::new();
        loop {
            let line = self.read_until('\n')?;
            if line == tag {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        while self.rest.next_if(|it| [' ', '\n'].contains(it)).is_some() {}
        self.rest.next_if_eq(&')')?;
        self.rest.next_if_eq(&'"')?;
        text.truncate(text.trim_end_matches('\n').len());
        Some(text)
    }

    /// Reads the text before the next `end`, and `end` itself.
    fn read_until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                it if it == end => return Some(text),
                it => text.push(it),
            }
        }
    }
}

#[cfg(test)]
mod tests;
