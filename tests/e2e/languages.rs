//! Every text for people has its translation: the templates of `tr!`, `tr_later!` and `counted` in the sources against
//! the tables of translations, with the same placeholders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::cli::{Ran, Terminal};
use crate::structure::{files, root};
use loopkeeper_text::language::english_prose;

/// The templates in one source, in order.
fn templates(source: &str) -> Vec<String> {
    let production = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = production.lines().filter(|it| !it.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let marked = ["tr!(", "tr_later!("].iter().flat_map(|call| {
        code.match_indices(call)
            .filter(|(at, _)| !code[..*at].ends_with(|it: char| it.is_alphanumeric() || it == '_'))
            .filter_map(|(at, _)| template(code[at + call.len()..].trim_start()))
    });
    let counted = code.match_indices("counted(").filter_map(|(at, call)| {
        let arguments = &code[at + call.len()..];
        Some(format!("{{count}} {}", literal(second_argument(arguments)?)?))
    });
    marked.collect::<Vec<_>>().into_iter().chain(counted).collect()
}

/// The text after the first comma that is not in parentheses.
fn second_argument(arguments: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, char) in arguments.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return Some(arguments[at + 1..].trim_start()),
            _ => {}
        }
    }
    None
}

/// The key of the text at the start of `code`: `"a"` or `"a" @ "context"`.
fn template(code: &str) -> Option<String> {
    let (text, rest) = literal_and_rest(code)?;
    match rest.trim_start().strip_prefix('@') {
        Some(context) => Some(format!("{text} @ {}", literal(context.trim_start())?)),
        None => Some(text),
    }
}

fn literal(code: &str) -> Option<String> {
    literal_and_rest(code).map(|(text, _)| text)
}

/// The value of a string literal at the start of `code`, and what follows it.
fn literal_and_rest(code: &str) -> Option<(String, &str)> {
    let mut chars = code.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some((text, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '\n' => chars = chars.as_str().trim_start().chars(),
                'u' => {
                    let digits: String = chars.by_ref().skip(1).take_while(|it| *it != '}').collect();
                    text.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)?);
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

/// The names in braces.
fn placeholders(template: &str) -> BTreeSet<String> {
    let plain = template.replace("{{", "").replace("}}", "");
    plain.split('{').skip(1).filter_map(|it| it.split_once('}')).map(|(name, _)| name.to_owned()).collect()
}

fn sources() -> BTreeMap<String, String> {
    let rust = files(&root().join("server"), &["rs"]);
    let is_test = |path: &Path| path.iter().any(|it| it == "tests" || it == "tests.rs");
    let templates_of = |path: &Path| templates(&fs::read_to_string(path).unwrap());
    rust.iter()
        .filter(|it| !is_test(it))
        .flat_map(|it| templates_of(it).into_iter().map(|text| (text, it.display().to_string())))
        .collect()
}

fn translations() -> BTreeMap<String, String> {
    let tables = files(&root().join("server/text/locales/zh-cn"), &["json"]);
    let read = |path: &Path| -> BTreeMap<String, String> {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    tables.iter().flat_map(|it| read(it)).collect()
}

#[test]
fn every_text_has_a_translation() {
    let (sources, translations) = (sources(), translations());
    let missing: Vec<_> = sources.iter().filter(|(text, _)| !translations.contains_key(*text)).collect();
    assert!(missing.is_empty(), "without a translation: {missing:#?}");
    assert!(sources.len() > 1000, "few templates were found: {}", sources.len());
}

#[test]
fn every_translation_has_a_text() {
    let sources = sources();
    let unused: Vec<String> = translations().into_keys().filter(|it| !sources.contains_key(it)).collect();
    assert_eq!(unused, [""; 0]);
}

#[test]
fn a_translation_has_the_placeholders_of_its_text() {
    for (text, translation) in translations() {
        assert_eq!(placeholders(&translation), placeholders(&text), "{text:?}: {translation:?}");
        assert!(!translation.trim().is_empty(), "{text:?}");
    }
}

#[test]
fn templates_are_found_in_sources() {
    let check = |source: &str, expect: &[&str]| assert_eq!(templates(source), expect, "{source}");
    check("let it = tr!(\"a {b}\", b = c(1));", &["a {b}"]);
    check("$crate::tr!(\n    \"a \\\"b\\\" \\\n        c\",\n)", &["a \"b\" c"]);
    check("str!(\"a\") tr_later!(\"b\") // tr!(\"c\")", &["c", "b"]);
    check("tr!(\"open\" @ \"plan\")", &["open @ plan"]);
    check("// tr!(\"a\")\n#[cfg(test)]\nmod tests {\n tr!(\"b\") }", &[]);
    check("counted(it.len() as u64, \"file\") + &counted(max(a, b), name)", &["{count} file"]);
    check("tr!(\"\\u{201c}{a}\\u{201d}\", a)", &["\u{201c}{a}\u{201d}"]);
    assert_eq!(placeholders("{{a}} {b} {c}"), BTreeSet::from(["b".to_owned(), "c".to_owned()]));
}

/// What a person reads of a whole loop, in the language of the locale.
#[test]
fn a_loop_speaks_the_language_of_the_locale() {
    let terminal = Terminal::new();
    terminal
        .file("PROMPT.md", "# 求和\n\n## Done when\n\n- 文件存在：`exists done`\n")
        .file("loopkeeper.toml", "agent = \"mine\"\n[agents.mine]\ncommand = [\"touch\", \"done\"]\n");
    let run = |args: &[&str], locale: &str| {
        Ran::of(&terminal.command(args).env("LANG", locale).output().expect("the binary starts")).stdout
    };
    let ran = run(&["run", "--trust"], "zh_CN.UTF-8");
    assert!(ran.contains("已完成，已验证"), "{ran}");
    for args in [["status"], ["log"]] {
        let shown = run(&args, "zh_CN.UTF-8");
        assert_eq!(english_prose(&shown, &[]), None, "{args:?}: {shown}");
    }
    assert!(run(&["status"], "C.UTF-8").contains("Tasks here"), "the reader's language counts");
    terminal.file("../home/.config/loopkeeper/config.toml", "language = \"zh-CN\"\n");
    assert!(!run(&["status"], "C.UTF-8").contains("Tasks here"), "the user's configuration counts more");
}
