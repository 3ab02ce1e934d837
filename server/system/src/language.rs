//! Selects the language of a process: `LOOPKEEPER_LANGUAGE`, which a program also passes to the keepers that it starts,
//! else the user's configuration, else the editor's locale, else the locale of the environment.

use std::path::Path;

use loopkeeper_core::settings::configured_language;
use loopkeeper_text::language::Language;

use super::config_files;
use super::config_text::read_text;

/// Holds a locale, such as `en` or `zh-CN`.
pub const VARIABLE: &str = "LOOPKEEPER_LANGUAGE";

/// Sets the language of this process; `client` is the locale of the editor, if it sent one.
pub fn set_process_language(client: Option<&str>) {
    let user_file = config_files::user_folder().map(|it| it.join("config.toml"));
    let variable = |name: &str| std::env::var(name).ok();
    resolve(variable, user_file.as_deref(), client).set_current();
}

fn resolve(
    variable: impl Fn(&str) -> Option<String>,
    user_file: Option<&Path>,
    client: Option<&str>,
) -> Language {
    let non_empty = |name: &str| variable(name).filter(|it| !it.is_empty());
    if let Some(locale) = non_empty(VARIABLE) {
        return Language::of_locale(&locale);
    }
    // A file that cannot be read is reported by the first command that needs it.
    let text = user_file.and_then(|it| read_text(it).ok().flatten());
    if let Some(language) = text.as_deref().and_then(configured_language) {
        return language;
    }
    let environment = || ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(non_empty);
    client
        .map(str::to_owned)
        .or_else(environment)
        .map_or_else(Language::default, |it| Language::of_locale(&it))
}

#[cfg(test)]
mod tests {
    use super::resolve;
    use loopkeeper_text::language::Language::{self, English, SimplifiedChinese};

    #[test]
    fn the_most_specific_source_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let check = |variables: &[(&str, &str)], config: &str, client: Option<&str>, expect: Language| {
            std::fs::write(&file, config).unwrap();
            let variable = |name: &str| {
                variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
            };
            let found = resolve(variable, Some(&file), client);
            assert_eq!(found, expect, "{variables:?} {config} {client:?}");
        };
        let chinese = ("LANG", "zh_CN.UTF-8");
        check(&[], "", None, English);
        check(&[chinese], "", None, SimplifiedChinese);
        check(&[chinese, ("LC_MESSAGES", "C.UTF-8")], "", None, English);
        check(&[chinese, ("LC_ALL", "")], "", None, SimplifiedChinese);
        check(&[chinese], "", Some("en"), English);
        check(&[], "", Some("zh-cn"), SimplifiedChinese);
        check(&[chinese], "language = \"en\"", Some("zh-cn"), English);
        check(&[chinese, ("LOOPKEEPER_LANGUAGE", "en")], "language = \"zh-CN\"", Some("zh-cn"), English);
        check(&[], "language = \"auto\"", Some("zh-cn"), SimplifiedChinese);
    }
}
