//! The table of languages.

use super::{BlockComment, ConditionForm, EscapeRule, QuoteStyle, SourceFamily, SourceSyntax, SpecialText};

const fn block(open: &'static str, close: &'static str) -> BlockComment {
    BlockComment { open, close, nests: false, is_at_line_start: false }
}

const fn nested(open: &'static str, close: &'static str) -> BlockComment {
    BlockComment { nests: true, ..block(open, close) }
}

/// Ends on its line, escapes with a backslash.
const fn short(quote: &'static str) -> QuoteStyle {
    QuoteStyle { open: quote, close: quote, escape: EscapeRule::Backslash, is_long: false, code: None }
}

const fn long(quote: &'static str) -> QuoteStyle {
    QuoteStyle { is_long: true, ..short(quote) }
}

const fn raw(quote: &'static str) -> QuoteStyle {
    QuoteStyle { escape: EscapeRule::None, ..long(quote) }
}

/// With code inside.
const fn with_code(quote: QuoteStyle, open: &'static str, close: char) -> QuoteStyle {
    QuoteStyle { code: Some((open, close)), ..quote }
}

const SLASH_STAR: &[BlockComment] = &[block("/*", "*/")];
const NESTED_SLASH_STAR: &[BlockComment] = &[nested("/*", "*/")];

const C: SourceSyntax = SourceSyntax {
    family: SourceFamily::CLike,
    endings: &["c", "h", "m"],
    line_comments: &["//", "#"],
    block_comments: SLASH_STAR,
    quotes: &[short("\""), short("'")],
    special: SpecialText::None,
    has_regex: false,
    condition: ConditionForm::Parentheses,
    code_marks: None,
};

const RUBY: SourceSyntax = SourceSyntax {
    family: SourceFamily::Other,
    endings: &["rb", "cr"],
    line_comments: &["#"],
    block_comments: &[BlockComment { is_at_line_start: true, ..block("=begin", "=end") }],
    quotes: &[with_code(long("\""), "#{", '}'), long("'"), with_code(long("`"), "#{", '}')],
    special: SpecialText::Ruby,
    has_regex: true,
    condition: ConditionForm::Line,
    ..C
};

/// `$((…))`
pub(in super::super) const ARITHMETIC: SourceSyntax = SourceSyntax {
    family: SourceFamily::Shell,
    endings: &[],
    line_comments: &[],
    block_comments: &[],
    quotes: &[],
    condition: ConditionForm::None,
    ..C
};

/// The first with the ending of a file counts.
pub(super) const SYNTAXES: &[SourceSyntax] = &[
    SourceSyntax {
        family: SourceFamily::Rust,
        endings: &["rs"],
        line_comments: &["//"],
        block_comments: NESTED_SLASH_STAR,
        quotes: &[long("\"")],
        special: SpecialText::Rust,
        condition: ConditionForm::Until("{"),
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Python,
        endings: &["py", "pyx"],
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[long("\"\"\""), long("'''"), short("\""), short("'")],
        condition: ConditionForm::NotUntil(":"),
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Script,
        endings: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
        line_comments: &["//"],
        quotes: &[with_code(long("`"), "${", '}'), short("\""), short("'")],
        has_regex: true,
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Go,
        endings: &["go"],
        line_comments: &["//"],
        quotes: &[raw("`"), short("\""), short("'")],
        condition: ConditionForm::Until("{"),
        ..C
    },
    C,
    SourceSyntax { endings: &["cc", "cpp", "cxx", "hpp", "hh", "hxx"], special: SpecialText::Cpp, ..C },
    SourceSyntax { endings: &["java"], quotes: &[long("\"\"\""), short("\""), short("'")], ..C },
    SourceSyntax {
        endings: &["cs"],
        quotes: &[
            QuoteStyle { close: "\"", escape: EscapeRule::Doubled, ..long("$@\"") },
            QuoteStyle { close: "\"", escape: EscapeRule::Doubled, ..long("@$\"") },
            QuoteStyle { close: "\"", escape: EscapeRule::Doubled, ..long("@\"") },
            raw("\"\"\""),
            with_code(QuoteStyle { close: "\"", ..short("$\"") }, "{", '}'),
            short("\""),
            short("'"),
        ],
        ..C
    },
    SourceSyntax {
        endings: &["php"],
        quotes: &[with_code(long("\""), "{$", '}'), long("'"), long("`")],
        special: SpecialText::Php,
        code_marks: Some(("<?", "?>")),
        ..C
    },
    SourceSyntax {
        endings: &["dart"],
        block_comments: NESTED_SLASH_STAR,
        quotes: &[
            with_code(long("\"\"\""), "${", '}'),
            with_code(long("'''"), "${", '}'),
            with_code(short("\""), "${", '}'),
            with_code(short("'"), "${", '}'),
        ],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["kt", "kts", "scala", "groovy"],
        line_comments: &["//", "#!"],
        block_comments: NESTED_SLASH_STAR,
        quotes: &[with_code(raw("\"\"\""), "${", '}'), with_code(short("\""), "${", '}'), short("'")],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["swift"],
        line_comments: &["//", "#if", "#else", "#endif", "#available"],
        block_comments: NESTED_SLASH_STAR,
        quotes: &[with_code(long("\"\"\""), "\\(", ')'), with_code(short("\""), "\\(", ')')],
        special: SpecialText::Swift,
        condition: ConditionForm::Until("{"),
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["zig"],
        line_comments: &["//", "\\\\"],
        block_comments: &[],
        ..C
    },
    RUBY,
    SourceSyntax {
        endings: &["ex", "exs"],
        block_comments: &[],
        quotes: &[
            with_code(long("\"\"\""), "#{", '}'),
            with_code(long("'''"), "#{", '}'),
            with_code(long("\""), "#{", '}'),
            with_code(long("'"), "#{", '}'),
        ],
        special: SpecialText::Elixir,
        has_regex: false,
        condition: ConditionForm::Until("do"),
        ..RUBY
    },
    SourceSyntax {
        family: SourceFamily::Lua,
        endings: &["lua"],
        line_comments: &["--"],
        block_comments: &[],
        special: SpecialText::Lua,
        condition: ConditionForm::NotUntil("then"),
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["r", "R"],
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[long("\""), long("'"), short("`")],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["jl"],
        line_comments: &["#"],
        block_comments: &[nested("#=", "=#")],
        quotes: &[with_code(long("\"\"\""), "$(", ')'), with_code(long("\""), "$(", ')'), short("'")],
        condition: ConditionForm::Line,
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Other,
        endings: &["nim"],
        line_comments: &["#"],
        block_comments: &[nested("#[", "]#")],
        quotes: &[raw("\"\"\""), short("\""), short("'")],
        condition: ConditionForm::NotUntil(":"),
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Awk,
        endings: &["awk"],
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[short("\"")],
        has_regex: true,
        ..C
    },
];
