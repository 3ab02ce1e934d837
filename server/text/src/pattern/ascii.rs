//! Removes from a pattern everything that ASCII text cannot contain. On such text the rest finds what the whole pattern
//! finds.

use std::fmt::{self, Write as _};

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look, Repetition};

const LAST_ASCII: u8 = 0x7f;

/// The restricted pattern; one that cannot be parsed is returned unchanged.
pub(super) fn restrict(pattern: &str) -> String {
    let mut out = String::new();
    let written = regex_syntax::parse(pattern).is_ok_and(|it| write(&mut out, &it).is_ok());
    if written { out } else { pattern.to_owned() }
}

/// Groups are written here: the printer of `regex_syntax` writes `(?:a{3})?` as `a{3}?`, which is something else.
fn write(out: &mut String, hir: &Hir) -> fmt::Result {
    match hir.kind() {
        HirKind::Literal(literal) if !literal.0.is_ascii() => write!(out, "{}", Hir::fail()),
        HirKind::Empty | HirKind::Literal(_) => write!(out, "{hir}"),
        HirKind::Class(class) => write!(out, "{}", Hir::class(Class::Bytes(ascii_of(class)))),
        HirKind::Look(look) => write!(out, "{}", Hir::look(ascii_look(*look))),
        HirKind::Repetition(it) => write_repetition(out, it),
        HirKind::Capture(it) => {
            out.push('(');
            if let Some(name) = &it.name {
                write!(out, "?P<{name}>")?;
            }
            write(out, &it.sub)?;
            out.push(')');
            Ok(())
        }
        HirKind::Concat(parts) => parts.iter().try_for_each(|it| write(out, it)),
        HirKind::Alternation(parts) => {
            for (index, part) in parts.iter().enumerate() {
                out.push_str(if index == 0 { "(?:" } else { "|" });
                write(out, part)?;
            }
            out.push(')');
            Ok(())
        }
    }
}

fn write_repetition(out: &mut String, it: &Repetition) -> fmt::Result {
    out.push_str("(?:");
    write(out, &it.sub)?;
    match it.max {
        Some(max) => write!(out, "){{{},{max}}}", it.min)?,
        None => write!(out, "){{{},}}", it.min)?,
    }
    if !it.greedy {
        out.push('?');
    }
    Ok(())
}

/// The characters of a class that are ASCII.
fn ascii_of(class: &Class) -> ClassBytes {
    let range = |start: u32, end: u32| {
        let (start, end) = (u8::try_from(start).ok()?, u8::try_from(end.min(LAST_ASCII.into())).ok()?);
        (start <= LAST_ASCII).then(|| ClassBytesRange::new(start, end))
    };
    match class {
        Class::Unicode(it) => {
            ClassBytes::new(it.iter().filter_map(|it| range(it.start().into(), it.end().into())))
        }
        Class::Bytes(it) => {
            ClassBytes::new(it.iter().filter_map(|it| range(it.start().into(), it.end().into())))
        }
    }
}

/// The same assertion without tables of Unicode. Negated ones could split a character, which patterns of strings must not.
fn ascii_look(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        other => other,
    }
}
