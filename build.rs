//! What our programs were built from, in one word, by which they know whether they belong together. And what the
//! linker is told beyond cargo's own words, on Linux with the GNU C library: addresses that the loader fills in are
//! listed in the short form, since a keeper rests for hours with that list; the unwinder comes inside, since a warden
//! is started for every agent and every check, and a library that it does not load is time.
//! Where the machine has no such loader or no such unwinder, everything is linked as usual.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=LOOPKEEPER_BUILD={:016x}", build()?);
    link();
    Ok(())
}

/// The same for all programs of one build.
fn build() -> io::Result<u64> {
    let mut sources = BTreeSet::from(["Cargo.toml".into()]);
    find_sources(Path::new("server"), &mut sources)?;
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

fn link() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    // Another machine's libraries are not this compiler's.
    if std::env::var_os("HOST") != std::env::var_os("TARGET") {
        return;
    }
    if reads_short_lists() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from)
        && has_unwinder()
        && std::fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc -lc )\n").is_ok()
    {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// Since glibc 2.36.
fn reads_short_lists() -> bool {
    let Ok(found) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let found = String::from_utf8_lossy(&found.stdout);
    let minor = found.trim().strip_prefix("glibc 2.").and_then(|it| it.split('.').next());
    minor.and_then(|it| it.parse().ok()).is_some_and(|minor: u32| minor >= 36)
}

fn has_unwinder() -> bool {
    let found = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    // The bare name comes back where there is no such file.
    found.is_ok_and(|it| Path::new(String::from_utf8_lossy(&it.stdout).trim()).is_file())
}
