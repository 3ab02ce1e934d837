//! Joins words and clauses into sentences: `a, b and 3 more`, `first; second`. Separators are translated too, because
//! Chinese has its own.

use std::fmt::Display;

use crate::tr;

/// `a, b`
pub fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    join(items, |list, item| tr!("{list}, {item}", list, item))
}

/// `a, b and 3 more`, of which at most `max` are named.
pub fn list_within<T: Display>(items: &[T], max: usize) -> String {
    and_more(list(items.get(..max).unwrap_or(items)), items.len().saturating_sub(max))
}

/// `a, b and 3 more`, where some are left out.
pub fn and_more(list: String, more: usize) -> String {
    if more == 0 { list } else { tr!("{list} and {more} more", list, more) }
}

/// `it works, it is tested`
pub fn join_with_commas<T: Display>(clauses: impl IntoIterator<Item = T>) -> String {
    join(clauses, |first, second| tr!("{first}, {second}", first, second))
}

/// `a and b`
pub fn join_with_and<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    join(items, |first, second| tr!("{first} and {second}", first, second))
}

/// `it works; it is tested`
pub fn join_clauses<T: Display>(clauses: impl IntoIterator<Item = T>) -> String {
    join(clauses, append_clause)
}

/// The sentence with one more clause.
pub fn append_clause(first: &str, second: &str) -> String {
    tr!("{first}; {second}", first, second)
}

/// The sentence with all further clauses, or alone if there are none.
pub fn append_clauses<S: AsRef<str>>(sentence: String, clauses: impl IntoIterator<Item = S>) -> String {
    clauses.into_iter().fold(sentence, |all, clause| append_clause(&all, clause.as_ref()))
}

fn join<T: Display>(items: impl IntoIterator<Item = T>, append: impl Fn(&str, &str) -> String) -> String {
    let items = items.into_iter().map(|it| it.to_string());
    items.reduce(|all, item| append(&all, &item)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{append_clause, append_clauses, join_clauses, join_with_commas, list, list_within};
    use crate::language::Language;

    #[test]
    fn items_and_clauses_are_joined_in_each_language() {
        let all = || {
            let items = ["a", "b", "c"];
            [
                list(items),
                list_within(&items, 1),
                list_within(&items, 3),
                join_with_commas(items),
                join_clauses(items),
                append_clause("a", "b"),
                append_clauses("a".to_owned(), Some("b")),
                list::<&str>([]),
            ]
        };
        let english = ["a, b, c", "a and 2 more", "a, b, c", "a, b, c", "a; b; c", "a; b", "a; b", ""];
        assert_eq!(all(), english);
        let chinese = ["a、b、c", "a 以及另外 2 项", "a、b、c", "a，b，c", "a；b；c", "a；b", "a；b", ""];
        assert_eq!(Language::SimplifiedChinese.during(all), chinese);
    }
}
