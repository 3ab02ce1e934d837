//! Detects code spans that are nearly a check and suggests the intended one. Prefers false negatives: an error on
//! innocent prose would prevent a task from starting, so a near miss needs a second sign of a check in addition to the
//! slip (a file name, a quoted pattern, an address, a program with its arguments).

use super::commands::{is_runner, looks_like_command};
use super::numbers;
use super::spans::{self, CodeSpanKind};
use loopkeeper_text::closest::is_within;

/// The corrected check, without backticks. `None`: ordinary inline code.
pub(super) fn suggest_check(code: &str) -> Option<String> {
    let code = code.trim();
    let found = suggest_command(code).or_else(|| suggest_word(code))?;
    let is_sound = matches!(spans::parse_exactly(&found), CodeSpanKind::Command(_) | CodeSpanKind::Word(_));
    (is_sound && found != code).then_some(found)
}

/// `$cargo test`, `$> make`, `＄ ./check.sh`. `$HOME` and `$name` are variables.
fn suggest_command(code: &str) -> Option<String> {
    let rest = code.strip_prefix(['$', '＄'])?;
    let command = rest.trim_start_matches([':', '>', '$']).trim();
    let has_wide_sign = code.starts_with('＄') && rest.starts_with(char::is_whitespace);
    let is_command = has_wide_sign || is_runner(command) || looks_like_command(command);
    (is_command && !command.is_empty()).then(|| ["$ ", command].concat())
}

/// `$check` as a whole item: a variable alone is no criterion, but prose may name it.
pub(super) fn suggest_lone_command(code: &str) -> Option<String> {
    let program = code.trim().strip_prefix('$')?;
    let is_lower = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_".contains(it);
    let is_program = program.starts_with(|it: char| it.is_ascii_lowercase()) && program.chars().all(is_lower);
    is_program.then(|| format!("$ {program}"))
}

fn suggest_word(code: &str) -> Option<String> {
    let (is_negated, code) = match code.strip_prefix('!').or_else(|| code.strip_prefix("not ")) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, code),
    };
    let (written, rest) = code.split_once(' ')?;
    let (written, rest) = (written.strip_suffix(':').unwrap_or(written), rest.trim());
    let verb = suggest_verb(written)?;
    let check_word = match (verb, is_negated) {
        (check_word, false) => check_word,
        ("exists", true) => "missing",
        ("missing", true) => "exists",
        ("has", true) => "lacks",
        ("lacks", true) => "has",
        _ => return None,
    };
    match verb {
        "exists" | "missing" => {
            let is_slip = !is_negated && written != verb && written.chars().all(|it| it.is_ascii_lowercase());
            // `exist x` is not a program's message, `Missing argument` is.
            let is_one_name = is_slip && written.len() + 1 >= verb.len() && is_lone_name(rest);
            (is_one_name || name_files(rest)).then(|| [check_word, " ", rest].concat())
        }
        "has" | "lacks" => {
            let checked = [check_word, " ", rest].concat();
            let pattern = rest.starts_with(['"', '/']);
            let names_file = rest.split_once(' ').is_some_and(|(_, files)| name_files(files));
            if pattern { Some(checked) } else { quote_pattern(&checked).filter(|_| names_file) }
        }
        "judge" => rest.contains(|it: char| it.is_ascii_digit()).then(|| format!("judge {rest}")),
        "GET" => suggest_address(rest).map(|url| format!("GET {url}")),
        _ => None,
    }
}

/// `has TODO src/**` lacks its quotes.
pub(super) fn quote_pattern(code: &str) -> Option<String> {
    let (verb, rest) = code.split_once(' ').filter(|(verb, _)| matches!(*verb, "has" | "lacks"))?;
    let (word, globs) =
        rest.trim_start().split_once(' ').filter(|(word, _)| !word.contains(['"', '/', '\\']))?;
    Some(format!("{verb} \"{word}\" {}", globs.trim_start()))
}

/// The check keyword that a misspelt word resembles.
fn suggest_verb(written: &str) -> Option<&'static str> {
    const SIMILAR_VERBS: [(&str, &str); 8] = [
        ("has", "has"),
        ("contains", "has"),
        ("contain", "has"),
        ("lacks", "lacks"),
        ("lack", "lacks"),
        ("judge", "judge"),
        ("judges", "judge"),
        ("get", "GET"),
    ];
    let alike =
        SIMILAR_VERBS.into_iter().find(|(word, _)| written.eq_ignore_ascii_case(word)).map(|(_, verb)| verb);
    alike.or_else(|| ["exists", "missing"].into_iter().find(|it| is_within(1, written, it)))
}

/// One plain word that is neither a number nor a sign.
fn is_lone_name(rest: &str) -> bool {
    let is_name = |it: char| it.is_alphanumeric() || "_-./*".contains(it);
    rest.contains(char::is_alphabetic) && rest.chars().all(is_name)
}

/// Whether every word has the form of a path or a glob: `src/**`, `README.md`, `.env`.
fn name_files(rest: &str) -> bool {
    let mut words = rest.split(' ').filter(|it| !it.is_empty()).peekable();
    let is_path = |word: &str| {
        let word = word.trim_matches('"');
        let inner = word.strip_prefix('.').unwrap_or(word);
        is_lone_name(word.trim_matches(['*', '/'])) && inner.contains(['.', '/', '*']) && !word.ends_with('.')
            || word.starts_with('.') && inner.starts_with(|it: char| it.is_ascii_alphanumeric())
    };
    words.peek().is_some() && words.all(is_path)
}

/// The request URL if the scheme is missing or misspelt: `localhost:3000`, `example.org/health`, `HTTP://127.0.0.1`.
/// `/users` and `users/1` are routes.
fn suggest_address(rest: &str) -> Option<String> {
    if rest.is_empty() || rest.contains(char::is_whitespace) || rest.starts_with('/') {
        return None;
    }
    let lower = rest.to_ascii_lowercase();
    for scheme in ["https", "http"] {
        if let Some(behind) = lower.strip_prefix(scheme).filter(|it| it.starts_with([':', '/'])) {
            if behind.starts_with(":///") {
                return None;
            }
            let host = rest.get(rest.len() - behind.len()..)?.trim_start_matches([':', '/']);
            return Some(format!("{scheme}://{host}"));
        }
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let has_port = port.is_some_and(|it| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit()));
    let is_numeric = host.split('.').count() == 4 && host.split('.').all(|it| it.parse::<u8>().is_ok());
    let has_path = authority.len() < rest.len();
    let is_domain = host.split_once('.').is_some_and(|(name, _)| !name.is_empty()) && !host.ends_with('.');
    let is_host = host.eq_ignore_ascii_case("localhost") || is_numeric || has_port || (is_domain && has_path);
    (is_host && !host.is_empty() && (port.is_none() || has_port)).then(|| format!("http://{rest}"))
}

/// The intended comparison for an operator that is not accepted: `> = 3`, `=> 5`, `≥ 80%`, `<> 0`.
pub(super) fn suggest_comparison(code: &str) -> Option<String> {
    let is_sign = |it: char| "=<>!≥≤≠".contains(it) || it == ' ';
    let number = code.trim_start_matches(is_sign);
    let written = code.get(..code.len() - number.len())?.trim();
    let signs: String = written.chars().filter(|it| *it != ' ').collect();
    let sign = match signs.as_str() {
        "=>" | "≥" => ">=",
        "=<" | "≤" => "<=",
        "=" | "===" => "==",
        "≠" | "<>" | "!==" | "=!" => "!=",
        ">=" if written != ">=" => ">=",
        "<=" if written != "<=" => "<=",
        "==" if written != "==" => "==",
        "!=" if written != "!=" => "!=",
        _ => return None,
    };
    let number = numbers::without_unit(number).unwrap_or_else(|| number.to_owned());
    numbers::parse_number(number.trim()).map(|_| format!("{sign} {}", number.trim()))
}

/// A differently written status after `GET`: `200 OK`, `HTTP 200`, `status: 404`.
pub(super) fn suggest_status(code: &str) -> Option<String> {
    if !code.contains(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let lower = code.to_ascii_lowercase();
    let words: Vec<&str> = lower.split([' ', ':', '=', '/']).filter(|it| !it.is_empty()).collect();
    let is_word = |it: &&&str| !it.chars().all(|it| it.is_ascii_digit() || it == '.');
    let is_code = |it: &&&str| it.len() == 3 && it.parse::<u16>().is_ok_and(|it| (100..600).contains(&it));
    let codes: Vec<&&str> = words.iter().filter(is_code).collect();
    let known = |it: &&str| {
        ["http", "status", "code", "ok", "created", "accepted", "not", "found", "no", "content"].contains(it)
    };
    let [only] = codes.as_slice() else { return None };
    let rest: Vec<&str> = words.iter().filter(is_word).copied().collect();
    (!rest.is_empty() && rest.iter().all(known)).then(|| (**only).to_owned())
}
