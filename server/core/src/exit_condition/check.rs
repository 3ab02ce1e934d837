//! Analyses an expression over all combinations of its conditions' values: whether it can hold, whether it can fail,
//! and whether it depends on the checks.

use super::{Atom, Expression, ExpressionNode, Quantity};
use loopkeeper_text::tr;

/// There are at most two to this power combinations.
const MAX_ATOMS: usize = 16;

/// Whether the expression can only hold while every required criterion does. Otherwise a loop that it ends counts as
/// claimed. Conditions about single criteria and groups are treated as independent of `criteria`.
pub(crate) fn depends_on_checks(expression: &Expression) -> bool {
    let atoms = atoms(&expression.0);
    atoms.contains(&&Atom::Criteria)
        && atoms.len() <= MAX_ATOMS
        && !combinations(&atoms).into_iter().any(|world| {
            let is = |atom: &Atom| in_world(&atoms, world, atom);
            !is(&Atom::Criteria) && expression.0.holds(&is)
        })
}

/// Why an expression is of no use, with the remedy.
pub(super) fn find_useless(expression: &Expression) -> Option<(String, &'static str)> {
    let atoms = atoms(&expression.0);
    if atoms.len() > MAX_ATOMS {
        let message = tr!(
            "the expression has {count} conditions, more than {max}",
            count = atoms.len(),
            max = MAX_ATOMS
        );
        return Some((message, tr!("write it with fewer conditions")));
    }
    let worlds = combinations(&atoms);
    let holds = |world: &u32| expression.0.holds(&|atom: &Atom| in_world(&atoms, *world, atom));
    if !worlds.iter().any(holds) {
        let message = tr!("this can never hold, so that only a limit would end the loop");
        return Some((message.to_owned(), tr!("remove the conditions that contradict each other")));
    }
    if worlds.iter().all(holds) {
        let message = tr!("this always holds, so that the loop would end after its first iteration");
        return Some((
            message.to_owned(),
            tr!("write what must be true when the task is done, such as `criteria`"),
        ));
    }
    None
}

fn atoms(node: &ExpressionNode) -> Vec<&Atom> {
    let mut atoms: Vec<&Atom> = Vec::new();
    node.visit_atoms(&mut |atom| {
        if !atoms.contains(&atom) {
            atoms.push(atom);
        }
    });
    atoms
}

fn in_world(atoms: &[&Atom], world: u32, atom: &Atom) -> bool {
    atoms.iter().position(|it| *it == atom).is_some_and(|bit| world & (1 << bit) != 0)
}

/// Every set of atoms that can be true together, as bits. Comparisons of one quantity depend on each other:
/// nothing is both above 10 and below 5.
fn combinations(atoms: &[&Atom]) -> Vec<u32> {
    let mut worlds = vec![0_u32];
    let mut done: Vec<Quantity> = Vec::new();
    for (bit, atom) in atoms.iter().enumerate() {
        let masks = match atom {
            Atom::Compare(quantity, ..) if done.contains(quantity) => continue,
            Atom::Compare(quantity, ..) => {
                done.push(*quantity);
                masks(atoms, *quantity)
            }
            _ => vec![0, 1 << bit],
        };
        worlds = worlds.iter().flat_map(|world| masks.iter().map(move |mask| world | mask)).collect();
    }
    worlds
}

/// Which comparisons of a quantity hold together, for every value that makes a difference.
fn masks(atoms: &[&Atom], quantity: Quantity) -> Vec<u32> {
    let comparisons = || {
        atoms.iter().enumerate().filter_map(|(bit, atom)| match atom {
            Atom::Compare(of, comparison, value) if *of == quantity => Some((bit, *comparison, *value)),
            _ => None,
        })
    };
    let deciding_values =
        comparisons().flat_map(|(_, _, at)| [at.saturating_sub(1), at, at.saturating_add(1)]);
    let mut masks: Vec<u32> = deciding_values
        .map(|value| {
            comparisons()
                .filter(|(_, it, at)| it.holds(value, *at))
                .fold(0, |all, (bit, ..)| all | (1 << bit))
        })
        .collect();
    if matches!(quantity, Quantity::Cost | Quantity::Tokens) {
        // Never reported: no comparison holds.
        masks.push(0);
    }
    masks.sort_unstable();
    masks.dedup();
    masks
}
