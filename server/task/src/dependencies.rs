//! Dependencies between the items of a plan or a queue, as indices.

/// The nodes that depend on themselves through others, in ascending order; also those between two such cycles.
/// `dependencies` has, for each node, those that it depends on. Linear in nodes and edges.
pub fn find_cycle_members(dependencies: &[Vec<usize>]) -> Vec<usize> {
    let mut dependents = vec![Vec::new(); dependencies.len()];
    for (node, its) in dependencies.iter().enumerate() {
        for it in its {
            if let Some(list) = dependents.get_mut(*it) {
                list.push(node);
            }
        }
    }
    let all = vec![true; dependencies.len()];
    let stuck = without_free_nodes(&all, dependencies, &dependents);
    let stuck = without_free_nodes(&stuck, &dependents, dependencies);
    stuck.iter().enumerate().filter(|(_, is_stuck)| **is_stuck).map(|(node, _)| node).collect()
}

/// Of the nodes that `kept` selects, repeatedly removes each without an edge in `forward` to a kept one, and returns
/// the rest. `backward` has the same edges reversed.
fn without_free_nodes(kept: &[bool], forward: &[Vec<usize>], backward: &[Vec<usize>]) -> Vec<bool> {
    let is_kept = |node: usize, kept: &[bool]| kept.get(node).copied().unwrap_or(false);
    let mut open: Vec<usize> =
        forward.iter().map(|edges| edges.iter().filter(|it| is_kept(**it, kept)).count()).collect();
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
        for next in backward.get(node).into_iter().flatten().filter(|it| is_kept(**it, &kept)) {
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
    use super::find_cycle_members;

    #[test]
    fn only_members_of_a_cycle_are_found() {
        let check = |dependencies: &[&[usize]], expect: &[usize]| {
            let dependencies: Vec<Vec<usize>> = dependencies.iter().map(|it| it.to_vec()).collect();
            assert_eq!(find_cycle_members(&dependencies), expect, "{dependencies:?}");
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
