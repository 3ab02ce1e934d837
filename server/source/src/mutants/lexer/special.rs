//! Finds the end of string literals that begin with more than a quote: raw strings, long brackets, sigils.

use super::super::syntax::SpecialText;
use super::literals::delimited_length;
use super::word_length;

/// The context before a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiteralContext {
    pub(super) follows_operand: bool,
    pub(super) follows_space: bool,
}

pub(super) fn length(special: SpecialText, rest: &str, context: LiteralContext) -> Option<usize> {
    match special {
        SpecialText::Rust => rust_raw_string(rest).or_else(|| rust_character(rest)),
        SpecialText::Cpp => cpp_raw_string(rest),
        SpecialText::Swift => between_hashes(rest),
        SpecialText::Lua => lua_long_bracket(rest),
        SpecialText::Ruby => ruby_percent(rest, context),
        SpecialText::Elixir => elixir_sigil(rest),
        SpecialText::Php | SpecialText::None => None,
    }
}

/// `r#"…"#`, `br"…"`
fn rust_raw_string(text: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].into_iter().find_map(|it| text.strip_prefix(it))?;
    Some(text.len() - start.len() + between_hashes(start).or_else(|| unescaped_length(start))?)
}

/// `"…"` without escapes
fn unescaped_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('"')?;
    Some(inner.find('"').map_or(text.len(), |it| it + 2))
}

/// `#"…"#`
fn between_hashes(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let inner = text.get(hashes..)?.strip_prefix('"').filter(|_| hashes > 0)?;
    let close = format!("\"{}", "#".repeat(hashes));
    let opened = text.len() - inner.len();
    Some(inner.find(&close).map_or(text.len(), |it| opened + it + close.len()))
}

/// `'a'` and `'\n'`; `'a` alone is a lifetime, which is never an operand.
fn rust_character(text: &str) -> Option<usize> {
    /// `\u{10ffff}'`
    const MAX_ESCAPE_BYTES: usize = 11;
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        // The second character is escaped, and may be a quote.
        let close = inner.char_indices().take(MAX_ESCAPE_BYTES).skip(2).find(|(_, it)| *it == '\'');
        return Some(1 + close.map_or(1, |(at, _)| at + 1));
    }
    let is_closed = inner.get(first.len_utf8()..)?.starts_with('\'');
    Some(if is_closed { first.len_utf8() + 2 } else { 1 + word_length(inner) })
}

/// `R"name(…)name"`
fn cpp_raw_string(text: &str) -> Option<usize> {
    const MAX_NAME_BYTES: usize = 16;
    let start = ["R", "u8R", "LR", "uR", "UR"].into_iter().find_map(|it| text.strip_prefix(it))?;
    let inner = start.strip_prefix('"')?;
    let (name, _) = inner.char_indices().take(MAX_NAME_BYTES + 1).find(|(_, it)| *it == '(')?;
    let close = format!("){}\"", inner.get(..name)?);
    let opened = text.len() - inner.len();
    Some(inner.find(&close).map_or(text.len(), |it| opened + it + close.len()))
}

/// `[[…]]`, `[==[…]==]`
pub(super) fn lua_long_bracket(text: &str) -> Option<usize> {
    let start = text.strip_prefix('[')?;
    let level = start.len() - start.trim_start_matches('=').len();
    start.get(level..)?.strip_prefix('[')?;
    let close = format!("]{}]", "=".repeat(level));
    Some(text.find(&close).map_or(text.len(), |it| it + close.len()))
}

/// `%w[…]`, `%(…)`, `%r{…}`; a remainder follows an operand.
fn ruby_percent(text: &str, context: LiteralContext) -> Option<usize> {
    let start = text.strip_prefix('%')?;
    let named = start.trim_start_matches(|it: char| "wWiIqQrsx".contains(it));
    let name = start.len() - named.len();
    let is_bracket = named.starts_with(['(', '[', '{', '<']);
    let is_text = is_bracket || named.starts_with(['|', '!', '/']);
    let may_begin = !context.follows_operand || (name == 1 && is_bracket && context.follows_space);
    if name > 1 || !is_text || !may_begin {
        return None;
    }
    Some(1 + name + delimited_length(named)?)
}

/// `~r/…/`, `~S"""…"""`
fn elixir_sigil(text: &str) -> Option<usize> {
    let start = text.strip_prefix('~')?;
    let body = start.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    let name = 1 + start.len() - body.len();
    if name == 1 {
        return None;
    }
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = body.strip_prefix(quote) {
            return Some(inner.find(quote).map_or(text.len(), |it| name + it + 2 * quote.len()));
        }
    }
    body.starts_with(['/', '|', '"', '\'', '(', '[', '{', '<'])
        .then(|| delimited_length(body).map(|it| name + it))?
}
