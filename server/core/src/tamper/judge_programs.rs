//! Finds the files of the work tree that the command of a judge runs: their contents decide the answer.

use super::{check_files, shell};

/// Paths below `root` that the command names.
pub(super) fn paths_of_command(argv: &[String], root: &str) -> Vec<String> {
    let words = argv.iter().flat_map(|it| shell::split_commands(it)).flatten();
    let below = |word: String| {
        let inside = word.strip_prefix(root).and_then(|it| it.strip_prefix('/'));
        let is_path = inside.is_some() || !word.starts_with(['/', '-', '{', '~']);
        is_path.then(|| check_files::join_path("", inside.unwrap_or(&word)))
    };
    let mut paths: Vec<String> = words.filter_map(below).filter(|it| !it.is_empty()).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::paths_of_command;

    #[test]
    fn files_that_a_judge_runs() {
        let check = |argv: &[&str], expect: &[&str]| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert_eq!(paths_of_command(&argv, "/home/u/w"), expect, "{argv:?}");
        };
        check(&["./critic.sh"], &["critic.sh"]);
        check(&["/home/u/w/tools/critic.sh", "{prompt}"], &["tools/critic.sh"]);
        check(&["/usr/bin/sh", "-c", "./a.sh | python3 'b c.py'"], &["a.sh", "b c.py", "python3"]);
        check(&["sh", "-c", "./a.sh \"say \\\"yes\\\"\" ./b.sh"], &["a.sh", "b.sh", "say \"yes\"", "sh"]);
        check(&["sh", "-c", "./a.sh \\\n ./b.sh"], &["a.sh", "b.sh", "sh"]);
        check(&["/home/u/w2/critic.sh"], &[]);
        check(&["a/../critic.sh"], &["critic.sh"]);
        // A path out of the root is not one of the root's files.
        check(&["../critic.sh"], &["../critic.sh"]);
        check(&["../../critic.sh"], &["../../critic.sh"]);
    }
}
