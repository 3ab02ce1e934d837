//! Names of files and the words in them.

/// Maximum number of words of a name that are compared.
const MAX_WORDS: usize = 8;

pub(crate) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Without the dot; empty if there is none.
pub(crate) fn extension(path: &str) -> &str {
    match file_name(path).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension,
        _ => "",
    }
}

/// The name up to its extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = file_name(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// `userLogin`, `user_login` and `UserLogin` have the words `user` and `login`. Marks of tests are left out.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut after_lower = false;
    for letter in name.chars() {
        let starts = letter.is_uppercase() && after_lower;
        if (starts || !letter.is_alphanumeric()) && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        if letter.is_alphanumeric() {
            current.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase() || letter.is_numeric();
    }
    if !current.is_empty() {
        words.push(current);
    }
    words.retain(|it| !matches!(it.as_str(), "test" | "tests" | "spec" | "specs"));
    words.truncate(MAX_WORDS);
    words.iter().map(|it| singular(it)).collect()
}

/// `dates` and `date` are one word.
pub(super) fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(it) if it.len() > 2 && !it.ends_with('s') => it.to_owned(),
        _ => word.to_owned(),
    }
}

/// More than one word by its form: `parse_date`, `parseDate`, `Auth::login`, `render()`.
pub(super) fn is_identifier(token: &str) -> bool {
    let mut before = ' ';
    token.chars().any(|it| {
        let found = it == '_' || (it.is_uppercase() && before.is_lowercase());
        before = it;
        found
    })
}
