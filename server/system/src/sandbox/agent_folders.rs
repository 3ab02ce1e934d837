//! Creates the folders in which agents keep their state. Under Landlock an agent cannot create them itself if its home
//! folder contains a closed path.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use loopkeeper_agent::kind::AgentKind;

use super::known_paths::AGENT_SETTINGS;

/// Base folders of the XDG specification, with its mode for new ones.
const BASE_FOLDERS: &[&str] = &[".cache", ".config", ".local/share", ".local/state"];
const MODE: u32 = 0o700;

/// A folder that cannot be created is left to the agent, whose own message names it.
pub(super) fn create(home: &Path, agents: &[AgentKind]) {
    let of_agents = AGENT_SETTINGS.iter().filter(|it| agents.contains(&it.0)).map(|it| it.1);
    for folder in BASE_FOLDERS.iter().copied().chain(of_agents) {
        let path = home.join(folder);
        if let Err(error) = DirBuilder::new().recursive(true).mode(MODE).create(&path) {
            tracing::warn!("could not create {}: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folders_that_are_missing_are_created() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at(".config")).unwrap();
        fs::set_permissions(at(".config"), fs::Permissions::from_mode(0o755)).unwrap();
        create(home.path(), &[AgentKind::Codex]);
        let mode = |name: &str| fs::metadata(at(name)).map(|it| it.permissions().mode() & 0o777).ok();
        assert_eq!(mode(".config"), Some(0o755));
        assert_eq!([".codex", ".local/share", ".cache"].map(mode), [Some(0o700); 3]);
        assert_eq!(mode(".claude"), None);
    }
}
