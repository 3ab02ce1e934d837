//! Describes the network of the jobs in a sandbox.

use std::ffi::OsStr;

use loopkeeper_text::language::Language;
use loopkeeper_text::{tr, words};

use super::landlock_rules;
use crate::host_proxy::HostProxy;

/// Options of the warden.
const OWN_NETWORK: &str = "--own-network";
const PROXY: &str = "--proxy";

/// The network of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NetworkAccess {
    /// The network of the machine.
    #[default]
    Full,
    /// A separate network namespace with only a loopback interface.
    Loopback,
    /// The same, and a proxy on it that connects to the hosts of a list.
    Hosts(HostProxy),
    /// The network of the machine, but Landlock denies TCP connections and ports, including those of the loopback
    /// interface.
    NoTcp,
    /// The network of the machine, although the settings limit it.
    Open { why: String },
}

/// The network that a warden sets up before its first job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkSetup {
    /// Enter a new network namespace, because bubblewrap did not make one.
    pub own_namespace: bool,
    /// Listen for the proxy of its jobs, and pass the socket to the keeper.
    pub proxy: bool,
}

impl NetworkSetup {
    /// The options of the warden that [`Self::read_option`] reads.
    pub(super) fn arguments(self) -> impl Iterator<Item = &'static OsStr> {
        let flags = [(OWN_NETWORK, self.own_namespace), (PROXY, self.proxy)];
        flags.into_iter().filter_map(|(option, is_set)| is_set.then_some(option.as_ref()))
    }

    /// Reads one option of the warden's command line. False if it is none of these.
    pub fn read_option(&mut self, word: &str) -> bool {
        match word {
            OWN_NETWORK => self.own_namespace = true,
            PROXY => self.proxy = true,
            _ => return false,
        }
        true
    }

    /// Whether the jobs have a network namespace that is not the machine's.
    pub fn is_separate(self) -> bool {
        self.own_namespace || self.proxy
    }
}

impl NetworkAccess {
    /// The network as limited by Landlock of this version; open if it cannot limit it.
    pub(super) fn with_landlock(version: Result<u32, String>, why: &str) -> Self {
        match version {
            Ok(version) if version >= landlock_rules::NETWORK => Self::NoTcp,
            Ok(version) => Self::Open {
                why: tr!("{why}, and Landlock of version {version} does not limit it", why, version),
            },
            Err(error) => Self::Open { why: tr!("{why}, and {other}", why, other = error) },
        }
    }

    /// The entry in the journal, where the English words are data; absent if nothing is to be limited.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Full => None,
            Self::Loopback => Some("closed".to_owned()),
            Self::Hosts(proxy) => {
                Some(Language::English.during(|| format!("limited to {}", count_hosts(proxy))))
            }
            Self::NoTcp => Some("no-tcp".to_owned()),
            Self::Open { why } => Some(format!("open: {why}")),
        }
    }

    /// A sentence after that of the sandbox, with a space before it; empty if nothing is to be limited.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Full => String::new(),
            Self::Loopback => tr!(" They have no network.").to_owned(),
            Self::Hosts(proxy) => tr!(" Their network is limited to {hosts}.", hosts = count_hosts(proxy)),
            Self::NoTcp => tr!(" Landlock denies them TCP connections; other protocols are open.").to_owned(),
            Self::Open { why } => tr!(" Their network is open: {why}.", why),
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Whether the jobs have a separate network namespace.
    pub(super) fn is_separate(&self) -> bool {
        matches!(self, Self::Loopback | Self::Hosts(_))
    }

    pub fn proxy(&self) -> Option<&HostProxy> {
        match self {
            Self::Hosts(proxy) => Some(proxy),
            Self::Full | Self::Loopback | Self::NoTcp | Self::Open { .. } => None,
        }
    }
}

fn count_hosts(proxy: &HostProxy) -> String {
    words::counted(proxy.hosts().len() as u64, "host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landlock_limits_tcp_from_its_fourth_version() {
        let check = |version: Result<u32, &str>, expect: Option<&str>| {
            let network = NetworkAccess::with_landlock(version.map_err(str::to_owned), "no bubblewrap");
            assert_eq!(network.describe().as_deref(), expect, "{version:?}");
        };
        check(Ok(7), Some("no-tcp"));
        check(Ok(4), Some("no-tcp"));
        check(Ok(3), Some("open: no bubblewrap, and Landlock of version 3 does not limit it"));
        check(Err("there is no Landlock"), Some("open: no bubblewrap, and there is no Landlock"));
        assert_eq!(NetworkAccess::Full.describe(), None);
    }

    #[test]
    fn options_are_read_as_they_were_written() {
        for (own_namespace, proxy) in [(false, false), (true, false), (false, true), (true, true)] {
            let setup = NetworkSetup { own_namespace, proxy };
            let mut read = NetworkSetup::default();
            assert!(setup.arguments().all(|it| read.read_option(it.to_str().unwrap())));
            assert_eq!(read, setup);
        }
        assert!(!NetworkSetup::default().read_option("--orders"));
    }
}
