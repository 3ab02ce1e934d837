//! Lexical syntax of the languages: comments and strings.

/// Comments and strings of a language.
#[derive(Debug)]
pub(super) struct SourceSyntax {
    pub(super) family: SourceFamily,
    endings: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// The longest first.
    pub(super) quotes: &'static [&'static str],
    /// Quotes whose text may span lines.
    pub(super) long_quotes: &'static [&'static str],
    /// Quotes in which a backslash is an ordinary character.
    pub(super) raw_quotes: &'static [&'static str],
}

/// The rules that apply in addition to those for operators and constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceFamily {
    Rust,
    Python,
    Script,
    Go,
    Other,
}

const C: SourceSyntax = SourceSyntax {
    family: SourceFamily::Other,
    endings: &["c", "h", "cc", "cpp", "cxx", "hpp", "java", "kt", "cs", "swift", "scala", "dart", "zig", "m"],
    line_comments: &["//", "#"],
    block_comment: Some(("/*", "*/")),
    quotes: &["\"\"\"", "\"", "'"],
    long_quotes: &["\"\"\""],
    raw_quotes: &[],
};

const SYNTAXES: &[SourceSyntax] = &[
    SourceSyntax {
        family: SourceFamily::Rust,
        endings: &["rs"],
        line_comments: &["//"],
        quotes: &["\""],
        long_quotes: &["\""],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Python,
        endings: &["py", "pyx"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"\"\"", "'''", "\"", "'"],
        long_quotes: &["\"\"\"", "'''"],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Script,
        endings: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
        line_comments: &["//"],
        quotes: &["`", "\"", "'"],
        long_quotes: &["`"],
        ..C
    },
    SourceSyntax {
        family: SourceFamily::Go,
        endings: &["go"],
        line_comments: &["//"],
        quotes: &["`", "\"", "'"],
        long_quotes: &["`"],
        raw_quotes: &["`"],
        ..C
    },
    C,
    SourceSyntax { endings: &["php"], long_quotes: &["\"", "'"], quotes: &["\"", "'"], ..C },
    SourceSyntax {
        endings: &["rb", "ex", "exs", "pl", "pm", "jl", "nim", "r", "R", "cr"],
        line_comments: &["#"],
        block_comment: None,
        ..C
    },
    SourceSyntax { endings: &["lua"], line_comments: &["--"], block_comment: Some(("--[[", "]]")), ..C },
];

pub(super) fn of_path(path: &str) -> Option<&'static SourceSyntax> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let is_generated = stem.ends_with("_pb2")
        || stem.rsplit('.').next().is_some_and(|it| matches!(it, "min" | "d") && it != stem);
    SYNTAXES.iter().filter(|_| !is_generated).find(|it| it.endings.contains(&ending))
}

/// Words at the beginning of a line that declares something and computes nothing.
pub(super) const DECLARATIONS: &[&str] = &[
    "import",
    "from",
    "use",
    "using",
    "package",
    "require",
    "include",
    "mod",
    "type",
    "interface",
    "#",
    "@",
    "extern",
    "namespace",
    "typedef",
    "impl",
    "trait",
    "assert",
];

/// Words that are followed by an operand, so that an operator after them is not binary.
pub(super) const KEYWORDS: &[&str] = &[
    "return",
    "in",
    "and",
    "or",
    "not",
    "if",
    "elif",
    "else",
    "while",
    "for",
    "yield",
    "await",
    "match",
    "case",
    "switch",
    "when",
    "is",
    "lambda",
    "let",
    "mut",
    "const",
    "var",
    "def",
    "fn",
    "func",
    "function",
    "new",
    "delete",
    "typeof",
    "throw",
    "raise",
    "break",
    "continue",
    "del",
    "global",
    "nonlocal",
    "with",
    "try",
    "except",
    "finally",
    "class",
    "struct",
    "enum",
    "pub",
    "static",
    "async",
    "unsafe",
    "loop",
    "go",
    "defer",
    "range",
    "select",
    "do",
    "then",
    "fi",
    "done",
    "local",
    "export",
    "echo",
    "void",
    "as",
    "where",
    "dyn",
    "ref",
    "move",
    "default",
    "pass",
    "assert",
    "catch",
    "public",
    "private",
    "protected",
];
