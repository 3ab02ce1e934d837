//! Link options on Linux with the GNU C library: addresses that the loader fills in are
//! listed in the short form, since a keeper rests for hours with that list; the unwinder comes inside, and of a
//! warden the C library too: one is started for every agent and every check, and a library that it does not load is
//! time. Where the machine has no such loader, unwinder or library, everything is linked as usual.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    link();
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
        && library("libgcc_eh.a").is_some()
        && std::fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc -lc )\n").is_ok()
    {
        println!("cargo::rustc-link-search=native={}", folder.display());
        link_warden(&folder);
    }
}

/// Two fifths of a warden's start are the loader's: where the machine has the static libraries, they come inside. The
/// linker looks for the names of shared ones, so that is what the scripts are called that lead to the others. None of
/// the shared ones may be left among them: what is linked half and half does not start.
fn link_warden(folder: &Path) {
    let folder = folder.join("static");
    let lead = |name: &str| {
        let script = format!("GROUP ( {} )\n", library(&format!("lib{name}.a"))?.display());
        std::fs::write(folder.join(format!("lib{name}.so")), script).ok()
    };
    let made =
        std::fs::create_dir_all(&folder).is_ok() && ["c", "m", "z"].into_iter().all(|it| lead(it).is_some());
    if made && library("rcrt1.o").is_some() && library("libgit2.so").is_none() {
        for arg in ["-static-pie".to_owned(), format!("-L{}", folder.display())] {
            println!("cargo::rustc-link-arg-bin=loopkeeper-warden={arg}");
        }
    }
}

/// Since glibc 2.36.
fn reads_short_lists() -> bool {
    let Ok(found) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let found = String::from_utf8_lossy(&found.stdout);
    let minor = found.trim().strip_prefix("glibc 2.").and_then(|it| it.split('.').next());
    minor.and_then(|it| it.parse().ok()).is_some_and(|minor: u32| minor >= 36)
}

/// Where the compiler finds a file of this name.
fn library(name: &str) -> Option<PathBuf> {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    // The bare name comes back where there is no such file.
    Some(PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()))
        .filter(|it| it.is_absolute() && it.is_file())
}
