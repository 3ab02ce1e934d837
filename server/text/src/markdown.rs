//! Escapes text for a Markdown page, such as the body of a pull request on GitHub.

/// Separates what a viewer would otherwise turn into a link or a mention. A backslash is not enough, because GitHub
/// looks for both in the rendered text. Shown as nothing.
const SEPARATOR: &str = "&#8203;";

/// Escapes one line of text, so that Markdown shows it unchanged: no emphasis, link, image, HTML, entity, heading, list,
/// mention of a user, or reference to an issue. Words between backticks stay code, in which nothing is active.
pub fn escaped(line: &str) -> String {
    let line = line.trim_start();
    let mut out = String::with_capacity(line.len() + 8);
    let mut code_end = 0;
    for (at, char) in line.char_indices() {
        let (before, rest) = line.split_at(at);
        if at < code_end {
            continue;
        }
        if let Some(code) = code_span(rest) {
            out.push_str(code);
            code_end = at + code.len();
            continue;
        }
        match char {
            '_' if is_within_word(before, rest) => out.push('_'),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => out.extend(['\\', char]),
            '#' | '>' | '-' | '+' | '=' if at == 0 => out.extend(['\\', char]),
            // A numbered list.
            '.' | ')' if is_list_marker(before, rest) => out.extend(['\\', char]),
            // The next character begins the address that a viewer links.
            '.' if ends_with_word(before, "www") => out.extend([SEPARATOR, "."]),
            _ => out.push(char),
        }
        if is_reference(before, char, rest) {
            out.push_str(SEPARATOR);
        }
    }
    out
}

/// The words between backticks at the beginning of a text, with both backticks.
fn code_span(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('`')?;
    let (code, after) = inside.split_once('`')?;
    // A bar would end the cell of a table.
    let is_plain = !code.trim().is_empty() && !code.contains('|') && !after.starts_with('`');
    is_plain.then(|| text.get(..code.len() + 2)).flatten()
}

/// Whether an underscore is in the middle of a name, where it emphasises nothing.
fn is_within_word(before: &str, rest: &str) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    is_word(before.chars().next_back()) && is_word(rest.chars().nth(1))
}

/// Whether a number and this character begin an item of a list.
fn is_list_marker(before: &str, rest: &str) -> bool {
    let is_number = !before.is_empty() && before.bytes().all(|it| it.is_ascii_digit());
    is_number && rest.chars().nth(1).is_none_or(char::is_whitespace)
}

/// Whether a viewer makes a mention, a reference or a link of this character and those after it.
fn is_reference(before: &str, char: char, rest: &str) -> bool {
    let is_next = |fits: fn(&char) -> bool| rest.chars().nth(1).is_some_and(|it| fits(&it));
    match char {
        '@' => is_next(|it| it.is_alphanumeric()),
        '#' => is_next(char::is_ascii_digit),
        '-' => ends_with_word(before, "gh") && is_next(char::is_ascii_digit),
        ':' => rest.starts_with("://"),
        _ => false,
    }
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let Some((before, end)) = text.len().checked_sub(word.len()).and_then(|it| text.split_at_checked(it))
    else {
        return false;
    };
    end.eq_ignore_ascii_case(word) && !before.ends_with(|it: char| it.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_shown_unchanged_and_nothing_in_it_is_active() {
        for (text, expected) in [
            ("plain words, 3 of 5 (60 %) - done.", "plain words, 3 of 5 (60 %) - done."),
            ("*bold* _it_ ~~no~~ a|b \\", r"\*bold\* \_it\_ \~\~no\~\~ a\|b \\"),
            ("a_b.rs __c__ _d", r"a_b.rs \_\_c\_\_ \_d"),
            ("run `a_b <c> @d #1 https://e` now", "run `a_b <c> @d #1 https://e` now"),
            ("`a|b` and ` @c", r"\`a\|b` and ` @&#8203;c"),
            ("``a`` @b ```sh", r"\`\`a\`\` @&#8203;b \`\`\`sh"),
            (r"\`@a\`", r"\\`@a\`"),
            ("[x](y) ![i](j)", r"\[x\](y) !\[i\](j)"),
            ("<img src=x> &amp; &#64;octocat", "&lt;img src=x> &amp;amp; &amp;#&#8203;64;octocat"),
            ("# a", r"\# a"),
            ("> a", r"\> a"),
            ("- a", r"\- a"),
            ("+ a", r"\+ a"),
            ("=====", r"\====="),
            ("    code", "code"),
            ("1. a", r"1\. a"),
            ("12) a", r"12\) a"),
            ("3.", r"3\."),
            ("1.5 s", "1.5 s"),
            ("@octocat and @org/team", "@&#8203;octocat and @&#8203;org/team"),
            ("me@example.org", "me@&#8203;example.org"),
            ("a @ b", "a @ b"),
            ("fixes #12, a#3, gh-7, GH-8", "fixes #&#8203;12, a#&#8203;3, gh-&#8203;7, GH-&#8203;8"),
            ("#12", r"\#&#8203;12"),
            ("C# and high-7", "C# and high-7"),
            ("see https://a.example/b?c", "see https:&#8203;//a.example/b?c"),
            ("ftp://a mailto:me@a.example", "ftp:&#8203;//a mailto:me@&#8203;a.example"),
            ("www.a.example WWW.b awww.c", "www&#8203;.a.example WWW&#8203;.b awww.c"),
            ("std::fs::read 14:03", "std::fs::read 14:03"),
            ("", ""),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
    }
}
