//! "Did you mean": the known word nearest to one that is not.

/// The candidate that differs from `word` by the fewest typing slips, if they are few for its length.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 40;
    if word.chars().count() > LONGEST {
        return None;
    }
    let word = plain(word);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(slips, candidate)| *slips <= 1 + candidate.len() / 4)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

/// How many typing slips lie between two words.
pub(crate) fn slips_between(word: &str, candidate: &str) -> usize {
    distance(&plain(word), &plain(candidate))
}

/// Case and the choice between `-` and `_` are no slips.
fn plain(word: &str) -> Vec<char> {
    word.chars().map(|it| if it == '-' { '_' } else { it.to_ascii_lowercase() }).collect()
}

/// The beginning of a word counts as one slip.
fn distance(word: &[char], candidate: &[char]) -> usize {
    const TELLING: usize = 4;
    let beginning = word.len() >= TELLING && candidate.starts_with(word) && candidate != word;
    if beginning { 1 } else { slips(word, candidate) }
}

/// Edit distance in which swapping two neighbours counts once.
fn slips(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, from) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&last, column) + usize::from(from != to);
            let mut best = replaced.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(to)
                && right.get(column - 1) == Some(from)
                && from != to;
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
        }
        before = last;
        last = current;
    }
    last.last().copied().unwrap_or(usize::MAX)
}
