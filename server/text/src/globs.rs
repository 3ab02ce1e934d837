//! Validates globs and paths of the configuration: a glob that can never match would be a key that is silently ignored.

use crate::tr;

/// Why a glob is invalid, as a phrase; `None` for a valid one.
pub fn glob_fault(glob: &str) -> Option<String> {
    if glob.is_empty() {
        return Some(tr!("an empty text").to_owned());
    }
    if let Some(fault) = outside_fault(glob) {
        return Some(fault);
    }
    globset::Glob::new(glob).err().map(|error| error.kind().to_string())
}

/// Why a path does not name a file below the root.
pub fn path_fault(path: &str) -> Option<String> {
    if path.is_empty() { Some(tr!("an empty text").to_owned()) } else { outside_fault(path) }
}

fn outside_fault(path: &str) -> Option<String> {
    let absolute = path.starts_with('/') || path.starts_with('~');
    (absolute || path.split('/').any(|part| part == ".."))
        .then(|| tr!("a path that leaves the root").to_owned())
}

#[cfg(test)]
mod tests {
    use super::{glob_fault, path_fault};

    #[test]
    fn globs_and_paths_stay_below_the_root() {
        for valid in ["src/**/*.rs", "a", "a..b/c", "{a,b}/*"] {
            assert_eq!((glob_fault(valid), path_fault(valid)), (None, None), "{valid}");
        }
        let leaves = Some("a path that leaves the root".to_owned());
        for outside in ["/a", "~/a", "../a", "a/../b", "a/.."] {
            assert_eq!(
                (glob_fault(outside), path_fault(outside)),
                (leaves.clone(), leaves.clone()),
                "{outside}"
            );
        }
        assert_eq!(
            (glob_fault(""), path_fault("")),
            (Some("an empty text".into()), Some("an empty text".into()))
        );
        assert!(glob_fault("a[").is_some_and(|it| !it.is_empty()));
        assert_eq!(path_fault("a["), None);
    }
}
