//! Decides from the text of a script whether its exit code can still report a failure. A statement that is not
//! understood counts as one that can fail.

mod shell_status;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{TestLanguage, file_name, language};
use loopkeeper_text::language::translate;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr_later;

const EMPTIED: &str = tr_later!("was emptied: nothing in it can fail");
const IGNORES_FAILURES: &str = tr_later!("can no longer fail");

/// Describes a script that could fail before, and can no longer. One that only failed was not written yet.
pub(super) fn describe_loss(path: &str, before: &str, after: &str) -> Option<String> {
    let syntax = ScriptSyntax::of(path, before);
    if syntax.is_idle(before) || syntax.only_fails(before) {
        return None;
    }
    let is_shell = syntax.language == Some(TestLanguage::Shell);
    let what = if syntax.is_idle(after) {
        EMPTIED
    } else if is_shell && shell_status::is_ignored(before, after) {
        IGNORES_FAILURES
    } else {
        return None;
    };
    Some(translate(what).to_owned())
}

/// The patterns of one language, each for one trimmed line.
struct ScriptSyntax {
    language: Option<TestLanguage>,
    /// Ends the script as a success.
    ends: &'static ConstantPattern,
    idle: &'static ConstantPattern,
    fails: &'static ConstantPattern,
    /// Begins a function; `name`.
    function: &'static ConstantPattern,
    /// Calls a function of the script; `name`.
    call: &'static ConstantPattern,
    comments: &'static [&'static str],
}

/// Matches nothing.
static NO_MATCH: ConstantPattern = ConstantPattern::new(r"[^\s\S]");

static SHELL_END: ConstantPattern = ConstantPattern::new(r"^(?:exit(?:\s+0)?|exec\s+true)\s*;?$");
static SHELL_IDLE: ConstantPattern = ConstantPattern::new(
    r#"^(?:exit(?:\s+0)?|return(?:\s+0)?|true|:|[{}]|(?:echo|printf)\b[^;&|`$()<>]*(?:>&2)?|set\s[^;&|`$()]*|[A-Za-z_]\w*=(?:[\w./-]*|"[^"$`]*"|'[^']*'))\s*;?$"#,
);
static SHELL_FAIL: ConstantPattern =
    ConstantPattern::new(r"^(?:false|(?:exit|return)\s+[1-9]\d*|echo\b[^;&|`$()]*>&2)\s*;?$");
static SHELL_FUNCTION: ConstantPattern =
    ConstantPattern::new(r"^(?:function\s+)?(?P<name>[A-Za-z_]\w*)\s*\(\)\s*\{?$");
static SHELL_CALL: ConstantPattern = ConstantPattern::new(r#"^(?P<name>[A-Za-z_]\w*)(?:\s+"?\$[@*]"?)?$"#);

static PYTHON_END: ConstantPattern = ConstantPattern::new(
    r"^(?:(?:sys\.)?exit\(\s*0?\s*\)|quit\(\s*0?\s*\)|os\._exit\(\s*0\s*\)|raise SystemExit(?:\(\s*0?\s*\))?)$",
);
static PYTHON_IDLE: ConstantPattern = ConstantPattern::new(
    r#"^(?:pass|\.\.\.|import\s.*|from\s.*|\w+,|\)|return(?:\s+(?:0|None|True|False))?|print\([^()]*\)|(?:sys\.)?exit\(\s*0?\s*\)|quit\(\s*0?\s*\)|raise SystemExit(?:\(\s*0?\s*\))?|if __name__ == ["']__main__["']:|[A-Za-z_]\w*\s*=\s*(?:-?[\d.]+|"[^"]*"|'[^']*'|True|False|None|\[\]|\{\}))$"#,
);
static PYTHON_FAIL: ConstantPattern = ConstantPattern::new(
    r#"^(?:raise (?:NotImplementedError|SystemExit|RuntimeError)\b.*|(?:sys\.)?exit\(\s*(?:[1-9]\d*|["'][^()]*)\s*\)|assert False\b.*|print\([^()]*file=sys\.stderr\))$"#,
);
static PYTHON_FUNCTION: ConstantPattern =
    ConstantPattern::new(r"^(?:async\s+)?def\s+(?P<name>\w+)\s*\(.*\).*:$");
static PYTHON_CALL: ConstantPattern =
    ConstantPattern::new(r"^(?:(?:sys\.)?exit\(|raise SystemExit\(|asyncio\.run\()?(?P<name>\w+)\(\)\)?$");

static SCRIPT_END: ConstantPattern = ConstantPattern::new(r"^process\.(?:exit|reallyExit)\(\s*0?\s*\)\s*;?$");
static SCRIPT_IDLE: ConstantPattern = ConstantPattern::new(
    r#"^(?:["']use strict["']|import\s+[^"'(]*\bfrom\s.*|(?:const|let|var)\s[^=]*=\s*require\([^()]*\)[\w.]*|[{}]|process\.exit\(\s*0?\s*\)|process\.exitCode\s*=\s*0|console\.log\([^()`]*\)|return(?:\s+(?:0|null|true|false|undefined))?|(?:const|let|var)\s+\w+\s*=\s*(?:-?[\d.]+|"[^"]*"|'[^']*'|true|false|null))\s*;?$"#,
);
static SCRIPT_FAIL: ConstantPattern = ConstantPattern::new(
    r"^(?:throw new \w*Error\(.*\)|process\.exit\(\s*[1-9]\d*\s*\)|console\.error\([^()]*\))\s*;?$",
);
static SCRIPT_FUNCTION: ConstantPattern = ConstantPattern::new(
    r"^(?:export\s+)?(?:async\s+)?(?:function\s+(?P<name>\w+)\s*\(.*\)\s*\{\}?|(?:const|let|var)\s+(?P<bound>\w+)\s*=\s*(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>\s*\{(?:\};?)?)$",
);
static SCRIPT_CALL: ConstantPattern =
    ConstantPattern::new(r"^(?:await\s+|process\.exit\()?(?P<name>\w+)\(\)\)?\s*;?$");

/// Statements of languages without a table of their own.
static OTHER_IDLE: ConstantPattern = ConstantPattern::new(
    r"^(?:exit(?:\(?\s*0?\s*\)?)?|os\.exit\(\s*0?\s*\)|true|pass|puts\b[^;&|`$()#]*|print\([^()]*\)|print\s[^;$@()]*|echo\b[^;&|`$()]*|return\s+0|<\?php|\?>)\s*;?$",
);
static OTHER_END: ConstantPattern =
    ConstantPattern::new(r"^(?:exit(?:\(?\s*0?\s*\)?)?|os\.exit\(\s*0?\s*\))\s*;?$");
static OTHER_FAIL: ConstantPattern = ConstantPattern::new(
    r"^(?:exit\(?\s*[1-9]\d*\s*\)?|os\.exit\(\s*[1-9]\d*\s*\)|raise\b.*|die\b.*|abort\b.*)\s*;?$",
);

impl ScriptSyntax {
    fn of(path: &str, text: &str) -> Self {
        let language = language(path).or_else(|| language_of_first_line(path, text));
        let [ends, idle, fails, function, call] = match language {
            Some(TestLanguage::Shell) => [&SHELL_END, &SHELL_IDLE, &SHELL_FAIL, &SHELL_FUNCTION, &SHELL_CALL],
            Some(TestLanguage::Python) => {
                [&PYTHON_END, &PYTHON_IDLE, &PYTHON_FAIL, &PYTHON_FUNCTION, &PYTHON_CALL]
            }
            Some(TestLanguage::Script) => {
                [&SCRIPT_END, &SCRIPT_IDLE, &SCRIPT_FAIL, &SCRIPT_FUNCTION, &SCRIPT_CALL]
            }
            _ => [&OTHER_END, &OTHER_IDLE, &OTHER_FAIL, &NO_MATCH, &NO_MATCH],
        };
        let is_script = language == Some(TestLanguage::Script);
        let comments: &[&str] = if is_script { &["//", "/*", "*", "#!"] } else { &["#"] };
        Self { language, ends, idle, fails, function, call, comments }
    }

    /// Whether every statement that can run is one that cannot fail.
    fn is_idle(&self, text: &str) -> bool {
        let mut functions = IdleFunctions::default();
        for (is_indented, line) in self.statements(text) {
            if !is_indented {
                functions.current = None;
                if self.ends.is_match(line) {
                    return true;
                }
                if let Some(name) = self.function_name(line) {
                    functions.begin(name);
                    continue;
                }
            }
            let is_idle = self.idle.is_match(line) || self.calls_idle(line, &functions.names);
            if !is_idle && !functions.has_effect() {
                return false;
            }
        }
        true
    }

    /// Whether it does nothing but fail.
    fn only_fails(&self, text: &str) -> bool {
        let is_known = |line: &str| self.idle.is_match(line) || self.fails.is_match(line);
        self.statements(text).all(|(_, line)| is_known(line) || self.function_name(line).is_some())
    }

    /// The lines with code, trimmed, and whether each is indented.
    fn statements<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (bool, &'a str)> + 'a {
        let mut closing: Option<&str> = None;
        text.lines().filter_map(move |raw| {
            let line = raw.trim();
            if let Some(quotes) = closing {
                if line.contains(quotes) {
                    closing = None;
                }
                return None;
            }
            let is_comment = self.comments.iter().any(|it| line.starts_with(it));
            if line.is_empty() || is_comment {
                return None;
            }
            if self.language == Some(TestLanguage::Python)
                && let Some((quotes, rest)) = documentation(line)
            {
                closing = (!rest.contains(quotes)).then_some(quotes);
                return None;
            }
            Some((raw.starts_with([' ', '\t']), line))
        })
    }

    fn function_name<'a>(&self, line: &'a str) -> Option<&'a str> {
        let found = self.function.captures(line)?;
        Some(found.name("name").or_else(|| found.name("bound"))?.as_str())
    }

    fn calls_idle(&self, line: &str, idle: &BTreeSet<&str>) -> bool {
        let called = self.call.captures(line).and_then(|it| Some(it.name("name")?.as_str()));
        called.is_some_and(|it| idle.contains(it))
    }
}

/// The functions of a script in whose bodies nothing happens.
#[derive(Default)]
struct IdleFunctions<'a> {
    names: BTreeSet<&'a str>,
    current: Option<&'a str>,
}

impl<'a> IdleFunctions<'a> {
    fn begin(&mut self, name: &'a str) {
        self.names.insert(name);
        self.current = Some(name);
    }

    /// A statement that may fail: whether it belongs to a function, which then is not idle.
    fn has_effect(&mut self) -> bool {
        self.current.is_some_and(|it| {
            self.names.remove(it);
            true
        })
    }
}

/// The quotes of a text that documents a module or a function, and what follows them in the line.
fn documentation(line: &str) -> Option<(&'static str, &str)> {
    ["\"\"\"", "'''"].into_iter().find_map(|quotes| Some((quotes, line.strip_prefix(quotes)?)))
}

/// The language that the first line of a script without an ending names.
fn language_of_first_line(path: &str, text: &str) -> Option<TestLanguage> {
    let first = text.lines().next().filter(|it| it.starts_with("#!") && !file_name(path).contains('.'))?;
    let program = first.split(['/', ' ']).rfind(|it| !it.is_empty() && !it.starts_with('-'))?;
    Some(match program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.') {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => TestLanguage::Shell,
        "python" => TestLanguage::Python,
        "node" => TestLanguage::Script,
        _ => return None,
    })
}
