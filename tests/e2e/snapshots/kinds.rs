//! One repository of every common kind, each created by real git.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::Place;

/// The root of the task, or the reason why this machine cannot create it.
pub(super) enum Made {
    At(PathBuf),
    NotHere(String),
}

type Make = fn(&Place) -> Made;

pub(super) const KINDS: [(&str, Make); 28] = [
    ("no git", no_git),
    ("no commits", no_commits),
    ("dirty, staged, untracked", dirty),
    ("detached", detached),
    ("merge conflict", merge),
    ("rebase in progress", rebase),
    ("cherry-pick in progress", cherry_pick),
    ("bisect", bisect),
    ("locks left behind", locks),
    ("submodule", submodule),
    ("inside a submodule", inside_submodule),
    ("nested repository with commits", nested),
    ("nested repository without commits", nested_without_commits),
    ("embedded bare repository", embedded_bare),
    ("linked work tree", worktree),
    ("root below the top", below_top),
    ("sparse checkout", sparse),
    ("sparse index", sparse_index),
    ("sha256", sha256),
    ("reftable", reftable),
    ("shallow", shallow),
    ("partial clone", partial),
    ("alternates", alternates),
    ("attributes that rewrite bytes", attributes),
    ("hostile names", hostile_names),
    ("modes, links, pipes", modes),
    ("conflicting cases and git-like names", odd_names),
    ("fsmonitor, untracked cache, split index", index_features),
];

fn write(dir: &Path, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn commit(place: &Place, dir: &Path, message: &str) {
    place.git(dir, &["add", "-A"]);
    place.git(dir, &["commit", "-q", "-m", message]);
}

/// A repository with two commits and two branches that conflict in `a`.
fn basic(place: &Place, dir: &Path) {
    place.git(dir, &["init", "-q"]);
    write(dir, "a", "one\n");
    write(dir, "src/b.rs", "fn b() {}\n");
    write(dir, "script.sh", "#!/bin/sh\n");
    fs::set_permissions(dir.join("script.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    write(dir, ".gitignore", "*.o\nbuild/\n");
    commit(place, dir, "first");
    place.git(dir, &["checkout", "-q", "-b", "other"]);
    write(dir, "a", "other\n");
    commit(place, dir, "other");
    place.git(dir, &["checkout", "-q", "main"]);
    write(dir, "a", "main\n");
    commit(place, dir, "main");
    write(dir, "untracked", "mine\n");
}

fn made(place: &Place, make: impl FnOnce(&Path)) -> Made {
    let work = place.work();
    basic(place, &work);
    make(&work);
    Made::At(work)
}

fn no_git(place: &Place) -> Made {
    write(&place.work(), "a", "1");
    write(&place.work(), "b/c", "2");
    Made::At(place.work())
}

fn no_commits(place: &Place) -> Made {
    place.git(&place.work(), &["init", "-q"]);
    write(&place.work(), "a", "1");
    place.git(&place.work(), &["add", "a"]);
    write(&place.work(), "b", "2");
    Made::At(place.work())
}

fn dirty(place: &Place) -> Made {
    made(place, |work| {
        write(work, "a", "staged\n");
        place.git(work, &["add", "a"]);
        write(work, "a", "and changed again\n");
        fs::remove_file(work.join("src/b.rs")).unwrap();
        place.git(work, &["stash", "push", "-q"]);
        place.git(work, &["stash", "apply", "-q"]);
    })
}

fn detached(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["checkout", "-q", "--detach", "HEAD~1"]);
    })
}

fn conflict(place: &Place, arguments: &[&str]) -> Made {
    made(place, |work| {
        assert!(!place.try_git(work, arguments).status.success(), "{arguments:?} should conflict");
    })
}

fn merge(place: &Place) -> Made {
    conflict(place, &["merge", "other"])
}

fn rebase(place: &Place) -> Made {
    conflict(place, &["rebase", "other"])
}

fn cherry_pick(place: &Place) -> Made {
    conflict(place, &["cherry-pick", "other"])
}

fn bisect(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["bisect", "start", "HEAD", "HEAD~1"]);
    })
}

fn locks(place: &Place) -> Made {
    made(place, |work| {
        for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock", "config.lock"] {
            write(&work.join(".git"), name, "");
        }
    })
}

fn with_submodule(place: &Place) {
    let library = place.all().join("library");
    fs::create_dir(&library).unwrap();
    place.git(&library, &["init", "-q"]);
    write(&library, "lib.c", "int x;\n");
    write(&library, ".gitignore", "*.tmp\n");
    commit(place, &library, "library");
    let work = place.work();
    basic(place, &work);
    place.git(&work, &["submodule", "--quiet", "add", "../library", "vendor/library"]);
    commit(place, &work, "with library");
    write(&work, "vendor/library/lib.c", "int dirty;\n");
    write(&work, "vendor/library/new.c", "int new;\n");
}

fn submodule(place: &Place) -> Made {
    with_submodule(place);
    Made::At(place.work())
}

fn inside_submodule(place: &Place) -> Made {
    with_submodule(place);
    Made::At(place.work().join("vendor/library"))
}

fn nested(place: &Place) -> Made {
    made(place, |work| {
        let inner = work.join("inner");
        fs::create_dir(&inner).unwrap();
        place.git(&inner, &["init", "-q"]);
        write(&inner, "x", "inner\n");
        commit(place, &inner, "inner");
        write(&inner, "y", "untracked\n");
    })
}

fn nested_without_commits(place: &Place) -> Made {
    made(place, |work| {
        let inner = work.join("inner");
        fs::create_dir(&inner).unwrap();
        place.git(&inner, &["init", "-q"]);
        write(&inner, "x", "inner\n");
    })
}

fn embedded_bare(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["init", "-q", "--bare", "fixtures/bare.git"]);
    })
}

fn worktree(place: &Place) -> Made {
    let main = place.all().join("main");
    fs::create_dir(&main).unwrap();
    basic(place, &main);
    fs::remove_dir(place.work()).unwrap();
    place.git(&main, &["worktree", "add", "-q", "../work", "other"]);
    write(&place.work(), "untracked", "mine");
    Made::At(place.work())
}

fn below_top(place: &Place) -> Made {
    made(place, |work| write(work, "src/deep/c", "x"));
    Made::At(place.work().join("src"))
}

fn sparse(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["sparse-checkout", "set", "--no-cone", "/*", "!/src/"]);
    })
}

fn sparse_index(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["sparse-checkout", "set", "--cone", "--sparse-index", "docs"]);
    })
}

fn format(place: &Place, argument: &str) -> Made {
    let work = place.work();
    let output = place.try_git(&work, &["init", "-q", argument]);
    if !output.status.success() {
        return Made::NotHere(format!("this git does not know {argument}"));
    }
    write(&work, "a", "1");
    commit(place, &work, "first");
    write(&work, "b", "2");
    Made::At(work)
}

fn sha256(place: &Place) -> Made {
    format(place, "--object-format=sha256")
}

fn reftable(place: &Place) -> Made {
    format(place, "--ref-format=reftable")
}

fn clone(place: &Place, arguments: &[&str]) -> Made {
    let origin = place.all().join("origin");
    fs::create_dir(&origin).unwrap();
    basic(place, &origin);
    place.git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    fs::remove_dir(place.work()).unwrap();
    let url = format!("file://{}", origin.display());
    place.git(&place.all(), &[&["clone", "-q"], arguments, &[&url, "work"]].concat());
    write(&place.work(), "new", "x");
    Made::At(place.work())
}

fn shallow(place: &Place) -> Made {
    clone(place, &["--depth=1"])
}

fn partial(place: &Place) -> Made {
    clone(place, &["--filter=blob:none"])
}

fn alternates(place: &Place) -> Made {
    clone(place, &["--shared"])
}

fn attributes(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["config", "filter.rot.clean", "tr a-y b-z"]);
        place.git(work, &["config", "filter.rot.smudge", "tr b-z a-y"]);
        place.git(work, &["config", "core.autocrlf", "true"]);
        let rules = "*.crlf text eol=crlf\n*.lf text eol=lf\n*.id ident\n*.rot filter=rot\n\
                     *.u16 text working-tree-encoding=UTF-16LE\n* text=auto\n";
        write(work, ".gitattributes", rules);
        write(work, "mixed.crlf", "a\nb\r\nc\rd");
        write(work, "mixed.lf", "a\nb\r\nc\rd");
        write(work, "x.id", "$Id$ $Id: 0123 $\n");
        write(work, "x.rot", "abc\n");
        write(work, "x.u16", b"h\0i\0\n\0");
        write(work, "auto.txt", "a\r\nb\n");
        place.git(work, &["add", "-A"]);
        place.git(work, &["commit", "-q", "-m", "attributes"]);
    })
}

fn hostile_names(place: &Place) -> Made {
    made(place, |work| {
        let names: [&[u8]; 11] = [
            b"-rf",
            b"--help",
            b"new\nline",
            b"\x1b[31mred\x07",
            b"\xff\xfe not utf-8",
            b"quote\"s'and\\slashes",
            b" leading and trailing ",
            b"*?[glob]",
            b":(exclude)magic",
            "\u{202e}txt.exe".as_bytes(),
            &[b'x'; 255],
        ];
        for name in names {
            write(work, OsStr::from_bytes(name), name);
            write(work, Path::new("d").join(OsStr::from_bytes(name)).join("f"), name);
        }
    })
}

fn modes(place: &Place) -> Made {
    made(place, |work| {
        for (name, mode) in [("m600", 0o600), ("m755", 0o755), ("m700", 0o700), ("m444", 0o444)] {
            write(work, name, name);
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let links = [
            ("dangling", "/no/where"),
            ("loop", "loop"),
            ("outside", "/etc/hostname"),
            ("to-folder", "src"),
            ("up", "../../.."),
        ];
        for (name, target) in links {
            symlink(target, work.join(name)).unwrap();
        }
        let made = std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap();
        assert!(made.success());
        drop(std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap());
        fs::remove_file(work.join("socket")).unwrap();
    })
}

fn odd_names(place: &Place) -> Made {
    made(place, |work| {
        for name in
            ["README", "readme", "git~1", ".GIT ", ".gitmodules", ".gitattributes.", "sub/.Git/x", "HEAD"]
        {
            write(work, name, name);
        }
    })
}

fn index_features(place: &Place) -> Made {
    made(place, |work| {
        place.git(work, &["config", "core.untrackedCache", "true"]);
        place.git(work, &["config", "core.splitIndex", "true"]);
        place.git(work, &["config", "index.version", "4"]);
        place.git(work, &["update-index", "--untracked-cache"]);
        place.git(work, &["update-index", "--split-index"]);
        place.git(work, &["status"]);
    })
}
