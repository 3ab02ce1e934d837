//! Whether the jobs of a sandbox have a network.

use super::landlock_rules;

/// The network of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NetworkAccess {
    /// As outside.
    #[default]
    Full,
    /// A separate network namespace with only a loopback interface.
    Loopback,
    /// As outside, but Landlock denies TCP connections and ports, those of the loopback interface included.
    NoTcp,
    /// As outside, although the settings close it.
    Open { why: String },
}

impl NetworkAccess {
    /// What Landlock of this version can do, or why it can do nothing.
    pub(super) fn of_landlock(version: Result<u32, String>, why: &str) -> Self {
        match version {
            Ok(version) if version >= landlock_rules::NETWORK => Self::NoTcp,
            Ok(version) => {
                Self::Open { why: format!("{why}, and Landlock of version {version} does not limit it") }
            }
            Err(neither) => Self::Open { why: format!("{why}, and {neither}") },
        }
    }

    /// For the journal; absent if nothing is to be limited.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Full => None,
            Self::Loopback => Some("closed".to_owned()),
            Self::NoTcp => Some("no-tcp".to_owned()),
            Self::Open { why } => Some(format!("open: {why}")),
        }
    }

    /// A sentence after that of the sandbox, with a space before it; empty if nothing is to be limited.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Full => String::new(),
            Self::Loopback => " They have no network.".to_owned(),
            Self::NoTcp => " Landlock denies them TCP connections; other protocols are open.".to_owned(),
            Self::Open { why } => format!(" Their network is open: {why}."),
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landlock_limits_tcp_from_its_fourth_version() {
        let check = |version: Result<u32, &str>, expect: Option<&str>| {
            let network = NetworkAccess::of_landlock(version.map_err(str::to_owned), "no bubblewrap");
            assert_eq!(network.describe().as_deref(), expect, "{version:?}");
        };
        check(Ok(7), Some("no-tcp"));
        check(Ok(4), Some("no-tcp"));
        check(Ok(3), Some("open: no bubblewrap, and Landlock of version 3 does not limit it"));
        check(Err("there is no Landlock"), Some("open: no bubblewrap, and there is no Landlock"));
        assert_eq!(NetworkAccess::Full.describe(), None);
    }
}
