//! Finds missing dependencies of a failed check: collects the facts about the tree that the core's tables need. Scans
//! the tree only if the output names something as missing.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use loopkeeper_core::check::MissingDependency;
use loopkeeper_core::check::missing::{FileFacts, MissingCandidate, TreeFacts, resolve_missing};

use super::RoundParams;
use loopkeeper_system::regular_file;

/// More files than in any project whose file names are conclusive.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 8;
const MAX_MANIFESTS: usize = 100;
const MAX_TEXT: u64 = 256 * 1024;
/// Limit of a first line that names an interpreter.
const MAX_FIRST_LINE: u64 = 256;
/// Folders without files of the project itself.
const FOREIGN_FOLDERS: [&str; 10] = [
    ".git",
    "node_modules",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "vendor",
    "site-packages",
];

/// The missing dependency, if any; the tree shows whether it belongs to the project.
pub(super) async fn find_missing(
    plan: &RoundParams<'_>,
    command: &str,
    missing_candidates: Vec<MissingCandidate>,
) -> Option<MissingDependency> {
    if missing_candidates.is_empty() {
        return None;
    }
    let (root, command) = (plan.root.to_path_buf(), command.to_owned());
    let search = tokio::task::spawn_blocking(move || {
        resolve_missing(&missing_candidates, &command, &collect_facts(&root, &missing_candidates))
    });
    search.await.ok().flatten()
}

fn collect_facts(root: &Path, missing_candidates: &[MissingCandidate]) -> TreeFacts {
    let mut facts = TreeFacts { root: root.to_string_lossy().into_owned(), ..TreeFacts::default() };
    walk(root, &mut facts);
    for path in facts.paths_to_probe(missing_candidates) {
        let leaves = Path::new(&path).components().any(|it| it.as_os_str() == "..");
        if let Some(present) = (!leaves).then(|| facts_if_present(&root.join(&path))).flatten() {
            facts.present.insert(path, present);
        }
    }
    facts
}

/// Links are not followed, because their targets are found under their own names.
fn walk(root: &Path, facts: &mut TreeFacts) {
    let mut open = vec![(String::new(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let is_own = depth < MAX_DEPTH && !FOREIGN_FOLDERS.contains(&name.as_str());
                open.extend(is_own.then_some((path, depth + 1)));
                continue;
            }
            if facts.files.len() >= MAX_FILES {
                return;
            }
            let is_manifest = TreeFacts::is_manifest(&path) && facts.manifests.len() < MAX_MANIFESTS;
            if let Some(text) = is_manifest.then(|| start_of(&entry.path(), MAX_TEXT)).flatten() {
                facts.manifests.insert(path.clone(), text);
            }
            facts.files.insert(path);
        }
    }
}

fn facts_if_present(path: &Path) -> Option<FileFacts> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() {
        return Some(FileFacts::default());
    }
    let text = start_of(path, MAX_FIRST_LINE).unwrap_or_default();
    let first = text.strip_prefix("#!").and_then(|it| it.split('\n').next());
    let interpreter = first.map(|it| it.trim_start().to_owned());
    Some(FileFacts { is_executable: about.permissions().mode() & 0o111 != 0, interpreter })
}

/// Reads regular files only, because other kinds may never end.
fn start_of(path: &Path, max_bytes: u64) -> Option<String> {
    let file = regular_file::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::check::missing::not_started;

    use super::collect_facts;

    #[test]
    fn own_files_manifests_and_named_programs_are_facts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let file = |path: &str, text: &str| {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        };
        file("package.json", "{\"name\": \"x\"}");
        file("web/package.json", "{}");
        file("node_modules/a/package.json", "{}");
        file("src/mypkg/__init__.py", "");
        file("run.sh", "#!/usr/bin/nosuch -x\necho\n");
        std::os::unix::fs::symlink("/", root.join("up")).unwrap();
        let facts = collect_facts(root, &[not_started("./run.sh"), not_started("../../etc/passwd")].concat());
        let files: Vec<&str> = facts.files.iter().map(String::as_str).collect();
        assert_eq!(files, ["package.json", "run.sh", "src/mypkg/__init__.py", "up", "web/package.json"]);
        assert_eq!(facts.manifests.len(), 2);
        assert_eq!(facts.present["run.sh"].interpreter.as_deref(), Some("/usr/bin/nosuch -x"));
        assert!(facts.present.contains_key("node_modules"));
        assert!(facts.present.keys().all(|it| !it.contains("..")));
    }

    #[test]
    fn pipes_in_place_of_manifests_and_programs_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["package.json", "run.sh"] {
            rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join(path), rustix::fs::Mode::RUSR).unwrap();
        }
        let facts = collect_facts(folder.path(), &not_started("./run.sh"));
        assert!(facts.manifests.is_empty() && facts.present["run.sh"].interpreter.is_none());
    }
}
