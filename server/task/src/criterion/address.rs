//! Decides which addresses a `GET` check may reach. An address outside the public network is allowed only if the check,
//! or the `ready` of a server that is started for it, names it: any other name that resolves to it could belong to a
//! third party and resolve differently a moment later. Pure; the shell resolves and connects.

use loopkeeper_text::tr;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The host of an address, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlHost {
    /// An IP address in the one form that every parser reads identically.
    Literal(IpAddr),
    Localhost,
    /// Any other name; also `0x7f000001` and `127.1`, which some resolvers parse as addresses.
    Name(String),
}

/// The network scope of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressScope {
    Public,
    Loopback,
    Private,
    LinkLocal,
    /// Metadata services, where clouds serve the machine's credentials.
    Metadata,
    /// Not assigned to a host: this network, multicast, reserved, documentation.
    Special,
}

/// Why a text is not a valid request URL, as a phrase; `None` for a valid one.
pub fn url_fault(url: &str) -> Option<&'static str> {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return Some(tr!("it does not begin with http:// or https://"));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if url.contains(|it: char| it.is_whitespace() || it.is_control() || it == '\\') {
        Some(tr!("it contains characters that no address contains"))
    } else if authority.is_empty() || authority.starts_with(':') {
        Some(tr!("it names no host"))
    } else if authority.contains('@') {
        // Text before the sign is easily mistaken for the host.
        Some(tr!("it contains a user name"))
    } else {
        None
    }
}

/// The hosts that are named explicitly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedHosts {
    /// The host in the check itself.
    pub check: Option<UrlHost>,
    /// The hosts in the `ready` of servers.
    pub servers: Vec<UrlHost>,
}

impl UrlHost {
    /// Ignores the brackets around an IPv6 address.
    pub fn of(text: &str) -> Self {
        let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse() {
            return Self::Literal(address);
        }
        let name = bare.trim_end_matches('.').to_ascii_lowercase();
        if name == "localhost" { Self::Localhost } else { Self::Name(name) }
    }
}

impl AllowedHosts {
    /// Whether a connection to `host`, resolved to `address`, is allowed; otherwise the reason as text.
    pub fn allows(&self, host: &UrlHost, address: IpAddr) -> Result<(), String> {
        let scope = AddressScope::of(address);
        let by_check = self.check.as_ref() == Some(host);
        let by_server = self.servers.contains(host);
        let may = match (host, scope) {
            (_, AddressScope::Public) => true,
            (UrlHost::Literal(written), _) => (by_check || by_server) && *written == address,
            (UrlHost::Localhost, AddressScope::Loopback) => by_check || by_server,
            (UrlHost::Name(_), AddressScope::Loopback | AddressScope::Private) => by_server,
            (UrlHost::Localhost | UrlHost::Name(_), _) => false,
        };
        if may {
            return Ok(());
        }
        let what = scope.words();
        match host {
            UrlHost::Literal(_) => Err(tr!("{host} is {what} that the check does not name", host, what)),
            _ => Err(tr!(
                "{host} leads to {address}, {what} that the check does not name",
                host,
                address,
                what
            )),
        }
    }
}

impl AddressScope {
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(it) => of_v4(it),
            IpAddr::V6(it) => match embedded_v4(it) {
                Some(inner) => of_v4(inner),
                None => of_v6(it),
            },
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Public => tr!("a public address"),
            Self::Loopback => tr!("an address of this machine"),
            Self::Private => tr!("a private address"),
            Self::LinkLocal => tr!("a link-local address"),
            Self::Metadata => tr!("an address of cloud metadata"),
            Self::Special => tr!("an address of no host"),
        }
    }
}

const METADATA: [Ipv4Addr; 5] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

fn of_v4(address: Ipv4Addr) -> AddressScope {
    if METADATA.contains(&address) {
        return AddressScope::Metadata;
    }
    match address.octets() {
        [127, ..] => AddressScope::Loopback,
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] | [100, 64..=127, ..] | [198, 18..=19, ..] => {
            AddressScope::Private
        }
        [169, 254, ..] => AddressScope::LinkLocal,
        [0 | 224..=255, ..] | [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            AddressScope::Special
        }
        _ => AddressScope::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> AddressScope {
    if address == METADATA_V6 {
        return AddressScope::Metadata;
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressScope::Loopback,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => AddressScope::Private,
        [0xfe80..=0xfebf, ..] => AddressScope::LinkLocal,
        // Global unicast is one eighth of the address space.
        [0x2001, 0xdb8, ..] => AddressScope::Special,
        [0x2000..=0x3fff, ..] => AddressScope::Public,
        _ => AddressScope::Special,
    }
}

/// The IPv4 address that this one routes to: mapped, compatible, NAT64, 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(v4(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

impl fmt::Display for UrlHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(address) => write!(out, "{address}"),
            Self::Localhost => write!(out, "localhost"),
            Self::Name(name) => write!(out, "{name}"),
        }
    }
}

#[cfg(test)]
mod tests;
