//! Reports the removal of files and folders with inotify. Causes no wake-ups while they exist.

use std::future::pending;
use std::path::PathBuf;

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::net::unix::pipe::Receiver;

/// Reads events of inotify, which the runtime's pipe reader can read, too. `None` if the system provides none.
pub struct RemovalWatch(Option<Receiver>);

impl RemovalWatch {
    /// Needs a tokio runtime. Does not report paths that are already missing: check once after this.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        // For a file that is held open, unlinking is only an attribute change: its link count decreases.
        let flags = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF | WatchFlags::ATTRIB;
        let watch = || {
            let events = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            for path in paths {
                // If one watch fails, the others still report.
                let _ = add_watch(&events, &path, flags);
            }
            Receiver::from_owned_fd_unchecked(events).ok()
        };
        Self(watch())
    }

    /// Waits until one of the paths may have been removed; forever if the system does not report it.
    pub async fn wait_removed(&self) {
        let Some(events) = &self.0 else { return pending().await };
        while events.readable().await.is_ok() {
            if events.try_read(&mut [0; 4096]).is_ok() {
                return;
            }
        }
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::RemovalWatch;

    type Act = fn(&Path);

    #[tokio::test]
    async fn every_kind_of_removal_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let removals: [(&str, Act); 4] = [
            ("a", |it| fs::remove_file(it.join("kept")).unwrap()),
            ("b", |it| fs::remove_dir_all(it).unwrap()),
            ("c", |it| fs::rename(it, it.with_extension("old")).unwrap()),
            ("d", |it| fs::rename(it.join("new"), it.join("kept")).unwrap()),
        ];
        for (name, act) in removals {
            fs::create_dir(at(name)).unwrap();
            let kept = at(name).join("kept");
            let _open = File::create(&kept).unwrap();
            let watch = RemovalWatch::new([kept.clone(), at(name)]);
            fs::write(at(name).join("new"), "x").unwrap();
            fs::write(&kept, "more").unwrap();
            assert!(
                timeout(Duration::from_millis(30), watch.wait_removed()).await.is_err(),
                "{name}: nothing yet"
            );
            act(&at(name));
            assert!(timeout(Duration::from_secs(5), watch.wait_removed()).await.is_ok(), "{name}");
        }
    }
}
