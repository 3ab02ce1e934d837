//! The key `language`, which a program needs before it resolves the settings of a task.

use super::layer::{Layer, LayerKind};
use super::toml_layer;
use super::value::SettingValue;
use loopkeeper_text::language::Language;

/// The language that the user's own file sets; `None` without one, for `auto`, and for a file with errors, which the
/// first command that needs it reports.
pub fn configured_language(text: &str) -> Option<Language> {
    let layer = Layer { kind: LayerKind::User, file: String::new(), text: text.to_owned() };
    let assignments = toml_layer::parse_layer(&layer).assignments;
    let value = assignments.into_iter().find(|it| it.key.path == "language")?.value;
    match value {
        SettingValue::Text(tag) => Language::of_tag(&tag),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::configured_language;
    use loopkeeper_text::language::Language;

    #[test]
    fn the_file_sets_the_language() {
        let check = |text: &str, expect: Option<Language>| {
            assert_eq!(configured_language(text), expect, "{text}");
        };
        check("language = \"zh-CN\"", Some(Language::SimplifiedChinese));
        check("limits.iterations = 3\nlanguage = \"en\"", Some(Language::English));
        check("language = \"auto\"", None);
        check("", None);
        check("language = \"klingon\"", None);
        check("language = \"zh-CN\"\nx = [", None);
    }
}
