//! Encodes and decodes tree objects without a git library, because those refuse names that are valid on this disk
//! (`git~1`). Does not access files.

use std::cmp::Ordering;

use git2::Oid;

use super::names;

/// Depth of the deepest folder that a walk enters. It holds one open folder per level, so this bounds its file handles in
/// a hostile tree.
pub(super) const MAX_DEPTH: usize = 200;

/// Kind of a tree entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TreeItemKind {
    File,
    Executable,
    Symlink,
    Folder,
    /// A file that is not stored (too big, unreadable). Its id is made of size and time and no such object exists; it
    /// has git's mode of a submodule, which every git tool skips.
    Marker,
}

impl TreeItemKind {
    fn mode(self) -> &'static [u8] {
        match self {
            Self::File => b"100644",
            Self::Executable => b"100755",
            Self::Symlink => b"120000",
            Self::Folder => b"40000",
            Self::Marker => b"160000",
        }
    }

    fn from_mode(mode: &[u8]) -> Option<Self> {
        [Self::File, Self::Executable, Self::Symlink, Self::Folder, Self::Marker]
            .into_iter()
            .find(|it| it.mode() == mode)
    }
}

/// The entry under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TreeItem {
    pub kind: TreeItemKind,
    pub id: Oid,
}

/// A tree object of these entries, in any order.
pub(super) fn encode<'a>(entries: impl Iterator<Item = (&'a [u8], TreeItem)>) -> Vec<u8> {
    let mut sorted: Vec<_> = entries.collect();
    sorted.sort_by(|a, b| compare_names((a.0, a.1.kind), (b.0, b.1.kind)));
    let mut bytes = Vec::with_capacity(sorted.iter().map(|it| it.0.len() + 28).sum());
    for (name, item) in sorted {
        bytes.extend_from_slice(item.kind.mode());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(item.id.as_bytes());
    }
    bytes
}

/// git's order: folder names compare as if they ended in `/`.
fn compare_names(a: (&[u8], TreeItemKind), b: (&[u8], TreeItemKind)) -> Ordering {
    let end = |kind| (kind == TreeItemKind::Folder).then_some(&b'/');
    a.0.iter().chain(end(a.1)).cmp(b.0.iter().chain(end(b.1)))
}

/// The entries of a tree object, sorted by the bytes of their names; `None` when it is not one of ours.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Vec<(Vec<u8>, TreeItem)>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|it| *it == b' ')?;
        let (mode, rest) = bytes.split_at_checked(space)?;
        let rest = rest.get(1..)?;
        let (name, rest) = rest.split_at_checked(rest.iter().position(|it| *it == 0)?)?;
        let (id, rest) = rest.get(1..)?.split_at_checked(20)?;
        if !names::is_entry_name(name) {
            return None;
        }
        entries.push((
            name.to_vec(),
            TreeItem { kind: TreeItemKind::from_mode(mode)?, id: Oid::from_bytes(id).ok()? },
        ));
        bytes = rest;
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let unique = entries.windows(2).all(|it| it.first().map(|a| &a.0) != it.last().map(|b| &b.0));
    unique.then_some(entries)
}

#[cfg(test)]
mod tests {
    use git2::{ObjectType, Oid};
    use proptest::prelude::*;

    use super::{TreeItem, TreeItemKind, decode, encode};

    #[test]
    fn an_empty_tree_has_gits_id() {
        let id = Oid::hash_object(ObjectType::Tree, &encode([].into_iter())).unwrap();
        assert_eq!(id.to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    #[test]
    fn foreign_trees_are_refused() {
        let id = [7; 20];
        let table: [&[u8]; 8] = [
            b"100644 .git\0",
            b"100644 ..\0",
            b"100644 a/b\0",
            b"100644 \0",
            b"100600 a\0",
            b"100644 a",
            b" a\0",
            b"x",
        ];
        for head in table {
            assert_eq!(decode(&[head, &id].concat()), None);
        }
        let twice = [b"100644 a\0".as_slice(), &id, b"40000 a\0", &id].concat();
        assert_eq!(decode(&twice), None);
        let cut = [b"100644 a\0".as_slice(), &id[..19]].concat();
        assert_eq!(decode(&cut), None);
    }

    proptest! {
        #[test]
        fn trees_are_decoded_as_they_were_encoded(
            names in prop::collection::btree_map("[^/\\x00]{1,12}", (0u8..5, any::<[u8; 20]>()), 0..20)
        ) {
            let kinds = [TreeItemKind::File, TreeItemKind::Executable, TreeItemKind::Symlink, TreeItemKind::Folder, TreeItemKind::Marker];
            let entries: Vec<_> = names.into_iter()
                .filter(|(name, _)| super::names::is_entry_name(name.as_bytes()))
                .map(|(name, (kind, id))| {
                    (name.into_bytes(), TreeItem { kind: kinds[kind as usize], id: Oid::from_bytes(&id).unwrap() })
                })
                .collect();
            let bytes = encode(entries.iter().map(|(name, item)| (name.as_slice(), *item)));
            prop_assert_eq!(decode(&bytes), Some(entries));
        }

        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
