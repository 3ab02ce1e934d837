//! The list of hosts in `sandbox.network`: its patterns, and whether a destination and its addresses match them.

use std::fmt;
use std::net::IpAddr;

use loopkeeper_task::criterion::address::{AddressScope, UrlHost};
use loopkeeper_text::tr;

/// Ports of a pattern that names none: HTTP and HTTPS.
const WEB_PORTS: [u16; 2] = [80, 443];
/// Longest name of a host, without the final dot.
const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;
/// Hosts that clients reach without a proxy unless the list names them.
const OWN_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A host and a port that a job asks to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    pub host: UrlHost,
    pub port: u16,
}

impl Destination {
    /// Reads `host:port`, `[::1]:port` or, with a default port, the host alone.
    pub fn parse(authority: &str, default_port: Option<u16>) -> Option<Self> {
        let (host, port) = split_port(authority)?;
        let host = UrlHost::of(host);
        is_host(&host).then_some(())?;
        Some(Self { host, port: port.or(default_port)? })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            UrlHost::Literal(IpAddr::V6(address)) => write!(out, "[{address}]:{}", self.port),
            host => write!(out, "{host}:{}", self.port),
        }
    }
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostPattern {
    hosts: PatternHosts,
    /// `None`: the ports of the web.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternHosts {
    One(UrlHost),
    /// All names that end with a dot and this one.
    Below(String),
}

/// How an entry of the list matches a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostMatch {
    /// `*.example.org`.
    Suffix,
    /// The host itself.
    Name,
}

/// The hosts that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostList(Vec<HostPattern>);

impl HostList {
    /// Entries with a [`pattern_fault`] are left out: the settings refuse them anyway.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Self {
        Self(entries.iter().filter_map(|it| parse_pattern(it.as_ref()).ok()).collect())
    }

    /// Whether the list names this destination. Decided before the name is resolved, so that a name that is not listed
    /// never reaches a name server.
    pub fn find(&self, to: &Destination) -> Option<HostMatch> {
        self.0.iter().filter_map(|it| it.matches(to)).max()
    }

    /// Whether every destination of this entry is in the list.
    pub fn covers(&self, entry: &str) -> bool {
        let Ok(other) = parse_pattern(entry) else { return false };
        let ports = other.port.map_or(WEB_PORTS.to_vec(), |it| vec![it]);
        ports.iter().all(|port| self.0.iter().any(|it| it.has_port(*port) && it.has_hosts_of(&other)))
    }

    /// The value of `NO_PROXY`: the loopback interface of the sandbox, unless the list names that of the machine.
    pub fn no_proxy(&self) -> String {
        let is_listed = |name: &str| {
            let host = UrlHost::of(name);
            self.0.iter().any(|it| it.hosts == PatternHosts::One(host.clone()))
        };
        OWN_HOSTS.into_iter().filter(|it| !is_listed(it)).collect::<Vec<_>>().join(",")
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether a resolved address may be connected to. An address outside the public network needs an entry that names
/// the host itself, because the owner of a domain decides where the names below it lead. Addresses of the link and of
/// cloud metadata need an entry with the address.
pub fn is_address_allowed(found: HostMatch, to: &Destination, address: IpAddr) -> bool {
    match (AddressScope::of(address), &to.host) {
        (AddressScope::Public, _) => true,
        (_, UrlHost::Literal(literal)) => found == HostMatch::Name && *literal == address,
        (AddressScope::Loopback | AddressScope::Private, UrlHost::Localhost | UrlHost::Name(_)) => {
            found == HostMatch::Name
        }
        (_, UrlHost::Localhost | UrlHost::Name(_)) => false,
    }
}

impl HostPattern {
    fn matches(&self, to: &Destination) -> Option<HostMatch> {
        if !self.has_port(to.port) {
            return None;
        }
        match (&self.hosts, &to.host) {
            (PatternHosts::One(host), other) => (host == other).then_some(HostMatch::Name),
            (PatternHosts::Below(suffix), UrlHost::Name(name)) => {
                is_below(name, suffix).then_some(HostMatch::Suffix)
            }
            (PatternHosts::Below(_), _) => None,
        }
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.map_or(WEB_PORTS.contains(&port), |it| it == port)
    }

    fn has_hosts_of(&self, other: &Self) -> bool {
        match (&self.hosts, &other.hosts) {
            // A named host may have private addresses, one below a suffix may not.
            (PatternHosts::One(own), PatternHosts::One(other)) => own == other,
            (PatternHosts::Below(own), PatternHosts::Below(other)) => own == other || is_below(other, own),
            (PatternHosts::One(_), PatternHosts::Below(_)) | (PatternHosts::Below(_), _) => false,
        }
    }
}

fn is_below(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|it| it.len() > 1 && it.ends_with('.'))
}

/// Why a text is not an entry of the list, as a phrase.
pub fn pattern_fault(entry: &str) -> Option<String> {
    parse_pattern(entry).err().map(str::to_owned)
}

fn parse_pattern(entry: &str) -> Result<HostPattern, &'static str> {
    if entry.contains("://") || entry.contains('/') {
        return Err(tr!("a URL: write the host alone"));
    }
    if entry == "*" {
        return Err(tr!("every host: write `sandbox.network = true`"));
    }
    let (host, port) = split_port(entry).ok_or_else(|| tr!("not a host with a port from 1 to 65535"))?;
    let hosts = match host.strip_prefix("*.") {
        Some(suffix) => match UrlHost::of(suffix) {
            UrlHost::Name(name) if is_name(&name) => PatternHosts::Below(name),
            _ => return Err(tr!("not a domain after `*.`")),
        },
        None => PatternHosts::One(UrlHost::of(host)),
    };
    match &hosts {
        PatternHosts::One(UrlHost::Name(name)) if name.contains('*') => {
            Err(tr!("a `*` that does not replace the first labels, as in `*.example.org`"))
        }
        PatternHosts::One(UrlHost::Name(name)) if !name.is_ascii() => {
            Err(tr!("not ASCII: write the name as `xn--…`"))
        }
        PatternHosts::One(host) if !is_host(host) => Err(tr!("not the name or address of a host")),
        _ => Ok(HostPattern { hosts, port }),
    }
}

/// Host and port of `host`, `host:port`, `[::1]`, `[::1]:port` or a bare IPv6 address.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.starts_with('[') {
        let (host, rest) = text.split_once(']')?;
        let is_v6 = host.get(1..)?.parse::<std::net::Ipv6Addr>().is_ok();
        let port = if rest.is_empty() { None } else { Some(parse_port(rest.strip_prefix(':')?)?) };
        return is_v6.then_some((host.get(1..)?, port));
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.contains(':') => Some((text, None)),
        Some((host, port)) => Some((host, Some(parse_port(port)?))),
        None => Some((text, None)),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.len() <= 5 && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|it| is_number && *it > 0)
}

fn is_host(host: &UrlHost) -> bool {
    match host {
        UrlHost::Literal(_) | UrlHost::Localhost => true,
        UrlHost::Name(name) => is_name(name),
    }
}

/// Names that some resolvers read as an address, such as `127.1` and `0x7f.1`, are refused.
fn is_name(name: &str) -> bool {
    let is_label = |it: &str| {
        !it.is_empty()
            && it.len() <= LABEL_BYTES
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
    };
    let is_number = |it: &str| match it.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|it| it.is_ascii_hexdigit()),
        None => it.bytes().all(|it| it.is_ascii_digit()),
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= NAME_BYTES && name.split('.').all(is_label) && !is_number(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_matches_an_entry_by_host_and_port() {
        let check = |entries: &[&str], to: &str, expect: Option<HostMatch>| {
            let to = Destination::parse(to, None).unwrap();
            assert_eq!(HostList::parse(entries).find(&to), expect, "{entries:?} {to}");
        };
        let (name, suffix) = (Some(HostMatch::Name), Some(HostMatch::Suffix));
        check(&["api.anthropic.com"], "api.anthropic.com:443", name);
        check(&["api.anthropic.com"], "API.Anthropic.COM.:80", name);
        check(&["Example.ORG"], "example.org:443", name);
        check(&["api.anthropic.com"], "api.anthropic.com:22", None);
        check(&["api.anthropic.com"], "evil.api.anthropic.com:443", None);
        check(&["api.anthropic.com"], "api.anthropic.com.evil.org:443", None);
        check(&["example.org:8080"], "example.org:8080", name);
        check(&["example.org:8080"], "example.org:443", None);
        check(&["*.packages.example"], "files.packages.example:443", suffix);
        check(&["*.packages.example"], "a.b.packages.example:443", suffix);
        check(&["*.packages.example"], "packages.example:443", None);
        check(&["*.packages.example"], "evilpackages.example:443", None);
        check(&["*.packages.example:8443"], "files.packages.example:8443", suffix);
        check(&["*.packages.example", "files.packages.example"], "files.packages.example:443", name);
        check(&["127.0.0.1:8000"], "127.0.0.1:8000", name);
        check(&["127.0.0.1:8000"], "[::ffff:127.0.0.1]:8000", None);
        check(&["localhost:8000"], "127.0.0.1:8000", None);
        check(&["localhost:8000"], "localhost:8000", name);
        check(&["[::1]:8000", "::2"], "[::1]:8000", name);
        check(&["::2"], "[::2]:80", name);
        check(&["*.1"], "127.0.0.1:80", None);
        check(&[], "example.org:443", None);
    }

    #[test]
    fn a_destination_needs_a_valid_host_and_port() {
        for wrong in [
            "",
            ":80",
            "example.org",
            "example.org:",
            "example.org:0",
            "example.org:65536",
            "example.org:+80",
            "127.1:80",
            "0x7f000001:80",
            "2130706433:80",
            "a..b:80",
            "a b:80",
            "a@b:80",
            "a/b:80",
            "ä.org:80",
            "[::1:80",
            "[::1]80",
            "[a]:80",
            "::1:80",
            "*.a:80",
            "a%2eb:80",
            "a\0:80",
        ] {
            assert_eq!(Destination::parse(wrong, None), None, "{wrong}");
        }
        let long = format!("{}:80", vec!["a".repeat(63); 4].join("."));
        assert_eq!(Destination::parse(&long, None), None);
        let shown = |text: &str| Destination::parse(text, Some(443)).unwrap().to_string();
        assert_eq!([shown("A.b"), shown("[::1]:1"), shown("1.2.3.4")], ["a.b:443", "[::1]:1", "1.2.3.4:443"]);
    }

    #[test]
    fn an_entry_that_matches_nothing_is_refused_with_a_reason() {
        for (entry, part) in [
            ("https://example.org", "the host alone"),
            ("example.org/path", "the host alone"),
            ("*", "sandbox.network = true"),
            ("*.", "a domain"),
            ("*.127.0.0.1", "a domain"),
            ("a.*.org", "the first labels"),
            ("*a.org", "the first labels"),
            ("bücher.example", "xn--"),
            ("example.org:99999", "a port"),
            ("127.1", "name or address"),
            ("", "name or address"),
            ("a b", "name or address"),
        ] {
            let fault = pattern_fault(entry).unwrap_or_default();
            assert!(fault.contains(part), "{entry}: {fault}");
        }
        for fine in
            ["a", "3f2a", "a.b:1", "*.a", "*.a.b:443", "1.2.3.4", "[::1]:443", "::1", "xn--bcher-kva.example"]
        {
            assert_eq!(pattern_fault(fine), None, "{fine}");
        }
    }

    #[test]
    fn only_a_named_host_may_have_an_address_that_is_not_public() {
        let check = |entry: &str, to: &str, address: &str, expect: bool| {
            let to = Destination::parse(to, Some(443)).unwrap();
            let found = HostList::parse(&[entry]).find(&to).unwrap();
            assert_eq!(
                is_address_allowed(found, &to, address.parse().unwrap()),
                expect,
                "{entry} {to} {address}"
            );
        };
        check("*.example.org", "a.example.org", "93.184.216.34", true);
        check("*.example.org", "a.example.org", "10.0.0.1", false);
        check("*.example.org", "a.example.org", "127.0.0.1", false);
        check("*.example.org", "a.example.org", "::1", false);
        check("*.example.org", "a.example.org", "::ffff:10.0.0.1", false);
        check("db.internal", "db.internal", "10.0.0.1", true);
        check("db.internal", "db.internal", "fd00::1", true);
        check("db.internal", "db.internal", "169.254.169.254", false);
        check("db.internal", "db.internal", "169.254.0.9", false);
        check("localhost", "localhost", "127.0.0.1", true);
        check("localhost", "localhost", "10.0.0.1", true);
        check("169.254.169.254", "169.254.169.254", "169.254.169.254", true);
        check("127.0.0.1", "127.0.0.1", "127.0.0.1", true);
    }

    #[test]
    fn a_list_covers_what_it_lets_through() {
        let check = |own: &[&str], entry: &str, expect: bool| {
            assert_eq!(HostList::parse(own).covers(entry), expect, "{own:?} {entry}");
        };
        check(&["example.org"], "example.org", true);
        check(&["example.org"], "example.org:443", true);
        check(&["example.org:443"], "example.org", false);
        check(&["example.org:443", "example.org:80"], "example.org", true);
        check(&["*.org"], "*.example.org", true);
        check(&["*.example.org"], "*.org", false);
        // The entry would let a private address of this name through.
        check(&["*.example.org"], "a.example.org", false);
        check(&["example.org"], "example.org:8080", false);
        check(&["example.org"], "not a host", false);
    }

    #[test]
    fn the_loopback_interface_of_the_machine_needs_the_proxy() {
        let check = |entries: &[&str], expect: &str| {
            assert_eq!(HostList::parse(entries).no_proxy(), expect, "{entries:?}");
        };
        check(&["example.org"], "localhost,127.0.0.1,::1");
        check(&["127.0.0.1:8000"], "localhost,::1");
        check(&["localhost", "[::1]:80"], "127.0.0.1");
    }
}
