//! Distinguishes names of source files from similar text in an output: addresses, modules of the runtime.

const SOURCES: &str = " astro bash bat bats c cc cfg cjs clj cmake conf cpp cs css cts cxx dart el erl ex exs fish fs go \
gradle groovy h hh hpp hs html hxx ini java jl js json jsonc jsx kt kts less lua m md mjs ml mli mm mts nim nix nu \
odin php pl pm proto ps1 py pyi pyx r rb rkt rs rst scala scss sh sol sql svelte swift tcl tf toml ts tsx txt v vim \
vue xml yaml yml zig zsh ";

/// Whether `file` has the name of a source. Hosts, addresses and versions look like one.
pub(super) fn is_source(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return matches!(
            name,
            "Makefile" | "makefile" | "Dockerfile" | "Justfile" | "justfile" | "Rakefile" | "CMakeLists"
        );
    };
    if stem.is_empty() || file.contains('@') {
        return false;
    }
    let is_known = SOURCES.split(' ').any(|it| !it.is_empty() && it.eq_ignore_ascii_case(extension));
    let is_name = extension.len() <= 12
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.bytes().all(|it| it.is_ascii_alphanumeric());
    let within_folder = file.contains(['/', '\\']) && !file.starts_with("//");
    is_known && !file.starts_with("//") || within_folder && is_name
}

/// The path of a `file://` address; `None` for other addresses and for the runtime's own modules.
pub(super) fn local_path(address: &str) -> Option<String> {
    let Some(path) = address.strip_prefix("file://") else {
        let other = address.contains("://") || address.starts_with("node:");
        return (!other).then(|| address.to_owned());
    };
    // `file:///C:/x.js` names a drive.
    let drive = path.strip_prefix('/').filter(|it| it.get(1..2) == Some(":"));
    Some(unescaped(drive.unwrap_or(path)))
}

fn unescaped(path: &str) -> String {
    let mut out = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|it| byte == b'%' && it.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|it| std::str::from_utf8(it).ok());
        let value = code.and_then(|it| u8::from_str_radix(it, 16).ok());
        out.push(value.unwrap_or(byte));
        rest = if value.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}
