//! What the linker is told beyond cargo's own words, on Linux with the GNU C library: programs at fixed addresses,
//! and the unwinder inside. A keeper rests for hours, and every address that the loader fills in is a page of its
//! own; a warden is started for every agent and every check, and a library that it does not load is time.
//! Where the compiler has no such unwinder, everything is linked as usual.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Another machine's libraries are not this compiler's.
    let native = std::env::var_os("HOST") == std::env::var_os("TARGET");
    if let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from).filter(|_| native)
        && has_unwinder()
        && std::fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc -lc )\n").is_ok()
    {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

fn has_unwinder() -> bool {
    let found = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    // The bare name comes back where there is no such file.
    found.is_ok_and(|it| Path::new(String::from_utf8_lossy(&it.stdout).trim()).is_file())
}
