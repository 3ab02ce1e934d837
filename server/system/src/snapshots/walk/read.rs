//! Reads folders and files at one moment by open handles; follows no symlink and never blocks on a pipe.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{IGNORE_FILE, MAX_FILE};
use crate::snapshots::cache::StatFingerprint;
use crate::snapshots::ignores::FolderMarkers;

pub(super) type FolderListing = Vec<(CString, FileType)>;

/// Names and kinds, sorted by the bytes of the names.
pub(super) fn list_folder(dir: &mut Dir) -> io::Result<(FolderListing, FolderMarkers)> {
    let mut listing = Vec::new();
    let mut markers = FolderMarkers::default();
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = entry.file_name();
        match name.to_bytes() {
            b"." | b".." => continue,
            b".git" => markers.repository = true,
            IGNORE_FILE => markers.rules = true,
            _ => {}
        }
        listing.push((name.to_owned(), entry.file_type()));
    }
    listing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok((listing, markers))
}

/// The bytes of a file with their stat.
pub(in crate::snapshots) struct FileContent {
    pub bytes: Vec<u8>,
    pub seen: StatFingerprint,
    pub executable: bool,
    pub mode: Mode,
    /// It did not change while it was read.
    pub is_stable: bool,
}

/// `None`: larger than the limit for stored files. Never follows a symlink and never blocks on a pipe.
pub(in crate::snapshots) fn read_file(
    (fd, name): (BorrowedFd<'_>, &CString),
) -> std::result::Result<Option<FileContent>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut content = None;
    for _ in 0..3 {
        let file = File::from(rustix::fs::openat(fd, name, flags, Mode::empty())?);
        let before = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Err(Errno::NXIO);
        }
        let mut bytes = Vec::with_capacity(before.st_size.clamp(0, MAX_FILE as i64) as usize + 1);
        (&file)
            .take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|it| Errno::from_io_error(&it).unwrap_or(Errno::IO))?;
        if bytes.len() as u64 > MAX_FILE {
            return Ok(None);
        }
        let after = rustix::fs::fstat(&file)?;
        let seen = StatFingerprint::from_stat(&before);
        let is_stable = seen == StatFingerprint::from_stat(&after);
        let mode = Mode::from_raw_mode(after.st_mode);
        content = Some(FileContent { bytes, seen, executable: mode.contains(Mode::XUSR), mode, is_stable });
        if is_stable {
            break;
        }
    }
    Ok(content)
}
