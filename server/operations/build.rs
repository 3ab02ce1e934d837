//! Hashes all sources into `LOOPKEEPER_BUILD`, by which our programs detect whether they belong to the same build.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=LOOPKEEPER_BUILD={:016x}", build()?);
    Ok(())
}

/// Equal for all programs of one build.
fn build() -> io::Result<u64> {
    let mut sources = BTreeSet::from(["../../Cargo.toml".into(), "../../Cargo.lock".into()]);
    find_sources(Path::new(".."), &mut sources)?;
    let mut hasher = DefaultHasher::new();
    for path in sources {
        std::fs::read(&path)?.hash(&mut hasher);
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(hasher.finish())
}

fn find_sources(folder: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_sources(&path, found)?;
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.insert(path);
        }
    }
    Ok(())
}
