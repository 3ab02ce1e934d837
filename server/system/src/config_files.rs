//! Finds and reads the configuration files of a work tree and of the user. Read-only: a hostile work tree can make it
//! fail with a message, but never block, use unbounded memory or run anything.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::settings::{
    Layer, LayerKind, ResolvedSettings, SettingOverride, environment_layer, resolve,
};
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::tr;

use super::config_text::{ConfigFileError, read_text};
use super::last_result::LastResult;
use super::template_file;
use super::work_trees::OtherWorkTrees;

/// Folders in which other tools keep their files, with the number of folders between them and the root.
const TOOL_FOLDERS: [(&str, usize); 8] = [
    (".ralph", 1),
    (".ralphy", 1),
    (".ralphify", 1),
    (".ralphex", 1),
    (".ralph-tui", 1),
    (".agents", 1),
    (".kiro", 1),
    ("scripts/ralph", 2),
];

/// Folders of a root in which another tool looks for tasks, with the folder of the tool there.
const PLAN_FOLDERS: [(&str, &str); 3] =
    [("docs/plans", ".ralphex"), ("prd", ".ralphy"), ("specs", ".specify")];

/// The root that `folder` belongs to: the nearest ancestor with a `loopkeeper.toml`, else the nearest one with a
/// configuration of another tool, inside of the repository if there is one, else the one with a `.git`, else the folder
/// around that of another tool, else `folder` itself. A real path.
pub fn root_of(folder: &Path) -> io::Result<PathBuf> {
    let folder = folder.canonicalize()?;
    let has_configuration = |it: &&Path| it.join("loopkeeper.toml").exists();
    let repository = folder.ancestors().find(|it| has_repository(it));
    let root = match (folder.ancestors().find(has_configuration), repository) {
        // Another work tree of the repository is separate, even below a folder with a configuration.
        (Some(root), Some(top)) if top.starts_with(root) && top != root => {
            Some(if OtherWorkTrees::new(root).holds(top) { top } else { root })
        }
        (Some(root), _) => Some(root),
        // A package of a repository that another tool works in.
        (None, Some(top)) => {
            Some(folder.ancestors().find(|it| *it == top || has_other_tool(it)).unwrap_or(top))
        }
        (None, None) => None,
    };
    let home = std::env::home_dir().and_then(|it| it.canonicalize().ok());
    let root = root.or_else(|| around_tool_folder(&folder, home.as_deref()));
    let root = root.or_else(|| below_other_tool(&folder, home.as_deref()));
    Ok(root.map(Path::to_owned).unwrap_or(folder))
}

/// The folder around the outermost folder of another tool. Never the home folder, in which such tools are installed.
fn around_tool_folder<'a>(folder: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    let around = |it: &'a Path| {
        let (_, up) = TOOL_FOLDERS.into_iter().find(|(name, _)| it.ends_with(name))?;
        it.ancestors().nth(up).filter(|it| may_be_root(it, home))
    };
    folder.ancestors().filter_map(around).last()
}

/// The nearest folder in which another tool works, for folders that are in no repository.
fn below_other_tool<'a>(folder: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    let has_plans_of_tool = |root: &Path| {
        let below = folder.strip_prefix(root).ok();
        PLAN_FOLDERS
            .iter()
            .any(|(name, tool)| below.is_some_and(|it| it.starts_with(name)) && root.join(tool).is_dir())
    };
    folder
        .ancestors()
        .filter(|it| may_be_root(it, home))
        .find(|it| has_other_tool(it) || has_plans_of_tool(it))
}

fn may_be_root(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_some() && Some(folder) != home
}

/// Whether `folder` is the top of a git repository. An empty `.git` folder does not count: sandboxes of agents leave
/// such folders behind, also in the folder for temporary files, which would then become the root of everything in it.
pub fn has_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
}

/// The configuration in effect in `root`, with `arguments` on top.
pub fn load(root: &Path, arguments: &[SettingOverride]) -> Result<Arc<ResolvedSettings>, ConfigFileError> {
    let user = user_file(std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME"));
    let mut resolved = resolve_cached(read_layers(root, user.as_deref())?, arguments);
    if let Some((path, origin)) = resolved.template()
        && let (Err(error), origin) = (template_file::read(root, path), origin.clone())
    {
        Arc::make_mut(&mut resolved).add_error(
            origin,
            tr!("`prompt.template`: {error}", error),
            error.hint().unwrap_or_default(),
        );
    }
    Ok(resolved)
}

/// Caches the last result: files and arguments rarely change between two calls, and a server asks several times for
/// each task.
fn resolve_cached(layers: Vec<Layer>, arguments: &[SettingOverride]) -> Arc<ResolvedSettings> {
    static LAST: LastResult<(Vec<Layer>, Vec<SettingOverride>), Arc<ResolvedSettings>> = LastResult::new();
    let Ok(resolved) = LAST.get_or_compute((layers, arguments.to_vec()), |(layers, arguments)| {
        Ok::<_, Infallible>(Arc::new(resolve(layers, arguments)))
    });
    resolved
}

/// Configurations of other tools in a root, the weakest first: the later of two files of the same kind wins.
const OTHER_TOOL_FILES: [(LayerKind, &str); 7] = [
    (LayerKind::OtherTool, "ralph.yml"),
    (LayerKind::OtherTool, "ralph.toml"),
    (LayerKind::OtherTool, ".ralphex/config"),
    (LayerKind::OtherTool, ".ralph-tui/config.toml"),
    (LayerKind::OtherTool, "bmalph/config.json"),
    (LayerKind::Ralphrc, ".ralphrc"),
    (LayerKind::Ralphrc, ".ralph/.ralphrc"),
];

/// Whether a configuration with this name in a root is that of another tool.
pub fn is_other_tool_file(name: &str) -> bool {
    OTHER_TOOL_FILES.iter().any(|(_, known)| *known == name)
}

/// Whether another tool works in this folder, and not only keeps its files there.
fn has_other_tool(folder: &Path) -> bool {
    let is_inside = TOOL_FOLDERS.iter().any(|(name, _)| folder.ends_with(name));
    !is_inside && OTHER_TOOL_FILES.iter().any(|(_, name)| folder.join(name).is_file())
}

/// The kind and the name of a configuration of another tool at `path`, if it is one in a root.
pub fn other_tool_file(root: &Path, path: &Path) -> Option<(LayerKind, &'static str)> {
    let below = path.strip_prefix(root).ok()?;
    OTHER_TOOL_FILES.into_iter().find(|(_, name)| below == Path::new(name))
}

/// The configuration files of other tools that are read if they exist.
pub fn other_tool_paths(root: &Path) -> impl Iterator<Item = PathBuf> {
    OTHER_TOOL_FILES.iter().map(|(_, name)| root.join(name))
}

/// Reads the configuration files that exist.
pub fn read_layers(root: &Path, user_file: Option<&Path>) -> Result<Vec<Layer>, ConfigFileError> {
    let user = user_file.map(|path| (LayerKind::User, path.to_owned(), path.display().to_string()));
    let of_root = OTHER_TOOL_FILES.into_iter().chain([(LayerKind::Workspace, "loopkeeper.toml")]);
    let of_root = of_root.map(|(kind, name)| (kind, root.join(name), name.to_owned()));
    let mut layers = Vec::new();
    for (kind, path, file) in user.into_iter().chain(of_root) {
        if let Some(text) = read_text(&path)? {
            layers.push(Layer { kind, file, text });
        }
    }
    if layers.iter().any(|it| it.kind == LayerKind::Ralphrc) {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        // After the files of the same kind, so that it wins.
        layers.extend(environment_layer(variables));
    }
    Ok(layers)
}

/// The folder of the user's configuration.
pub fn user_folder() -> Option<PathBuf> {
    let file = user_file(std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME"))?;
    file.parent().map(Path::to_owned)
}

/// Path of the user's file. Relative values of the variables are ignored, as the XDG specification requires.
fn user_file(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |it: Option<OsString>| it.map(PathBuf::from).filter(|it| it.is_absolute());
    let folder = absolute(config_home).or_else(|| absolute(home).map(|it| it.join(".config")))?;
    Some(folder.join("loopkeeper/config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopkeeper_core::settings::OverrideSource;
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_user_file_is_where_the_convention_puts_it() {
        let check = |config_home: Option<&str>, home: Option<&str>, expect: Option<&str>| {
            let found = user_file(config_home.map(OsString::from), home.map(OsString::from));
            assert_eq!(found.as_deref(), expect.map(Path::new));
        };
        check(Some("/c"), Some("/h"), Some("/c/loopkeeper/config.toml"));
        check(None, Some("/h"), Some("/h/.config/loopkeeper/config.toml"));
        check(Some(""), Some("/h"), Some("/h/.config/loopkeeper/config.toml"));
        check(Some("relative"), Some("/h"), Some("/h/.config/loopkeeper/config.toml"));
        check(None, Some(""), None);
        check(None, None, None);
    }

    #[test]
    fn a_package_with_the_configuration_of_another_tool_is_a_root() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let package = home.join("mono/packages/web");
        fs::create_dir_all(package.join(".ralph/specs")).unwrap();
        fs::create_dir_all(home.join("mono/.git")).unwrap();
        let check = |folder: &Path, expect: &Path| assert_eq!(root_of(folder).unwrap(), expect);
        fs::write(package.join(".ralph/.ralphrc"), "").unwrap();
        check(&package, &package);
        fs::write(home.join("mono/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for folder in ["", ".ralph", ".ralph/specs"] {
            check(&package.join(folder), &package);
        }
        check(&home.join("mono/packages"), &home.join("mono"));
        fs::write(home.join("mono/loopkeeper.toml"), "").unwrap();
        check(&package, &home.join("mono"));
    }

    #[test]
    fn the_root_is_the_nearest_folder_with_a_configuration_or_a_repository() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let deep = home.join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        let check = |expect: &str| assert_eq!(root_of(&deep).unwrap(), home.join(expect));
        check("a/b/c");
        // A worktree's `.git` is a file.
        fs::write(home.join("a/.git"), "gitdir: elsewhere").unwrap();
        check("a");
        fs::create_dir(home.join("a/b/.git")).unwrap();
        check("a");
        fs::write(home.join("a/b/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        check("a/b");
        fs::write(home.join("a/loopkeeper.toml"), "").unwrap();
        check("a");
        fs::write(home.join("a/b/loopkeeper.toml"), "").unwrap();
        check("a/b");
        // Another work tree of the repository is not part of the tree around it.
        let linked = home.join("a/b/trees/x");
        fs::create_dir_all(linked.join("src")).unwrap();
        let git_dir = home.join("a/b/.git/worktrees/x");
        fs::write(linked.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        assert_eq!(root_of(&linked.join("src")).unwrap(), linked);
        assert_eq!(root_of(&home.join("nowhere")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn specifications_outside_of_a_repository_belong_to_the_folder_around_them() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for (specification, root) in [
            ("kiro/.kiro/specs/shop", "kiro"),
            ("kit/specs/001-shop", "kit"),
            ("other/specs/a", "other/specs/a"),
        ] {
            fs::create_dir_all(home.join(specification)).unwrap();
            fs::create_dir_all(home.join("kit/.specify")).unwrap();
            assert_eq!(root_of(&home.join(specification)).unwrap(), home.join(root));
        }
    }

    #[test]
    fn the_root_is_around_the_folder_of_another_tool() {
        let check = |folder: &str, expect: Option<&str>| {
            let found = around_tool_folder(Path::new(folder), Some(Path::new("/home/me")));
            assert_eq!(found, expect.map(Path::new), "{folder}");
        };
        check("/home/me/shop/.ralph", Some("/home/me/shop"));
        check("/home/me/shop/.ralph/specs/api", Some("/home/me/shop"));
        check("/home/me/shop/.agents/tasks", Some("/home/me/shop"));
        check("/home/me/shop/scripts/ralph", Some("/home/me/shop"));
        check("/home/me/shop/.ralphify/ralphs/.ralph", Some("/home/me/shop"));
        check("/home/me/shop/scripts", None);
        check("/home/me/shop/ralph", None);
        check("/home/me/.ralph/templates", None);
        check("/.ralph", None);
    }

    #[test]
    fn without_a_repository_the_root_is_where_another_tool_works() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let shop = home.join("shop");
        for folder in ["docs/plans/completed", "docs/guide", "prd", "specs/next", ".ralphex"] {
            fs::create_dir_all(shop.join(folder)).unwrap();
        }
        let check = |folder: &str, expect: &Path| {
            assert_eq!(root_of(&shop.join(folder)).unwrap(), expect, "{folder}");
        };
        check("docs/plans", &shop);
        check("docs/plans/completed", &shop);
        check("docs/guide", &shop.join("docs/guide"));
        check("prd", &shop.join("prd"));
        check("specs/next", &shop.join("specs/next"));
        fs::create_dir(shop.join(".ralphy")).unwrap();
        check("prd", &shop);
        fs::write(shop.join(".ralphex/config"), "plans_dir = specs/next\n").unwrap();
        check("specs/next", &shop);
        fs::write(home.join("ralph.yml"), "max_iterations: 3\n").unwrap();
        check("specs/next", &shop);
        assert_eq!(below_other_tool(&shop.join("specs"), Some(&shop)), Some(home.as_path()));
        assert_eq!(below_other_tool(&home, Some(&home)), None);
    }

    #[test]
    fn every_existing_file_is_read_and_the_inner_ralphrc_wins() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        fs::create_dir(root.path().join(".ralph")).unwrap();
        assert_eq!(read_layers(root.path(), None).unwrap(), []);
        write("user.toml", "limits.iterations = 1\nkeep.loops = 1");
        write(".ralphrc", "CB_NO_PROGRESS_THRESHOLD=5\nCLAUDE_TIMEOUT_MINUTES=5");
        write(".ralph/.ralphrc", "CB_NO_PROGRESS_THRESHOLD=6");
        write("loopkeeper.toml", "limits.iterations = 7");
        let layers = read_layers(root.path(), Some(&root.path().join("user.toml"))).unwrap();
        let resolved = resolve(&layers, &[]);
        let settings = resolved.settings().unwrap();
        assert_eq!((settings.limits.iterations, settings.keep_loops), (7, 1));
        assert_eq!((settings.breaker.no_progress, settings.limits.iteration_ms), (6, 300_000));
        let files: Vec<&str> = layers.iter().skip(1).map(|it| it.file.as_str()).collect();
        assert_eq!(files, [".ralphrc", ".ralph/.ralphrc", "loopkeeper.toml"]);
    }

    #[test]
    fn a_file_that_changed_is_resolved_again() {
        let root = tempfile::tempdir().unwrap();
        let iterations = |text: &str, arguments: &[SettingOverride]| {
            fs::write(root.path().join("loopkeeper.toml"), text).unwrap();
            load(root.path(), arguments).unwrap().settings().unwrap().limits.iterations
        };
        let argument = |value: &str| SettingOverride {
            option: "--max-iterations".to_owned(),
            key: "limits.iterations".to_owned(),
            value: value.to_owned(),
            source: OverrideSource::Argument,
        };
        for _ in 0..2 {
            assert_eq!(iterations("limits.iterations = 7", &[]), 7);
            assert_eq!(iterations("limits.iterations = 8", &[]), 8);
            assert_eq!(iterations("limits.iterations = 8", &[argument("9")]), 9);
            assert_eq!(iterations("limits.iterations = 8", &[argument("4")]), 4);
        }
        fs::write(root.path().join("loopkeeper.toml"), "prompt.template = \"t.md\"").unwrap();
        assert!(load(root.path(), &[]).unwrap().settings().is_err(), "no such template");
        fs::write(root.path().join("t.md"), "{task} {failing}").unwrap();
        let resolved = load(root.path(), &[]).unwrap();
        assert!(resolved.settings().is_ok(), "{:?}", resolved.findings());
    }

    #[test]
    fn an_unreadable_configuration_is_not_absent() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("loopkeeper.toml");
        let check = |expect: &str| {
            let error = read_layers(root.path(), None).unwrap_err().to_string();
            assert_eq!(error, expect.replace('%', &path.display().to_string()));
        };
        symlink("nowhere", &path).unwrap();
        check("cannot read %: No such file or directory (os error 2)");
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        check("% is not a regular file");
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        check("% is not a regular file");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        check("% is not a regular file");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, vec![b'#'; 1024 * 1024 + 1]).unwrap();
        check("% is larger than 1048576 bytes");
        fs::write(&path, b"agent = \"\xff\"").unwrap();
        check("% is not UTF-8 text: byte 9 is invalid");
        fs::write(&path, vec![b'#'; 1024 * 1024]).unwrap();
        assert_eq!(read_layers(root.path(), None).unwrap().len(), 1);
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_not_a_configuration() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(".ralph"), "").unwrap();
        assert_eq!(read_layers(root.path(), None).unwrap(), []);
    }
}
