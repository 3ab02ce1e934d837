//! Caches the last HEAD together with the bytes that determine it. While those bytes are the same, two small files are
//! read instead of opening a repository. Never blocks, whatever is in place of a file.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use loopkeeper_core::journal::GitHead;
use rustix::fs::OFlags;

/// HEAD and loose references are shorter than this.
const MAX_REFERENCE_BYTES: u64 = 4096;

#[derive(Debug, Default)]
pub struct HeadCache {
    seen: Option<(HeadFingerprint, Option<GitHead>)>,
}

/// Result of [`HeadCache::lookup`].
#[derive(Debug, PartialEq, Eq)]
pub enum HeadLookup {
    Same(Option<GitHead>),
    /// It must be read with [`super::head`].
    Unknown(Option<HeadFingerprint>),
}

/// The bytes that determine HEAD; `None` for a branch without commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadFingerprint {
    head: Vec<u8>,
    reference: Option<Vec<u8>>,
}

impl HeadCache {
    pub fn lookup(&self, root: &Path) -> HeadLookup {
        let fingerprint = HeadFingerprint::capture(root);
        match &self.seen {
            Some((seen, head)) if fingerprint.as_ref() == Some(seen) => HeadLookup::Same(head.clone()),
            _ => HeadLookup::Unknown(fingerprint),
        }
    }

    /// Stores `head`, which was read after `fingerprint`. Forgets it if HEAD moved in the meantime.
    pub fn remember(&mut self, root: &Path, fingerprint: Option<HeadFingerprint>, head: Option<GitHead>) {
        self.seen =
            fingerprint.filter(|it| HeadFingerprint::capture(root).as_ref() == Some(it)).map(|it| (it, head));
    }
}

impl HeadFingerprint {
    /// `None` if more than two files determine HEAD: no plain repository at `root`, packed or symbolic references.
    fn capture(root: &Path) -> Option<Self> {
        let git = root.join(".git");
        let head = read(&git.join("HEAD")).ok()?;
        let Some(name) = head.strip_prefix(b"ref: refs/heads/") else {
            return is_id(&head).then_some(Self { head, reference: None });
        };
        let name = std::str::from_utf8(name.strip_suffix(b"\n")?).ok()?;
        // With references stored in tables, HEAD names an impossible branch.
        if name.split('/').any(|it| it.is_empty() || it.starts_with('.')) {
            return None;
        }
        let reference = match read(&git.join("refs/heads").join(name)) {
            Ok(bytes) => Some(bytes).filter(|it| is_id(it)),
            Err(ErrorKind::NotFound) if is_absent(&git.join("packed-refs")) => {
                return Some(Self { head, reference: None });
            }
            Err(_) => None,
        };
        reference.map(|it| Self { head, reference: Some(it) })
    }
}

fn is_id(bytes: &[u8]) -> bool {
    let id = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    matches!(id.len(), 40 | 64) && id.iter().all(u8::is_ascii_hexdigit)
}

fn is_absent(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|it| it.kind() == ErrorKind::NotFound)
}

fn read(path: &Path) -> Result<Vec<u8>, ErrorKind> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file =
        std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|it| it.kind())?;
    let mut bytes = Vec::with_capacity(128);
    let length = file.take(MAX_REFERENCE_BYTES + 1).read_to_end(&mut bytes).map_err(|it| it.kind())?;
    if length as u64 > MAX_REFERENCE_BYTES { Err(ErrorKind::FileTooLarge) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::{HeadCache, HeadLookup};

    /// A repository, its cached HEAD, and the expected number of reads.
    struct CachedRepository {
        dir: tempfile::TempDir,
        cache: HeadCache,
        reads: usize,
    }

    impl CachedRepository {
        fn new() -> Self {
            let world = Self { dir: tempfile::tempdir().unwrap(), cache: HeadCache::default(), reads: 0 };
            world.git("init -q -b main");
            world
        }

        fn git(&self, line: &str) {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let mut git = Command::new("git");
            git.args(identity).args(line.split(' ')).current_dir(self.dir.path());
            assert!(git.output().unwrap().status.success(), "{line}");
        }

        fn commit(&self) {
            self.git("commit -q --allow-empty -m x");
        }

        /// Checks that the result is correct, cached or not.
        #[track_caller]
        fn check(&mut self, reads: usize) {
            let root = self.dir.path();
            let truth = super::super::head(root).unwrap();
            match self.cache.lookup(root) {
                HeadLookup::Same(head) => assert_eq!(head, truth),
                HeadLookup::Unknown(fingerprint) => {
                    self.reads += 1;
                    self.cache.remember(root, fingerprint, truth);
                }
            }
            assert_eq!(self.reads, reads);
        }
    }

    #[test]
    fn an_unchanged_head_is_read_once() {
        let mut world = CachedRepository::new();
        world.check(1);
        world.check(1);
        world.commit();
        world.check(2);
        world.check(2);
        world.commit();
        world.check(3);
        world.git("checkout -q -b feature/other");
        world.check(4);
        world.check(4);
        world.git("checkout -q --detach");
        world.check(5);
        world.check(5);
    }

    #[test]
    fn packed_and_symbolic_heads_are_read_each_time() {
        let mut world = CachedRepository::new();
        world.commit();
        world.git("pack-refs --all");
        world.check(1);
        world.check(2);
        world.commit();
        world.git("symbolic-ref refs/heads/alias refs/heads/main");
        world.git("symbolic-ref HEAD refs/heads/alias");
        world.check(3);
        world.check(4);
        let head = world.dir.path().join(".git/HEAD");
        fs::write(&head, "ref: refs/heads/../../config\n").unwrap();
        assert_eq!(world.cache.lookup(world.dir.path()), HeadLookup::Unknown(None));
        fs::remove_file(&head).unwrap();
        Command::new("mkfifo").arg(&head).status().unwrap();
        assert_eq!(world.cache.lookup(world.dir.path()), HeadLookup::Unknown(None));
    }

    #[test]
    fn a_head_that_moves_during_the_read_is_not_cached() {
        let mut world = CachedRepository::new();
        world.commit();
        let HeadLookup::Unknown(fingerprint) = world.cache.lookup(world.dir.path()) else {
            panic!("nothing is cached yet")
        };
        let early = super::super::head(world.dir.path()).unwrap();
        world.commit();
        world.cache.remember(world.dir.path(), fingerprint, early);
        world.check(1);
    }

    #[test]
    fn outside_of_a_repository_nothing_is_cached() {
        let dir = tempfile::tempdir().unwrap();
        let mut cache = HeadCache::default();
        cache.remember(dir.path(), None, None);
        assert_eq!(cache.lookup(dir.path()), HeadLookup::Unknown(None));
    }
}
