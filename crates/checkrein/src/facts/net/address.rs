//! Scope of a host, from its text alone.
//!
//! Spellings of IPv4 addresses are read as the C library reads them: fewer than four parts, and decimal, octal or hexadecimal
//! numbers. Names are never resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use checkrein_expression::Value;

use crate::builtins::shell::Expanded;
use crate::facts::file_word as word;

/// Default ports of schemes.
const PORTS: &[(&str, u16)] = &[
    ("ftp", 21),
    ("ftps", 990),
    ("git", 9418),
    ("gopher", 70),
    ("gs", 443),
    ("http", 80),
    ("https", 443),
    ("ldap", 389),
    ("ldaps", 636),
    ("mongodb", 27017),
    ("mysql", 3306),
    ("postgres", 5432),
    ("postgresql", 5432),
    ("redis", 6379),
    ("rediss", 6379),
    ("rsync", 873),
    ("s3", 443),
    ("sftp", 22),
    ("smtp", 25),
    ("ssh", 22),
    ("telnet", 23),
    ("ws", 80),
    ("wss", 443),
];

/// Addresses and names of services that give credentials to cloud machines.
const METADATA: &[&str] = &[
    "100.100.100.200",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "192.0.0.192",
    "fd00:ec2::23",
    "fd00:ec2::254",
    "fd20:ce::254",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.aws.internal",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.oraclecloud.com",
    "metadata.packet.net",
    "metadata.tencentyun.com",
];

/// Ends of names in private networks.
const PRIVATE: &[&str] = &[
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".localdomain",
    ".private",
    ".svc",
    ".ts.net",
];

/// Ends of public names that stand for any address in the name, or for the own machine.
const EMBEDDED: &[&str] = &[".localtest.me", ".lvh.me", ".nip.io", ".sslip.io", ".vcap.me", ".xip.io"];

/// Returns the default port of a scheme.
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    PORTS.iter().find(|(name, _)| *name == scheme).map(|(_, port)| *port)
}

/// Returns the scope of a host. Unknown if only a running shell knows the host.
pub(super) fn scope(host: &Expanded) -> Value {
    if !host.known || host.glob || host.cut {
        return Value::Unknown(word::unknown(&host.text));
    }
    scope_of(&host.text).into()
}

fn scope_of(host: &str) -> &'static str {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if METADATA.contains(&host.as_str()) {
        return "metadata";
    }
    if let Some(address) = address(&host) {
        return scope_of_address(address);
    }
    let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let ends = |list: &[&str]| list.iter().any(|end| host.ends_with(end) || host == end[1..]);
    match host.as_str() {
        _ if !is_name => "unknown",
        "localhost" | "localhost.localdomain" | "ip6-localhost" | "ip6-loopback" => "loopback",
        _ if host.ends_with(".localhost") => "loopback",
        _ if ends(PRIVATE) => "private",
        _ if ends(EMBEDDED) || !host.contains('.') => "unknown",
        _ => "public",
    }
}

fn scope_of_address(address: IpAddr) -> &'static str {
    let address = match address {
        IpAddr::V6(own) => embedded(own).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    if METADATA.contains(&address.to_string().as_str()) {
        return "metadata";
    }
    let is_private = match address {
        IpAddr::V4(own) if own.is_loopback() || own.octets()[0] == 0 => return "loopback",
        IpAddr::V6(own) if own.is_loopback() || own.is_unspecified() => return "loopback",
        IpAddr::V4(own) => {
            let [first, second, ..] = own.octets();
            own.is_private()
                || own.is_link_local()
                || own.is_broadcast()
                || own.is_multicast()
                || first == 100 && (64..128).contains(&second)
                || first == 198 && (18..20).contains(&second)
        }
        IpAddr::V6(own) => {
            let first = own.segments()[0];
            first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80 || first & 0xff00 == 0xff00
        }
    };
    if is_private { "private" } else { "public" }
}

/// Returns the IPv4 address in an IPv6 address: mapped, compatible, or translated (NAT64).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return Some(mapped);
    }
    let segments = address.segments();
    let is_translated = segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let is_compatible = segments[..6] == [0; 6] && segments[6] != 0;
    let [.., a, b, c, d] = address.octets();
    if is_translated || is_compatible { Some(Ipv4Addr::new(a, b, c, d)) } else { None }
}

/// Reads an address in any spelling.
fn address(host: &str) -> Option<IpAddr> {
    let plain = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    // The zone of a link-local address.
    let plain = plain.split('%').next().unwrap_or(plain);
    if plain.contains(':') {
        return plain.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    ipv4(plain).map(IpAddr::V4)
}

/// Reads an IPv4 address of one to four parts. The last part fills the rest of the address.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    let rest = 4_usize.checked_sub(first.len()).filter(|rest| *rest > 0)?;
    let is_valid = first.iter().all(|part| *part < 256) && *last < 1 << (8 * rest);
    if !is_valid {
        return None;
    }
    let start = first.iter().fold(0, |value, part| value << 8 | part) << (8 * rest);
    u32::try_from(start | last).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    // `+1` is no number here.
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) || text.is_empty() {
        return None;
    }
    if digits.is_empty() {
        return Some(0);
    }
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_follow_from_the_text() {
        for (host, expected) in [
            ("localhost", "loopback"),
            ("LOCALHOST.", "loopback"),
            ("app.localhost", "loopback"),
            ("127.0.0.1", "loopback"),
            ("127.1", "loopback"),
            ("0", "loopback"),
            ("0.0.0.0", "loopback"),
            ("2130706433", "loopback"),
            ("0x7f000001", "loopback"),
            ("0x7f.1", "loopback"),
            ("0177.0.0.1", "loopback"),
            ("017700000001", "loopback"),
            ("::1", "loopback"),
            ("[::1]", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
            ("10.1.2.3", "private"),
            ("172.16.0.1", "private"),
            ("172.32.0.1", "public"),
            ("192.168.1.1", "private"),
            ("192.168.257", "private"),
            ("0xc0a80101", "private"),
            ("100.64.0.1", "private"),
            ("169.254.1.1", "private"),
            ("fe80::1%eth0", "private"),
            ("fd12::1", "private"),
            ("nas.local", "private"),
            ("db.corp.internal", "private"),
            ("host.docker.internal", "private"),
            ("169.254.169.254", "metadata"),
            ("2852039166", "metadata"),
            ("0xa9fea9fe", "metadata"),
            ("0251.0376.0251.0376", "metadata"),
            ("::ffff:169.254.169.254", "metadata"),
            ("64:ff9b::a9fe:a9fe", "metadata"),
            ("fd00:ec2::254", "metadata"),
            ("metadata.google.internal", "metadata"),
            ("Metadata.Google.Internal.", "metadata"),
            ("8.8.8.8", "public"),
            ("example.com", "public"),
            ("2606:4700::1111", "public"),
            ("prod", "unknown"),
            ("", "unknown"),
            ("127.0.0.1.nip.io", "unknown"),
            ("ex%61mple.com", "unknown"),
            ("１２７.0.0.1", "unknown"),
            ("256.1.1.1", "public"),
            ("99999999999", "unknown"),
            ("a..b", "public"),
        ] {
            assert_eq!(scope_of(host), expected, "{host}");
        }
    }
}
