//! Finds where control groups can be made, from `/proc/self/cgroup` and `/proc/self/mountinfo`.

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupVersion {
    First,
    Second,
}

/// A group below which others can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupParent {
    pub(super) version: GroupVersion,
    /// The mount point of its hierarchy.
    pub(super) mount: PathBuf,
    pub(super) parent: PathBuf,
    /// The limits that groups below it can have.
    pub(super) memory: bool,
    pub(super) processes: bool,
}

/// One place for each controller, of the second version where it has the controller.
pub(super) fn find_parents(
    groups: &str,
    mounts: &str,
    is_writable: impl Fn(&Path) -> bool,
) -> Vec<GroupParent> {
    let mounts: Vec<GroupMount<'_>> = mounts.lines().filter_map(GroupMount::parse).collect();
    let mut found: Vec<GroupParent> = Vec::new();
    let second = mounts.iter().filter(|it| it.version == GroupVersion::Second);
    let first = mounts.iter().filter(|it| it.version == GroupVersion::First);
    for mount in second.chain(first) {
        let Some(own) = mount.own_folder(groups) else { continue };
        let place = match mount.version {
            GroupVersion::First => mount.place_at(&own, &is_writable),
            // A group with processes cannot enable controllers for groups below it, so they are made beside it.
            GroupVersion::Second => own
                .ancestors()
                .take_while(|it| it.starts_with(mount.point))
                .find_map(|it| mount.place_at(it, &is_writable)),
        };
        let Some(mut place) = place else { continue };
        place.memory &= !found.iter().any(|it| it.memory);
        place.processes &= !found.iter().any(|it| it.processes);
        if place.memory || place.processes {
            found.push(place);
        }
    }
    found
}

/// A mounted hierarchy.
struct GroupMount<'a> {
    version: GroupVersion,
    /// The group that is mounted.
    root: &'a str,
    point: &'a str,
    /// Options of the file system: the controllers of the first version.
    options: &'a str,
}

impl<'a> GroupMount<'a> {
    /// `36 25 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`, with optional fields before the dash.
    fn parse(line: &'a str) -> Option<Self> {
        let (own, system_fields) = line.split_once(" - ")?;
        let mut own = own.split(' ').skip(3);
        let (root, point) = (own.next()?, own.next()?);
        let mut system_fields = system_fields.split(' ');
        let version = match system_fields.next()? {
            "cgroup" => GroupVersion::First,
            "cgroup2" => GroupVersion::Second,
            _ => return None,
        };
        let options = system_fields.nth(1).unwrap_or_default();
        // A blank in the path is escaped with a backslash.
        (!point.contains('\\')).then_some(Self { version, root, point, options })
    }

    fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|it| it == controller)
    }

    /// The folder of the group in which this process is.
    fn own_folder(&self, groups: &str) -> Option<PathBuf> {
        let is_ours = |controllers: &str| match self.version {
            GroupVersion::First => controllers.split(',').any(|it| !it.is_empty() && self.has(it)),
            GroupVersion::Second => controllers.is_empty(),
        };
        let path = groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            fields.next().filter(|it| is_ours(it))?;
            fields.next()
        })?;
        let below = Path::new(path).strip_prefix(self.root).ok()?;
        let is_inside = below.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        // Collected, because an empty path would be joined as a slash.
        is_inside.then(|| Path::new(self.point).components().chain(below.components()).collect())
    }

    fn place_at(&self, parent: &Path, is_writable: impl Fn(&Path) -> bool) -> Option<GroupParent> {
        let controllers = match self.version {
            GroupVersion::First => self.options.replace(',', " "),
            GroupVersion::Second => {
                fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default()
            }
        };
        let has = |controller: &str| controllers.split_whitespace().any(|it| it == controller);
        let (memory, processes) = (has("memory"), has("pids"));
        let (mount, parent) = (PathBuf::from(self.point), parent.to_owned());
        let is_useful = (memory || processes) && is_writable(&parent);
        is_useful.then_some(GroupParent { version: self.version, mount, parent, memory, processes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(places: &[GroupParent]) -> Vec<String> {
        let line = |it: &GroupParent| {
            let limits = [(it.memory, "memory"), (it.processes, "pids")];
            let limits: Vec<&str> = limits.into_iter().filter(|it| it.0).map(|it| it.1).collect();
            format!("{:?} {} {}", it.version, it.parent.display(), limits.join("+"))
        };
        places.iter().map(line).collect()
    }

    #[test]
    fn hierarchies_of_the_first_version_are_used_where_this_process_is() {
        let groups = "8:pids:/\n4:memory,other:/user/me\n1:name=systemd:/\n0::/\n";
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
            35 31 0:32 / /c/memory rw,relatime shared:9 - cgroup cgroup rw,memory,other\n\
            39 31 0:36 / /c/pids rw,relatime - cgroup cgroup rw,pids\n\
            40 31 0:37 / /c/systemd rw,relatime - cgroup cgroup rw,name=systemd\n";
        let places = find_parents(groups, mounts, |_| true);
        assert_eq!(shown(&places), ["First /c/memory/user/me memory", "First /c/pids pids"]);
        let places = find_parents(groups, mounts, |it| it.starts_with("/c/pids"));
        assert_eq!(shown(&places), ["First /c/pids pids"]);
        assert!(find_parents(groups, "", |_| true).is_empty());
        assert!(find_parents("4:memory:/../x\n", mounts, |_| true).is_empty());
        assert!(find_parents("4:memory:/x\n", &mounts.replace(" / /c/", " /y /c/"), |_| true).is_empty());
    }

    #[test]
    fn the_nearest_group_of_the_second_version_with_controllers_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let own = folder.path().join("user/app/terminal");
        fs::create_dir_all(&own).unwrap();
        let control = |path: &str, text: &str| {
            fs::write(folder.path().join(path).join("cgroup.subtree_control"), text).unwrap();
        };
        control("", "cpu memory pids\n");
        control("user", "memory pids\n");
        control("user/app", "pids\n");
        control("user/app/terminal", "\n");
        let mounts = format!(
            "30 23 0:26 / {root} rw - cgroup2 cgroup2 rw,nsdelegate\n\
             35 31 0:32 / /c/memory rw - cgroup cgroup rw,memory\n"
        );
        let groups = "4:memory:/\n0::/user/app/terminal\n";
        let find = |below: &str| {
            let below = folder.path().join(below);
            let places = find_parents(groups, &mounts, |it| it.starts_with(&below) || it.starts_with("/c"));
            shown(&places).into_iter().map(|it| it.replace(root, "")).collect::<Vec<_>>()
        };
        assert_eq!(find(""), ["Second /user/app pids", "First /c/memory memory"]);
        assert_eq!(find("user/app/terminal"), ["First /c/memory memory"]);
        control("user/app", "memory pids\n");
        assert_eq!(find("user"), ["Second /user/app memory+pids"]);
    }
}
