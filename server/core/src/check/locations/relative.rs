//! Converts paths below the root to relative ones for display. Many runners print absolute paths.

use std::borrow::Cow;
use std::path::Path;

/// `file` relative to `root` if it is below it, else unchanged; `./` removed.
pub fn relative_path<'a>(file: &'a str, root: &Path) -> &'a str {
    let below = prefix(root).and_then(|it| file.strip_prefix(&it)).filter(|it| !leads_out(it));
    below.map_or(file, |it| it.trim_start_matches('/')).trim_start_matches("./")
}

/// Replaces each `root` at the beginning of a path by `./`, so that a blank in the root's name does not end a path in
/// later parsers. Addresses (`file:///…`) stay: blanks are escaped in them.
pub(super) fn shorten_paths<'a>(output: &'a str, root: &Path) -> Cow<'a, str> {
    let Some(prefix) = prefix(root).filter(|it| output.contains(it)) else { return Cow::Borrowed(output) };
    let mut out = String::with_capacity(output.len());
    let mut rest = output;
    while let Some((before, after)) = rest.split_once(&prefix) {
        out.push_str(before);
        let is_begin = !out.ends_with(|it: char| it.is_alphanumeric() || "/._-~".contains(it));
        let is_below = is_begin && !leads_out(after);
        out.push_str(if is_below { "./" } else { &prefix });
        rest = if is_below { after.trim_start_matches('/') } else { after };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Below the file system's own root every path would be relative.
fn prefix(root: &Path) -> Option<String> {
    root.to_str().filter(|it| it.len() > 1).map(|it| format!("{}/", it.trim_end_matches('/')))
}

fn leads_out(path: &str) -> bool {
    path.trim_start_matches('/').starts_with("../")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{relative_path, shorten_paths};

    #[test]
    fn files_below_the_root_are_relative_to_it() {
        let check = |file: &str, root: &str, expect: &str| {
            assert_eq!(relative_path(file, Path::new(root)), expect, "{file} below {root}");
        };
        check("/home/me/p/a.py", "/home/me/p", "a.py");
        check("/home/me/p/tests/a.py", "/home/me/p/", "tests/a.py");
        check("/home/me/p//a.py", "/home/me/p", "a.py");
        check("/home/me/p/./a.py", "/home/me/p", "a.py");
        check("./a.py", "/home/me/p", "a.py");
        check("/home/me/p2/a.py", "/home/me/p", "/home/me/p2/a.py");
        check("/home/me/p/../q/a.py", "/home/me/p", "/home/me/p/../q/a.py");
        check("../q/a.py", "/home/me/p", "../q/a.py");
        check("/a.py", "/", "/a.py");
        check("a.py", "", "a.py");
    }

    #[test]
    fn roots_are_left_out_of_an_output_where_they_begin_a_path() {
        let check = |output: &str, expect: &str| {
            assert_eq!(shorten_paths(output, Path::new("/home/my p")), expect, "{output}");
        };
        check("at '/home/my p/a.js:3:1', /home/my p/b", "at './a.js:3:1', ./b");
        check("PATH=/bin:/home/my p/bin", "PATH=/bin:./bin");
        check("/home/my p", "/home/my p");
        check("/mnt/home/my p/a.js", "/mnt/home/my p/a.js");
        check("file:///home/my p/a.js", "file:///home/my p/a.js");
        check("/home/my p/../q", "/home/my p/../q");
        check("/home/my p//a", "./a");
    }
}
