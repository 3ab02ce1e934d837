//! Work that the tree does not hold is not verified: in folders for temporary files, in the home folder, in ignored files
//! and in packages that nothing lists. Files that no check needs are no obstacle.

use super::final_verdict::{CRITERION, FIX, is_verified, scenario};
use crate::support::scenario::Ends::{Claimed, Verified};
use crate::support::scenario::Scenario;

/// A folder that the loop makes, in a folder for temporary files.
struct SharedFolder(String);

impl SharedFolder {
    fn at(path: &str) -> Self {
        Self(format!("{path}-{}", std::process::id()))
    }
}

impl Drop for SharedFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn work_in_a_shared_folder_fails_in_a_clean_room() {
    let left = SharedFolder::at("/var/tmp/loopkeeper-left");
    let act = format!(
        "mkdir -p {0}; sed 's/a - b/a + b/' calc.py > {0}/sums.py; printf 'import sys\\nsys.path.insert(0, \"{0}\")\\nfrom sums import add\\n' > calc.py",
        left.0
    );
    let played = scenario(&[&act, FIX], &[CRITERION], Verified(2, "")).play();
    played.prompt_has(2, "in a clean room");
}

#[test]
fn a_check_may_create_files_in_a_shared_folder() {
    let made = SharedFolder::at("/var/tmp/loopkeeper-made");
    let check = format!(
        "Tests pass: `$ rm -rf {0} && mkdir {0} && python3 -m unittest discover -s tests 2>{0}/log && mv {0}/log {0}/done`",
        made.0
    );
    scenario(&[FIX], &[&check], Verified(1, "")).play();
}

/// Moves the work to a folder, and imports it from there.
fn work_moved_to(folder: &str) -> String {
    format!(
        "mkdir -p \"{folder}\"; sed 's/a - b/a + b/' calc.py > \"{folder}/sums.py\"; printf 'import sys\\nsys.path.insert(0, \"%s\")\\nfrom sums import add\\n' \"{folder}\" > calc.py"
    )
}

#[test]
fn work_that_was_left_outside_the_tree_is_not_verified() {
    let what = "the checks need files created outside the work tree since the start, one of: ";
    for folder in ["$HOME/work", "$HOME/.cache/sums", "$HOME/.local/share/sums", "$PWD/../sums"] {
        let played = scenario(&[&work_moved_to(folder)], &[CRITERION], Claimed(1, what)).play();
        let end = &played.last()["outcome"]["sentence"];
        let name = folder.rsplit('/').next().unwrap();
        assert!(end.as_str().unwrap().contains(&format!("/{name}")), "{end}");
    }
}

#[test]
fn work_that_is_ignored_since_the_start_is_not_verified() {
    let what = "which the tree does not hold: ignored since the start, or listed in no manifest";
    for (rule, folder) in [(".gitignore", "lib"), (".git/info/exclude", "lib"), (".gitignore", ".cache")] {
        let act = format!(
            "mkdir {folder}; echo '{folder}/sums.py' >> {rule}; sed 's/a - b/a + b/' calc.py > {folder}/sums.py; printf 'import sys\\nsys.path.insert(0, \"{folder}\")\\nfrom sums import add\\n' > calc.py"
        );
        Scenario { before: "git init -q", ..scenario(&[&act], &[CRITERION], Claimed(1, what)) }.play();
    }
}

#[test]
fn files_that_were_ignored_at_the_start_may_be_needed() {
    for (folder, named) in [("lib", "lib/sums.py"), (".cache", ".cache")] {
        let act = format!(
            "mkdir {folder}; sed 's/a - b/a + b/' calc.py > {folder}/sums.py; printf 'import sys\nsys.path.insert(0, \"{folder}\")\nfrom sums import add\n' > calc.py"
        );
        let what = format!("the checks need {named}, which git ignores, as the agent left them");
        let before = &format!("echo {folder}/ > .gitignore");
        Scenario { before, ..scenario(&[&act], &[CRITERION], Verified(1, &what)) }.play();
    }
}

#[test]
fn work_in_the_folder_of_the_repository_is_not_verified() {
    let act = work_moved_to("$PWD/.git/objects/sums");
    let what = "the checks need .git/objects/sums, which the tree does not hold";
    Scenario { before: "git init -q", ..scenario(&[&act], &[CRITERION], Claimed(1, what)) }.play();
}

#[test]
fn a_package_that_no_manifest_lists_leaves_a_claim() {
    let files = [
        ("calc.js", "exports.add = (a, b) => a - b;\n"),
        ("package.json", "{ \"name\": \"calc\", \"dependencies\": {} }\n"),
        ("check.js", "require('assert').strictEqual(require('./calc').add(1, 2), 3);\n"),
    ];
    let act = "mkdir -p node_modules/plus; echo '{}' > node_modules/plus/package.json; echo 'module.exports = (a, b) => a + b;' > node_modules/plus/index.js; echo \"exports.add = require('plus');\" > calc.js";
    let played = |act: &str, ends| {
        let criteria = ["It adds: `$ node check.js`"];
        Scenario { files: &files, criteria: &criteria, acts: &[act], ends, ..Scenario::default() }.play()
    };
    played(act, Claimed(1, "the checks need node_modules/plus, which the tree does not hold"));
    let single = "mkdir -p node_modules; echo 'module.exports = (a, b) => a + b;' > node_modules/plus.js; echo \"exports.add = require('plus');\" > calc.js";
    played(single, Claimed(1, "the checks need node_modules/plus.js, which the tree does not hold"));
    let listed = format!("{act}; sed -i 's/{{}}/{{ \"plus\": \"1\" }}/' package.json");
    played(&listed, Verified(1, "passes after 1 iteration"));
}

#[test]
fn files_outside_the_tree_that_no_check_needs_are_no_obstacle() {
    let act = format!("{FIX}; mkdir -p \"$HOME/.config/app\" \"$HOME/notes\"; echo x > \"$HOME/notes/a\"");
    is_verified(&act, &[CRITERION], "");
    // A check may make them again.
    let check = "Tests pass: `$ mkdir -p ~/.cache/sums && echo 1 > ~/.cache/sums/n && python3 -m unittest discover -s tests`";
    is_verified(&format!("{FIX}; mkdir -p \"$HOME/.cache/sums\""), &[check], "");
}

#[test]
fn a_package_installed_for_the_user_is_no_obstacle() {
    let act = "python3 - <<'P'\nimport os, site\nfolder = site.getusersitepackages()\nos.makedirs(folder + '/plus-1.0.dist-info')\nopen(folder + '/plus.py', 'w').write('def plus(a, b):\\n    return a + b\\n')\nopen(folder + '/plus-1.0.dist-info/RECORD', 'w').write('plus.py,,\\nplus-1.0.dist-info/RECORD,,\\n')\nP\nprintf 'from plus import plus\\n\\n\\ndef add(a, b):\\n    return plus(a, b)\\n' > calc.py";
    is_verified(act, &[CRITERION], "");
}
