//! Random edits by an agent and a user: every rollback, back and forth, restores everything and no byte is lost.

use std::fs;

use git2::{ObjectType, Oid};
use proptest::prelude::*;

use super::world::{Contents, Entry, World};
use crate::snapshots::{RestoreReport, compare};

#[derive(Debug, Clone)]
enum Edit {
    Write {
        path: String,
        byte: u8,
        executable: bool,
    },
    Link {
        path: String,
        target: String,
    },
    Remove {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Takes a snapshot in between: other objects, another cache.
    Take,
    Rules {
        path: String,
        rule: String,
    },
    /// Simulates another process.
    Reopen,
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c\n", "-rf"]), 1..4)
        .prop_map(|it| it.join("/"))
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (path(), 0u8..4, any::<bool>())
            .prop_map(|(path, byte, executable)| Edit::Write { path, byte, executable }),
        2 => (path(), path()).prop_map(|(path, target)| Edit::Link { path, target }),
        2 => path().prop_map(|path| Edit::Remove { path }),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Rename { from, to }),
        1 => Just(Edit::Take),
        1 => Just(Edit::Reopen),
    ]
}

/// Removes whatever prevents an entry at a path; does nothing where a symlink would lead elsewhere.
fn clear(world: &World, path: &str) {
    let mut at = world.root();
    let names: Vec<_> = path.split('/').collect();
    for (index, name) in names.iter().enumerate() {
        at.push(name);
        let last = index + 1 == names.len();
        match at.symlink_metadata() {
            Ok(it) if it.is_dir() && last => fs::remove_dir_all(&at).unwrap(),
            Ok(it) if it.is_dir() => {}
            Ok(_) => fs::remove_file(&at).unwrap(),
            Err(_) => {}
        }
        if !last {
            let _ = fs::create_dir(&at);
        }
    }
}

fn apply_all(world: &mut World, edits: &[Edit]) {
    for edit in edits {
        apply(world, edit);
    }
}

fn apply(world: &mut World, edit: &Edit) {
    match edit {
        Edit::Write { path, byte, executable } => {
            clear(world, path);
            world.write(path, vec![*byte; usize::from(*byte)]);
            world.mode(path, if *executable { 0o755 } else { 0o644 });
        }
        Edit::Link { path, target } => {
            clear(world, path);
            world.link(path, target);
        }
        Edit::Remove { path } => clear(world, path),
        Edit::Rename { from, to } => {
            if world.path(from).symlink_metadata().is_ok() && !to.starts_with(from) && !from.starts_with(to) {
                clear(world, to);
                let _ = fs::rename(world.path(from), world.path(to));
            }
        }
        Edit::Rules { path, rule } => {
            clear(world, path);
            world.write(path, rule);
        }
        Edit::Take => drop(world.take()),
        Edit::Reopen => world.reopen(),
    }
}

/// Edits that also change what is ignored.
fn edit_of_rules() -> impl Strategy<Value = Edit> {
    let rule = prop::sample::select(vec!["*", "a", "b/", "!a", "/-rf", "**/c*", "*\n!.gitignore"]);
    let place = prop_oneof![Just(String::new()), path().prop_map(|it| it + "/")];
    (place, rule).prop_map(|(place, rule)| Edit::Rules { path: place + ".gitignore", rule: rule.to_owned() })
}

/// Every file of `before` is in its place or in the snapshot `tree`.
fn nothing_is_lost(world: &mut World, before: &Contents, tree: &str) -> Result<(), TestCaseError> {
    let now = files(world);
    let root = world.store.objects.resolve_snapshot(tree).unwrap();
    let empty = world.store.objects.insert(ObjectType::Tree, &[]).unwrap();
    world.store.objects.sync_inserted().unwrap();
    let stored = compare::diff_trees(&world.store.objects, empty, root).unwrap();
    for (path, entry) in before.iter().filter(|it| now.get(it.0) != Some(it.1)) {
        let (Entry::File { bytes, .. } | Entry::Symlink(bytes)) = entry else { continue };
        let id = Oid::hash_object(ObjectType::Blob, bytes).unwrap();
        let held = stored.iter().any(|it| it.path == *path && it.new.is_some_and(|it| it.id == id));
        prop_assert!(held, "{}", String::from_utf8_lossy(path));
    }
    Ok(())
}

/// The files that a snapshot can represent: folders only through their contents.
fn files(world: &World) -> Contents {
    world.contents().into_iter().filter(|it| it.1 != Entry::Folder).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_rollback_and_its_own_rollback_restore_everything(
        start in prop::collection::vec(edit(), 0..12),
        by_agent in prop::collection::vec(edit(), 0..12),
    ) {
        let mut world = World::new();
        apply_all(&mut world, &start);
        let before = files(&world);
        let tree = world.take().tree;
        apply_all(&mut world, &by_agent);
        let after = files(&world);

        let restored = world.restore(&tree);
        prop_assert_eq!(&restored.refused, &[]);
        prop_assert_eq!(files(&world), before);
        prop_assert_eq!(world.take().tree, tree.clone());
        let empty = world.store.changed_paths(&tree, &restored.before).unwrap().is_empty();
        prop_assert_eq!(empty, restored.before == tree);

        let back = world.restore(&restored.before);
        prop_assert_eq!(&back.refused, &[]);
        prop_assert_eq!(files(&world), after);
        prop_assert_eq!(back.before, tree);
    }

    #[test]
    fn changed_ignore_rules_lose_nothing(
        start in prop::collection::vec(prop_oneof![3 => edit(), 1 => edit_of_rules()], 0..12),
        by_agent in prop::collection::vec(prop_oneof![3 => edit(), 1 => edit_of_rules()], 0..12),
    ) {
        let mut world = World::new();
        apply_all(&mut world, &start);
        let tree = world.take().tree;
        apply_all(&mut world, &by_agent);
        let after = files(&world);

        let restored = world.restore(&tree);
        nothing_is_lost(&mut world, &after, &restored.before)?;
        prop_assert_eq!(restored.refused.is_empty(), world.take().tree == tree);
        let visible = files(&world);
        let again = world.restore(&tree);
        nothing_is_lost(&mut world, &visible, &again.before)?;
        if restored.refused.is_empty() {
            prop_assert_eq!(again, RestoreReport { before: tree.clone(), after: tree, ..RestoreReport::default() });
        }
    }
}
