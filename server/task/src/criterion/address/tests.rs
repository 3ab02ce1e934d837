use std::net::IpAddr;

use super::{AddressScope, AllowedHosts, UrlHost, url_fault};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn every_ipv4_range_has_its_scope() {
    use AddressScope::{LinkLocal, Loopback, Metadata, Private, Public, Special};
    let check = |text: &str, expect: AddressScope| assert_eq!(AddressScope::of(ip(text)), expect, "{text}");
    check("1.1.1.1", Public);
    check("9.255.255.255", Public);
    check("10.0.0.0", Private);
    check("10.255.255.255", Private);
    check("11.0.0.0", Public);
    check("100.63.255.255", Public);
    check("100.64.0.0", Private);
    check("100.127.255.255", Private);
    check("100.128.0.0", Public);
    check("126.255.255.255", Public);
    check("127.0.0.1", Loopback);
    check("127.255.255.254", Loopback);
    check("128.0.0.0", Public);
    check("169.253.255.255", Public);
    check("169.254.0.1", LinkLocal);
    check("169.254.169.254", Metadata);
    check("169.254.170.2", Metadata);
    check("169.255.0.0", Public);
    check("168.63.129.16", Metadata);
    check("100.100.100.200", Metadata);
    check("192.0.0.192", Metadata);
    check("172.15.255.255", Public);
    check("172.16.0.0", Private);
    check("172.31.255.255", Private);
    check("172.32.0.0", Public);
    check("192.167.255.255", Public);
    check("192.168.1.1", Private);
    check("192.169.0.0", Public);
    check("192.0.2.1", Special);
    check("198.18.0.1", Private);
    check("198.51.100.1", Special);
    check("203.0.113.9", Special);
    check("0.0.0.0", Special);
    check("0.1.2.3", Special);
    check("224.0.0.1", Special);
    check("240.0.0.1", Special);
    check("255.255.255.255", Special);
}

#[test]
fn every_ipv6_range_has_its_scope() {
    use AddressScope::{LinkLocal, Loopback, Metadata, Private, Public, Special};
    let check = |text: &str, expect: AddressScope| assert_eq!(AddressScope::of(ip(text)), expect, "{text}");
    check("2606:4700::1111", Public);
    check("::", Special);
    check("::1", Loopback);
    check("fc00::1", Private);
    check("fdff::1", Private);
    check("fd00:ec2::254", Metadata);
    check("fe80::1", LinkLocal);
    check("febf::1", LinkLocal);
    check("fec0::1", Private);
    check("ff02::1", Special);
    check("2001:db8::1", Special);
    check("64:ff9b:1::1", Private);
    // The final destination of a packet counts.
    check("::ffff:127.0.0.1", Loopback);
    check("::ffff:10.0.0.1", Private);
    check("::ffff:169.254.169.254", Metadata);
    check("::ffff:1.1.1.1", Public);
    check("::127.0.0.1", Loopback);
    check("::ffff:0:10.0.0.1", Private);
    check("64:ff9b::7f00:1", Loopback);
    check("64:ff9b::a9fe:a9fe", Metadata);
    check("2002:7f00:1::", Loopback);
    check("2002:a9fe:a9fe::1", Metadata);
    check("2002:101:101::1", Public);
}

#[test]
fn only_unambiguous_addresses_are_literals() {
    let check = |text: &str, expect: UrlHost| assert_eq!(UrlHost::of(text), expect, "{text}");
    let name = |text: &str| UrlHost::Name(text.to_owned());
    check("127.0.0.1", UrlHost::Literal(ip("127.0.0.1")));
    check("[::1]", UrlHost::Literal(ip("::1")));
    check("::1", UrlHost::Literal(ip("::1")));
    check("localhost", UrlHost::Localhost);
    check("LocalHost.", UrlHost::Localhost);
    check("Example.ORG", name("example.org"));
    check("localhost.example.org", name("localhost.example.org"));
    // Resolvers disagree about these: they are treated as names, and names gain no access.
    for odd in ["0x7f000001", "2130706433", "127.1", "0177.0.0.1", "127.0.0.01", "[::1", "fe80::1%eth0"] {
        check(odd, name(odd));
    }
}

#[test]
fn private_addresses_need_an_explicit_name() {
    let named = |check: &str, servers: &[&str]| AllowedHosts {
        check: Some(UrlHost::of(check)),
        servers: servers.iter().map(|it| UrlHost::of(it)).collect(),
    };
    let may = |written: &str, servers: &[&str], host: &str, address: &str, expect: bool| {
        let allowed = named(written, servers).allows(&UrlHost::of(host), ip(address));
        assert_eq!(allowed.is_ok(), expect, "{written} {servers:?} {host} {address}: {allowed:?}");
    };
    // A public address.
    may("example.org", &[], "example.org", "1.1.1.1", true);
    may("example.org", &[], "cdn.example.org", "1.1.1.1", true);
    // A name that resolves to an internal address.
    for inside in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fc00::1"] {
        may("example.org", &[], "example.org", inside, false);
        may("0x7f000001", &[], "0x7f000001", inside, false);
    }
    may("example.org", &[], "example.org", "::ffff:127.0.0.1", false);
    // Named explicitly.
    may("127.0.0.1", &[], "127.0.0.1", "127.0.0.1", true);
    may("192.168.1.7", &[], "192.168.1.7", "192.168.1.7", true);
    may("169.254.7.7", &[], "169.254.7.7", "169.254.7.7", true);
    may("[::1]", &[], "::1", "::1", true);
    may("localhost", &[], "localhost", "127.0.0.1", true);
    may("localhost", &[], "localhost", "::1", true);
    // `localhost` means this machine and nothing else.
    may("localhost", &[], "localhost", "10.0.0.1", false);
    may("localhost", &[], "localhost", "169.254.169.254", false);
    // A redirect to an address that nothing named.
    may("example.org", &[], "127.0.0.1", "127.0.0.1", false);
    may("example.org", &[], "localhost", "127.0.0.1", false);
    may("localhost", &[], "127.0.0.1", "127.0.0.1", false);
    may("127.0.0.1", &[], "127.0.0.2", "127.0.0.2", false);
    may("127.0.0.1", &[], "10.0.0.1", "10.0.0.1", false);
    // The server that is started for the check.
    may("app.test", &["app.test"], "app.test", "127.0.0.1", true);
    may("app.test", &["app.test"], "app.test", "192.168.0.9", true);
    may("app.test", &["app.test"], "app.test", "169.254.169.254", false);
    may("example.org", &["localhost"], "localhost", "127.0.0.1", true);
    may("app.test", &["other.test"], "app.test", "127.0.0.1", false);
}

#[test]
fn a_refusal_names_the_resolved_address() {
    let named = AllowedHosts { check: Some(UrlHost::of("example.org")), servers: Vec::new() };
    let check = |host: &str, address: &str, expect: &str| {
        assert_eq!(named.allows(&UrlHost::of(host), ip(address)), Err(expect.to_owned()));
    };
    check(
        "example.org",
        "169.254.169.254",
        "example.org leads to 169.254.169.254, an address of cloud metadata that the check does not name",
    );
    check("10.0.0.1", "10.0.0.1", "10.0.0.1 is a private address that the check does not name");
}

#[test]
fn ambiguous_urls_are_refused() {
    let check = |url: &str, expect: bool| assert_eq!(url_fault(url).is_none(), expect, "{url}");
    check("http://localhost:8080/health?a=b#c", true);
    check("https://[::1]/", true);
    check("http://example.org/a@b", true);
    check("http://localhost@evil.example/", false);
    check("http://u:p@localhost/", false);
    check("http://localhost\\@evil.example/", false);
    check("http://", false);
    check("https:///x", false);
    check("http://:80/", false);
    check("http://a b", false);
    check("http://a\u{a0}b", false);
    check("ftp://a", false);
    check("file:///etc/passwd", false);
    check("HTTP://a", false);
}
