//! Whether a glob or a path of the configuration can mean anything: one that never matches would be a key
//! accepted in silence.

/// Why a glob is none, as a phrase; `None` for a good one.
pub fn glob_fault(glob: &str) -> Option<String> {
    if glob.is_empty() {
        return Some("an empty text".to_owned());
    }
    if let Some(fault) = outside(glob) {
        return Some(fault);
    }
    globset::Glob::new(glob).err().map(|error| error.kind().to_string())
}

/// Why a path does not lead to a file below the root.
pub fn path_fault(path: &str) -> Option<String> {
    if path.is_empty() { Some("an empty text".to_owned()) } else { outside(path) }
}

fn outside(path: &str) -> Option<String> {
    let absolute = path.starts_with('/') || path.starts_with('~');
    (absolute || path.split('/').any(|part| part == "..")).then(|| "a path that leaves the root".to_owned())
}
