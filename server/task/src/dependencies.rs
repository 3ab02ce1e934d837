//! Dependencies between the items of a plan or a queue, as indices.

/// The nodes that wait for themselves through others, in ascending order; also those between two such cycles. `before`:
/// for each node, those that it waits for. Linear in nodes and edges.
pub fn cyclic(before: &[Vec<usize>]) -> Vec<usize> {
    let mut behind = vec![Vec::new(); before.len()];
    for (node, waits) in before.iter().enumerate() {
        for it in waits {
            if let Some(list) = behind.get_mut(*it) {
                list.push(node);
            }
        }
    }
    let all = vec![true; before.len()];
    let stuck = peeled(&all, before, &behind);
    let stuck = peeled(&stuck, &behind, before);
    stuck.iter().enumerate().filter(|(_, is_stuck)| **is_stuck).map(|(node, _)| node).collect()
}

/// Repeatedly removes each node without an open one in `before` from the nodes that `kept` selects, and returns the
/// rest.
fn peeled(kept: &[bool], before: &[Vec<usize>], behind: &[Vec<usize>]) -> Vec<bool> {
    let is_kept = |node: usize, kept: &[bool]| kept.get(node).copied().unwrap_or(false);
    let mut open: Vec<usize> =
        before.iter().map(|waits| waits.iter().filter(|it| is_kept(**it, kept)).count()).collect();
    let mut kept = kept.to_vec();
    let mut free: Vec<usize> = open
        .iter()
        .enumerate()
        .filter(|(node, count)| **count == 0 && is_kept(*node, &kept))
        .map(|(it, _)| it)
        .collect();
    while let Some(node) = free.pop() {
        if let Some(it) = kept.get_mut(node) {
            *it = false;
        }
        for next in behind.get(node).into_iter().flatten().filter(|it| is_kept(**it, &kept)) {
            let Some(count) = open.get_mut(*next) else { continue };
            *count = count.saturating_sub(1);
            if *count == 0 {
                free.push(*next);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::cyclic;

    #[test]
    fn only_members_of_a_cycle_are_found() {
        let check = |before: &[&[usize]], expect: &[usize]| {
            let before: Vec<Vec<usize>> = before.iter().map(|it| it.to_vec()).collect();
            assert_eq!(cyclic(&before), expect, "{before:?}");
        };
        check(&[], &[]);
        check(&[&[], &[0], &[1, 0]], &[]);
        check(&[&[0]], &[0]);
        check(&[&[1], &[0], &[0]], &[0, 1]);
        check(&[&[], &[2, 0], &[1], &[2], &[3]], &[1, 2]);
        check(&[&[1], &[2], &[0], &[]], &[0, 1, 2]);
        // Twice the same edge, and one that leads nowhere.
        check(&[&[1, 1], &[9]], &[]);
    }
}
