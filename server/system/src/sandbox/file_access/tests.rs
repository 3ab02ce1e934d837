use std::process::Command;

use super::*;

fn access(request: &FileAccessRequest) -> FileAccess {
    FileAccess::for_agents(request, |_| None)
}

fn request(root: &str) -> FileAccessRequest {
    FileAccessRequest { home: Some("/home/u".into()), root: root.into(), ..FileAccessRequest::default() }
}

#[test]
fn credentials_are_hidden_and_startup_files_protected() {
    let access = access(&request("/home/u/project"));
    assert!(access.hidden.contains(&"/home/u/.ssh".into()), "{access:?}");
    assert!(access.read_only.contains(&"/home/u/.bashrc".into()), "{access:?}");
    assert!(!access.hidden.contains(&"/home/u/.codex/auth.json".into()), "{access:?}");
}

#[test]
fn logins_of_every_known_agent_are_hidden_from_checks() {
    let moved = |name: &str| (name == "CODEX_HOME").then(|| "/srv/codex".into());
    let agents = FileAccess::for_agents(&request("/home/u/project"), moved);
    let checks = agents.for_checks();
    let files =
        catalog::CATALOG.iter().flat_map(|it| it.files).map(|it| Path::new("/home/u").join(it.at_home));
    for path in files.chain(["/srv/codex/auth.json".into()]) {
        assert!(checks.hidden.contains(&path), "{path:?}");
        assert!(!agents.hidden.contains(&path), "{path:?}");
    }
}

#[test]
fn the_work_tree_and_the_folders_above_it_stay_as_they_are() {
    let access = access(&request("/home/u/.config/nvim/plugin"));
    assert!(!access.read_only.contains(&"/home/u/.config/nvim".into()), "{access:?}");
    assert!(access.read_only.contains(&"/home/u/.gitconfig".into()), "{access:?}");
}

#[test]
fn the_configuration_hides_paths_of_the_home_folder_the_work_tree_and_the_machine() {
    let hide = ["~/other", "private", "/srv/data"].map(str::to_owned).into();
    let access = access(&FileAccessRequest { hide, ..request("/home/u/project") });
    for path in ["/home/u/other", "/home/u/project/private", "/srv/data"] {
        assert!(access.hidden.contains(&path.into()), "{path}");
    }
}

#[test]
fn deciding_files_are_protected_below_the_work_tree_too() {
    let protected = vec!["/home/u/project/.git/hooks".into()];
    let access = access(&FileAccessRequest { protected, ..request("/home/u/project") });
    assert!(access.read_only.contains(&"/home/u/project/.git/hooks".into()), "{access:?}");
}

/// The arguments for a home folder with these folders and files, without the paths of this machine.
fn arguments(made: &[&str], request: impl FnOnce(PathBuf) -> FileAccessRequest) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    for path in made.iter().map(|it| home.join(it)) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.to_string_lossy().ends_with('/') { fs::create_dir(path) } else { fs::write(path, "") }
            .unwrap();
    }
    let arguments = access(&request(home.clone())).arguments();
    let words = arguments.iter().map(|it| it.to_str().unwrap());
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut().filter(|_| !word.starts_with("--")) {
            Some(line) => *line = format!("{line} {}", word.replace(home.to_str().unwrap(), "~")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().filter(|it| it.contains('~')).collect()
}

#[test]
fn settings_of_the_loops_agents_are_writable_under_landlock_only() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    for path in [".codex/config.toml", ".claude/settings.json", "project/a"] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), "").unwrap();
    }
    let access = access(&FileAccessRequest { agents: vec![AgentKind::Codex], ..in_home(home.clone()) });
    let [own, other] = [".codex/config.toml", ".claude/settings.json"].map(|it| home.join(it));
    for (is_agent, access) in [(true, access.clone()), (false, access.for_checks())] {
        let rules = access.landlock_rules();
        assert_eq!(rules.read_only.contains(&own), !is_agent);
        assert!(rules.read_only.contains(&other));
        let arguments = access.arguments();
        assert!([&own, &other].iter().all(|it| arguments.contains(&it.as_os_str().to_owned())));
    }
}

fn in_home(home: PathBuf) -> FileAccessRequest {
    let root = home.join("project");
    FileAccessRequest { home: Some(home), root, ..FileAccessRequest::default() }
}

#[test]
fn only_what_exists_becomes_an_argument() {
    assert_eq!(
        arguments(&[".ssh/", ".netrc", ".profile"], in_home),
        [
            "--bind-try ~ ~",
            "--ro-bind-try ~/.profile ~/.profile",
            "--tmpfs ~/.ssh",
            "--ro-bind /dev/null ~/.netrc",
            "--remount-ro ~/.ssh"
        ]
    );
}

#[test]
fn bwrap_starts_although_paths_have_disappeared() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    for path in ["project", ".ssh", ".config/nvim"] {
        fs::create_dir_all(home.join(path)).unwrap();
    }
    fs::write(home.join(".profile"), "").unwrap();
    let arguments = access(&in_home(home.clone())).arguments();
    for path in [".ssh", ".config"] {
        fs::remove_dir_all(home.join(path)).unwrap();
    }
    fs::remove_file(home.join(".profile")).unwrap();
    let mut bubblewrap = Command::new("bwrap");
    let ran = bubblewrap.args(["--dev-bind", "/", "/"]).args(arguments).arg("true").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A mount point cannot be made in an empty folder.
#[test]
fn contents_of_a_hidden_folder_are_hidden() {
    let hide = || vec!["~/.ssh/agent".to_owned()];
    assert_eq!(
        arguments(&[".ssh/agent"], |home| FileAccessRequest { hide: hide(), ..in_home(home) }),
        ["--bind-try ~ ~", "--bind-try ~/.ssh ~/.ssh", "--tmpfs ~/.ssh", "--remount-ro ~/.ssh"]
    );
}

#[test]
fn writable_paths_are_mounted_before_read_only_parents() {
    let allowing = |allow: &str, home| FileAccessRequest { allow: vec![allow.to_owned()], ..in_home(home) };
    assert_eq!(
        arguments(&[".ssh/known_hosts"], |home| allowing("~/.ssh/known_hosts", home)),
        [
            "--bind-try ~ ~",
            "--tmpfs ~/.ssh",
            "--bind-try ~/.ssh/known_hosts ~/.ssh/known_hosts",
            "--remount-ro ~/.ssh"
        ]
    );
    assert_eq!(
        arguments(&[".ssh/id"], |home| allowing("~/.ssh", home)),
        ["--bind-try ~ ~", "--bind-try ~/.ssh ~/.ssh"]
    );
}

#[test]
fn other_projects_are_read_only_and_paths_of_the_configuration_are_not() {
    let made = &["other/a", "build/a", ".cache/a", ".ssh/id", "project/a"];
    let write = || ["~/build", "~/.ssh/id"].map(str::to_owned).into();
    assert_eq!(
        arguments(made, |home| FileAccessRequest { write: write(), ..in_home(home) }),
        [
            "--bind-try ~ ~",
            "--ro-bind-try ~/other ~/other",
            "--tmpfs ~/.ssh",
            "--bind-try ~/build ~/build",
            "--remount-ro ~/.ssh"
        ]
    );
}

#[test]
fn folders_around_restricted_paths_are_mount_points() {
    let made = &[".config/nvim/", "project/.git/hooks/"];
    let protected = |home: PathBuf| {
        let protected = vec![home.join("project/.git/hooks")];
        FileAccessRequest { protected, ..in_home(home) }
    };
    assert_eq!(
        arguments(made, protected),
        [
            "--bind-try ~ ~",
            "--bind-try ~/.config ~/.config",
            "--bind-try ~/project/.git ~/project/.git",
            "--ro-bind-try ~/.config/nvim ~/.config/nvim",
            "--ro-bind-try ~/project/.git/hooks ~/project/.git/hooks"
        ]
    );
}

#[test]
fn startup_files_that_are_kept_in_the_work_tree_are_work() {
    let linked = |home: PathBuf| {
        std::os::unix::fs::symlink(home.join("project/bashrc"), home.join(".bashrc")).unwrap();
        in_home(home)
    };
    assert_eq!(arguments(&["project/bashrc"], linked), [""; 0]);
}
