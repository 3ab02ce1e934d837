//! Link options on Linux with the GNU C library: the unwinder is linked statically into every program, the C library
//! into the warden. One warden is started per agent and check, and loading shared libraries would take two fifths of its
//! start. Without the static libraries everything is linked as usual.

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
    // In a cross build, the libraries of this machine are of no use.
    if std::env::var_os("HOST") != std::env::var_os("TARGET") {
        return;
    }
    if let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from)
        && library("libgcc_eh.a").is_some()
        && std::fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc -lc )\n").is_ok()
    {
        println!("cargo::rustc-link-search=native={}", folder.display());
        link_warden(&folder);
    }
}

/// Linker scripts with the names of the shared libraries, which the linker looks for, refer to the static ones. All of
/// them must be static: a program that mixes both kinds does not start.
fn link_warden(folder: &Path) {
    let folder = folder.join("static");
    let write_script = |name: &str| {
        let script = format!("GROUP ( {} )\n", library(&format!("lib{name}.a"))?.display());
        std::fs::write(folder.join(format!("lib{name}.so")), script).ok()
    };
    let has_scripts = std::fs::create_dir_all(&folder).is_ok()
        && ["c", "m", "z"].into_iter().all(|it| write_script(it).is_some());
    if has_scripts && library("rcrt1.o").is_some() && library("libgit2.so").is_none() {
        for arg in ["-static-pie".to_owned(), format!("-L{}", folder.display())] {
            println!("cargo::rustc-link-arg-bin=loopkeeper-warden={arg}");
        }
    }
}

/// The path at which the compiler finds a library file.
fn library(name: &str) -> Option<PathBuf> {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    // If there is no such file, the output is the bare name.
    Some(PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()))
        .filter(|it| it.is_absolute() && it.is_file())
}
