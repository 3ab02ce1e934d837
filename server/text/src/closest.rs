//! "Did you mean": finds the known word nearest to an unknown one.

/// The candidate with the fewest typos relative to `word`, if they are few for its length.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const MAX_CHARS: usize = 40;
    if word.chars().count() > MAX_CHARS {
        return None;
    }
    let word = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let max = 1 + candidate.len() / 4;
            let typos = distance(&word, &plain(candidate), max);
            (typos <= max).then_some((typos, candidate))
        })
        .min_by_key(|(typos, _)| *typos)
        .map(|(_, candidate)| candidate)
}

/// Whether two words differ by at most `max` typos.
pub fn is_within(max: usize, word: &str, candidate: &str) -> bool {
    // Every inline code span of a document is compared, and few are short enough to match.
    word.len() <= (candidate.len() + max) * char::MAX.len_utf8()
        && distance(&plain(word), &plain(candidate), max) <= max
}

/// Case and the choice between `-` and `_` do not count as typos.
fn plain(word: &str) -> Vec<char> {
    word.chars().map(|it| if it == '-' { '_' } else { it.to_ascii_lowercase() }).collect()
}

/// A prefix of a word counts as one typo. Above `max` the exact distance is not computed.
fn distance(word: &[char], candidate: &[char], max: usize) -> usize {
    const MIN_PREFIX_CHARS: usize = 4;
    let beginning = word.len() >= MIN_PREFIX_CHARS && candidate.starts_with(word) && candidate != word;
    match word.len().abs_diff(candidate.len()) {
        _ if beginning => 1,
        // Each extra character counts as a typo.
        difference if difference > max => difference,
        _ => edit_distance(word, candidate),
    }
}

/// Edit distance in which swapping two adjacent characters counts once.
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let (mut before, mut current) = (Vec::new(), Vec::with_capacity(last.len()));
    for (row, from) in left.iter().enumerate() {
        current.clear();
        current.push(row + 1);
        let mut left_of = row + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = at(&last, column) + usize::from(from != to);
            let mut best = replaced.min(at(&last, column + 1) + 1).min(left_of + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(to)
                && right.get(column - 1) == Some(from)
                && from != to;
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
            left_of = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut current);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_errors_find_the_intended_word() {
        let words = ["limits", "iterations", "iteration_time", "cost_usd", "keep"];
        let check = |word: &str, expect: Option<&str>| assert_eq!(closest(word, words), expect, "{word}");
        check("limtis", Some("limits"));
        check("iteration", Some("iterations"));
        check("Cost-USD", Some("cost_usd"));
        check("cost", Some("cost_usd"));
        check("kepe", Some("keep"));
        check("budget", None);
        check("", None);
        check(&"limits".repeat(1000), None);
    }
}
