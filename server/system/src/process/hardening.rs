//! Protects this process from other processes of the same user, because its open files decide verdicts.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

/// Prevents processes of the same user from tracing this one, reading its memory, or taking or reopening its files.
/// Programs that it starts are not affected. Does nothing if `/proc` hides such processes, because a keeper has to see
/// its wardens.
pub fn forbid_tracing() -> io::Result<()> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if hides_processes(&mounts) {
        return Ok(());
    }
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Whether the topmost `/proc` mount has the option `hidepid`.
fn hides_processes(mounts: &str) -> bool {
    let options = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        (fields.next() == Some("/proc")).then(|| fields.nth(1).unwrap_or_default().to_owned())
    };
    let options = mounts.lines().rev().find_map(options).unwrap_or_default();
    let hidden = options.split(',').find_map(|it| it.strip_prefix("hidepid="));
    hidden.is_some_and(|it| !matches!(it, "0" | "off"))
}

/// Jobs of root start without the capability that would override [`forbid_tracing`].
pub fn drop_tracing_capability() {
    // A process that may not drop it does not have it.
    let _ = remove_capability_from_bounding_set(CapabilitySet::SYS_PTRACE);
}

/// Jobs of root start without the capabilities by which they could undo the mounts of their namespace or bypass them.
/// Sandboxes that they build in their own user namespaces still work.
pub fn drop_mount_capabilities() {
    for capability in [
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::SYS_MODULE,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::SYS_BOOT,
        CapabilitySet::DAC_READ_SEARCH,
        CapabilitySet::MKNOD,
    ] {
        let _ = remove_capability_from_bounding_set(capability);
    }
}

/// Jobs of root start without the capability to change the interfaces and the packet filter of their network namespace,
/// which the next job of the same warden uses.
pub fn drop_network_capability() {
    let _ = remove_capability_from_bounding_set(CapabilitySet::NET_ADMIN);
}

#[cfg(test)]
mod tests {
    use super::hides_processes;

    #[test]
    fn only_the_topmost_mount_of_proc_counts() {
        let check = |mounts: &str, expect| assert_eq!(hides_processes(mounts), expect, "{mounts}");
        check("proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n", false);
        check("/dev/sda / ext4 rw 0 0\nproc /proc proc rw,hidepid=invisible 0 0\n", true);
        check("proc /proc proc rw,relatime,hidepid=2 0 0\ntmpfs /tmp tmpfs rw 0 0\n", true);
        check("proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw,relatime 0 0\n", false);
        check("proc /proc proc rw,hidepid=off 0 0\n", false);
        check("proc /mnt/proc proc rw,hidepid=2 0 0\n", false);
        check("", false);
    }
}
