//! Writes a new `.tar.gz` that only its user can read. Never overwrites an existing file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

pub struct ArchiveWriter {
    path: PathBuf,
    /// `None` once it is finished.
    builder: Option<tar::Builder<GzEncoder<File>>>,
    /// Timestamp of every entry, in seconds.
    time: u64,
}

impl ArchiveWriter {
    pub fn create(path: &Path, time: u64) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let builder = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        Ok(Self { path: path.to_owned(), builder: Some(builder), time })
    }

    /// A file of the archive; `name` has no `..` and no root.
    pub fn add_file(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(self.time);
        self.builder.as_mut().map_or(Ok(()), |it| it.append_data(&mut header, name, bytes))
    }

    pub fn finish(mut self) -> io::Result<()> {
        let Some(builder) = self.builder.take() else { return Ok(()) };
        let written = builder.into_inner().and_then(GzEncoder::finish).and_then(|it| it.sync_all());
        written.inspect_err(|_| drop(std::fs::remove_file(&self.path)))
    }
}

/// An incomplete archive is useless.
impl Drop for ArchiveWriter {
    fn drop(&mut self) {
        if self.builder.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
