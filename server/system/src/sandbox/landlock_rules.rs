//! Restricts a job and its descendants by Landlock rules, without a mount namespace or in addition to one.
//!
//! Landlock only permits. A path is closed by permitting all its siblings, so nothing new can be created in a folder
//! that holds a closed one, and files inside the work tree cannot be closed at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use loopkeeper_text::tr;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::real_paths::existing_real_paths;

/// The first version that permits moving a file to another folder, which builds need.
const FILES: u32 = 2;
/// The first version that limits TCP.
pub(super) const NETWORK: u32 = 4;
/// The first version that limits signals and abstract sockets.
pub(super) const SCOPES: u32 = 6;
/// Options of the warden.
const HIDE: &str = "--hide";
const KEEP: &str = "--keep";
const OPEN: &str = "--open";
const SCOPE: &str = "--scope";
const NO_TCP: &str = "--no-tcp";

/// What a job may not access. The rules are made when it starts, from the files that exist then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LandlockRules {
    /// Neither readable nor writable.
    pub(super) hidden: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    /// Fully accessible, also below closed paths.
    pub(super) open: Vec<PathBuf>,
    /// No signals to processes, and no abstract sockets of processes, that are not the job's.
    pub(super) scope: bool,
    /// No TCP connections and no TCP ports.
    pub(super) no_tcp: bool,
}

/// The version of Landlock that limits files here; the error is the reason why there is none, as text. Tested by a thread
/// that restricts itself.
pub fn detect_landlock() -> Result<u32, String> {
    let probe = || Ruleset::default().handle_access(AccessFs::Execute)?.create()?.restrict_self();
    let probed = run_in_thread(probe).map_err(|error| tr!("Landlock does not work here ({error})", error))?;
    match probed {
        Ok(Ok(RestrictionStatus { landlock: LandlockStatus::Available { effective_abi, .. }, .. })) => {
            let version = effective_abi as u32;
            if version >= FILES {
                Ok(version)
            } else {
                Err(tr!("the kernel's Landlock is too old").to_owned())
            }
        }
        Ok(Ok(RestrictionStatus { landlock: LandlockStatus::NotEnabled, .. })) => {
            Err(tr!("Landlock is not enabled in this kernel").to_owned())
        }
        Ok(Ok(_)) => Err(tr!("this kernel has no Landlock").to_owned()),
        Ok(Err(error)) => Err(tr!("Landlock does not work here ({error})", error)),
        Err(_) => Err(tr!("Landlock does not work here").to_owned()),
    }
}

impl LandlockRules {
    /// Only signals and abstract sockets, which no mount namespace limits, and TCP.
    pub(super) fn without_files(scope: bool, no_tcp: bool) -> Self {
        Self { scope, no_tcp, ..Self::default() }
    }

    /// The options of the warden that [`Self::read_option`] reads.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let paths = [(HIDE, &self.hidden), (KEEP, &self.read_only), (OPEN, &self.open)];
        let options = paths.into_iter().flat_map(|(option, paths)| paths.iter().map(move |it| (option, it)));
        let words = options.flat_map(|(option, path)| [option.into(), path.clone().into_os_string()]);
        let flags = [(SCOPE, self.scope), (NO_TCP, self.no_tcp)].into_iter().filter(|it| it.1);
        words.chain(flags.map(|it| it.0.into())).collect()
    }

    /// Reads one option of the warden's command line. False if it is none of these or lacks its path.
    pub fn read_option(&mut self, word: &str, rest: &mut impl Iterator<Item = OsString>) -> bool {
        let list = match word {
            HIDE => &mut self.hidden,
            KEEP => &mut self.read_only,
            OPEN => &mut self.open,
            SCOPE => {
                self.scope = true;
                return true;
            }
            NO_TCP => {
                self.no_tcp = true;
                return true;
            }
            _ => return false,
        };
        rest.next().map(|path| list.push(path.into())).is_some()
    }

    /// Runs `start` in a thread that these rules restrict, so that they apply to its children, not to the caller.
    pub fn start<T: Send>(&self, start: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        if *self == Self::default() {
            return start();
        }
        let restricted = || self.restrict().map_err(io::Error::other).and_then(|()| start());
        run_in_thread(restricted)?
            .unwrap_or_else(|_| Err(io::Error::other(tr!("the job could not be restricted"))))
    }

    fn restrict(&self) -> Result<(), RulesetError> {
        let files = !(self.hidden.is_empty() && self.read_only.is_empty());
        let mut rules = Ruleset::default();
        if self.scope {
            rules = rules.scope(Scope::from_all(ABI::V6))?;
        }
        if self.no_tcp {
            rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        if files {
            rules = rules.handle_access(read_rights() | write_rights())?;
        }
        let mut created = rules.create()?;
        if files {
            let (hidden, kept) = (existing_real_paths(&self.hidden), existing_real_paths(&self.read_only));
            let closed: Vec<PathBuf> = hidden.iter().chain(&kept).cloned().collect();
            created = permit(created, &uncovered_paths(Path::new("/"), &hidden), read_rights())?;
            created = permit(created, &uncovered_paths(Path::new("/"), &closed), write_rights())?;
            created = permit(created, &existing_real_paths(&self.open), read_rights() | write_rights())?;
        }
        created.restrict_self().map(drop)
    }
}

/// Runs `action` in a new thread; an error if the thread cannot be started.
fn run_in_thread<T: Send>(action: impl FnOnce() -> T + Send) -> io::Result<thread::Result<T>> {
    thread::scope(|threads| Ok(thread::Builder::new().spawn_scoped(threads, action)?.join()))
}

/// Without the right to list folders: programs list those that hold closed paths.
fn read_rights() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{Execute | ReadFile})
}

fn write_rights() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V3)
}

fn permit(
    mut rules: landlock::RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    for path in paths {
        // A path that was removed, or became a link, has no rule.
        if let Some((file, is_folder)) = open(path) {
            let access = if is_folder { access } else { access & AccessFs::from_file(ABI::V3) };
            rules = rules.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(rules)
}

fn open(path: &Path) -> Option<(OwnedFd, bool)> {
    let file = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
    (kind != rustix::fs::FileType::Symlink).then(|| (file, kind == rustix::fs::FileType::Directory))
}

/// The largest folders and files below `at` that are not, and do not hold, one of `closed`. Links are left out: their
/// targets are found at their own places.
fn uncovered_paths(at: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    if closed.iter().any(|it| it == at) {
        return Vec::new();
    }
    if !closed.iter().any(|it| it.starts_with(at)) {
        return vec![at.to_owned()];
    }
    let entries = fs::read_dir(at).into_iter().flatten().flatten();
    let real = entries.filter(|it| it.file_type().is_ok_and(|kind| !kind.is_symlink()));
    real.flat_map(|it| uncovered_paths(&it.path(), closed)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn siblings_of_closed_paths_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/.ssh/keys", "home/.config/gh", "home/.config/tool", "home/project", "srv/data"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("home/.netrc"), "").unwrap();
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("home/link")).unwrap();
        let check = |closed: &[&str], expect: &[&str]| {
            let closed: Vec<PathBuf> = closed.iter().map(|it| root.join(it)).collect();
            let mut found = uncovered_paths(&root, &closed);
            found.sort();
            let expect: Vec<PathBuf> = expect.iter().map(|it| root.join(it)).collect();
            assert_eq!(found, expect, "{closed:?}");
        };
        check(&[], &[""]);
        check(&["home/.ssh"], &["home/.config", "home/.netrc", "home/project", "srv"]);
        check(
            &["home/.ssh/keys", "home/.ssh", "home/.config/gh", "home/.netrc"],
            &["home/.config/tool", "home/project", "srv"],
        );
        check(&["home/absent"], &["home/.config", "home/.netrc", "home/.ssh", "home/project", "srv"]);
        check(&[""], &[]);
    }

    #[test]
    fn options_are_read_as_they_were_written() {
        let rules = LandlockRules {
            hidden: vec!["/a b".into(), "--open".into()],
            read_only: vec!["/c".into()],
            open: vec!["/d".into()],
            scope: true,
            no_tcp: true,
        };
        let (mut read, mut words) = (LandlockRules::default(), rules.arguments().into_iter());
        while let Some(word) = words.next() {
            assert!(read.read_option(word.to_str().unwrap(), &mut words));
        }
        assert_eq!(read, rules);
        assert!(!read.read_option("--hide", &mut std::iter::empty()));
        assert!(!read.read_option("--orders", &mut std::iter::empty()));
    }

    #[test]
    fn rules_hold_for_what_is_started_and_not_for_the_caller() {
        if let Err(why) = detect_landlock() {
            if let Some(list) = std::env::var_os("LOOPKEEPER_NOT_RUN") {
                let mut list = fs::File::options().append(true).create(true).open(list).unwrap();
                writeln!(list, "rules of Landlock ({why})").unwrap();
            }
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("secret")).unwrap();
        fs::create_dir(at("secret/mine")).unwrap();
        for path in ["secret/key", "kept", "secret/mine/file"] {
            fs::write(at(path), "text").unwrap();
        }
        let rules = LandlockRules {
            hidden: vec![at("secret")],
            read_only: vec![at("kept")],
            open: vec![at("secret/mine")],
            ..LandlockRules::default()
        };
        let works = |code: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", code]).current_dir(folder.path());
            rules.start(|| command.output()).unwrap().status.success()
        };
        for (code, expect) in [
            ("cat secret/key", false),
            ("ln secret/key there && cat there", false),
            ("echo more >> secret/key", false),
            ("rm secret/key", false),
            ("mv secret there", false),
            ("cat kept", true),
            ("echo more >> kept", false),
            ("cat secret/mine/file && echo more >> secret/mine/new", true),
            ("cat /dev/null && echo more > /dev/null", true),
        ] {
            assert_eq!(works(code), expect, "{code}");
        }
        assert_eq!(fs::read_to_string(at("secret/key")).unwrap(), "text");
    }
}
