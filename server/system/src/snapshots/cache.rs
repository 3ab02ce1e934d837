//! Caches the last walk: for every file its stat and the id of its bytes, for every folder the id of its tree. Kept
//! in memory between walks and in a file between runs, so that unchanged files are neither read nor written. A damaged
//! cache is ignored; then everything is read again.

use git2::Oid;
use rustix::fs::Stat;

use super::tree::{self, TreeItem, TreeItemKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CachedFolder {
    pub tree: Oid,
    /// Sorted by name.
    pub entries: Vec<CachedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CachedEntry {
    pub name: Box<[u8]>,
    pub node: CachedNode,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CachedNode {
    File(FileNode),
    Symlink(Oid),
    Folder(CachedFolder),
    Marker(Oid),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileNode {
    pub seen: StatFingerprint,
    pub id: Oid,
    pub executable: bool,
    /// The file changed so shortly before it was read that a later change could look the same: read it again.
    pub racy: bool,
}

/// Identifies a version of a file without reading it. Programs cannot set back the change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatFingerprint {
    pub size: u64,
    pub modified: i64,
    pub changed: i64,
    pub inode: u64,
}

impl StatFingerprint {
    #[expect(clippy::unnecessary_cast, reason = "the types of these fields differ by platform")]
    pub(super) fn from_stat(stat: &Stat) -> Self {
        let nanos = |secs: i64, part: i64| secs.saturating_mul(1_000_000_000).saturating_add(part);
        Self {
            size: stat.st_size as u64,
            modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
        }
    }
}

impl CachedNode {
    pub(super) fn item(&self) -> TreeItem {
        match self {
            Self::File(it) if it.executable => TreeItem { kind: TreeItemKind::Executable, id: it.id },
            Self::File(it) => TreeItem { kind: TreeItemKind::File, id: it.id },
            Self::Symlink(id) => TreeItem { kind: TreeItemKind::Symlink, id: *id },
            Self::Folder(it) => TreeItem { kind: TreeItemKind::Folder, id: it.tree },
            Self::Marker(id) => TreeItem { kind: TreeItemKind::Marker, id: *id },
        }
    }
}

const MAGIC: &[u8] = b"loopkeeper stat cache 1\n";
/// A walk visits no deeper folders.
const MAX_DEPTH: usize = tree::MAX_DEPTH + 1;
const RACY_FLAG: u8 = 0x10;

/// The bytes of the cache file. `root` names the work tree it belongs to.
pub(super) fn encode(root: &[u8], folder: &CachedFolder) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(root.len() as u32).to_le_bytes());
    bytes.extend_from_slice(root);
    encode_folder(&mut bytes, folder);
    let sum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

fn encode_folder(bytes: &mut Vec<u8>, folder: &CachedFolder) {
    bytes.extend_from_slice(folder.tree.as_bytes());
    bytes.extend_from_slice(&(folder.entries.len() as u32).to_le_bytes());
    for CachedEntry { name, node } in &folder.entries {
        let kind = match node {
            CachedNode::File(it) => u8::from(it.executable) | if it.racy { RACY_FLAG } else { 0 },
            CachedNode::Symlink(_) => 2,
            CachedNode::Folder(_) => 3,
            CachedNode::Marker(_) => 4,
        };
        bytes.push(kind);
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        match node {
            CachedNode::File(FileNode { seen, id, .. }) => {
                let numbers = [seen.size, seen.modified as u64, seen.changed as u64, seen.inode];
                bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
                bytes.extend_from_slice(id.as_bytes());
            }
            CachedNode::Symlink(id) | CachedNode::Marker(id) => bytes.extend_from_slice(id.as_bytes()),
            CachedNode::Folder(it) => encode_folder(bytes, it),
        }
    }
}

/// `None` if a byte is wrong, or if the cache belongs to another work tree.
pub(super) fn decode(bytes: &[u8], root: &[u8]) -> Option<CachedFolder> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut reader = CacheDecoder { rest: body.strip_prefix(MAGIC)? };
    let length = reader.u32()?;
    if reader.take_bytes(length as usize)? != root {
        return None;
    }
    let folder = reader.folder(0)?;
    reader.rest.is_empty().then_some(folder)
}

struct CacheDecoder<'a> {
    rest: &'a [u8],
}

impl<'a> CacheDecoder<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn id(&mut self) -> Option<Oid> {
        Oid::from_bytes(self.take_bytes(20)?).ok()
    }

    fn folder(&mut self, depth: usize) -> Option<CachedFolder> {
        if depth > MAX_DEPTH {
            return None;
        }
        let tree = self.id()?;
        let count = self.u32()?;
        let mut entries = Vec::with_capacity((count as usize).min(self.rest.len() / 23));
        for _ in 0..count {
            let [kind] = self.array()?;
            let length = self.array().map(u16::from_le_bytes)?;
            let name = self.take_bytes(length as usize)?.into();
            let node = match kind {
                2 => CachedNode::Symlink(self.id()?),
                3 => CachedNode::Folder(self.folder(depth + 1)?),
                4 => CachedNode::Marker(self.id()?),
                _ => CachedNode::File(self.file(kind)?),
            };
            entries.push(CachedEntry { name, node });
        }
        Some(CachedFolder { tree, entries })
    }

    fn file(&mut self, kind: u8) -> Option<FileNode> {
        let seen = StatFingerprint {
            size: self.u64()?,
            modified: self.u64()? as i64,
            changed: self.u64()? as i64,
            inode: self.u64()?,
        };
        Some(FileNode { seen, id: self.id()?, executable: kind & 1 != 0, racy: kind & RACY_FLAG != 0 })
    }
}

#[cfg(test)]
mod tests {
    use git2::Oid;
    use proptest::prelude::*;

    use super::{CachedEntry, CachedFolder, CachedNode, FileNode, StatFingerprint, decode, encode};

    fn id(byte: u8) -> Oid {
        Oid::from_bytes(&[byte; 20]).unwrap()
    }

    fn file(executable: bool, racy: bool) -> CachedNode {
        let seen = StatFingerprint { size: 3, modified: -5, changed: i64::MAX, inode: u64::MAX };
        CachedNode::File(FileNode { seen, id: id(1), executable, racy })
    }

    fn example() -> CachedFolder {
        let entry = |name: &[u8], node| CachedEntry { name: name.into(), node };
        let inner =
            vec![entry(b"\xff\n", CachedNode::Symlink(id(3))), entry(b"big", CachedNode::Marker(id(4)))];
        let entries = vec![
            entry(b"a", file(false, true)),
            entry(b"b", file(true, false)),
            entry(b"c", CachedNode::Folder(CachedFolder { tree: id(5), entries: inner })),
        ];
        CachedFolder { tree: id(6), entries }
    }

    #[test]
    fn a_cache_is_decoded_for_its_own_tree_only() {
        let bytes = encode(b"/home/me/project", &example());
        assert_eq!(decode(&bytes, b"/home/me/project"), Some(example()));
        assert_eq!(decode(&bytes, b"/home/me/other"), None);
    }

    #[test]
    fn a_damaged_cache_is_not_decoded() {
        let bytes = encode(b"/r", &example());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert_eq!(decode(&damaged, b"/r"), None, "byte {at}");
            assert_eq!(decode(&bytes[..at], b"/r"), None, "cut at {at}");
        }
    }

    proptest! {
        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = super::MAGIC.to_vec();
            bytes.extend_from_slice(&0u32.to_le_bytes());
            bytes.extend_from_slice(&body);
            let sum = crc32c::crc32c(&bytes);
            bytes.extend_from_slice(&sum.to_le_bytes());
            let _ = decode(&bytes, b"");
        }
    }
}
