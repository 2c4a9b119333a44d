//! Addresses that hooks may not call.
//!
//! Link-local and cloud metadata addresses are always refused, private addresses only on request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Cloud metadata services, which give every process on a machine its credentials, besides the link-local addresses.
const METADATA_V4: &[Ipv4Addr] = &[
    // Alibaba Cloud.
    Ipv4Addr::new(100, 100, 100, 200),
    // Azure.
    Ipv4Addr::new(168, 63, 129, 16),
    // Oracle Cloud.
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: &[Ipv6Addr] = &[
    // Google Cloud.
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Returns the kind of an address that is refused.
pub(super) fn refusal(ip: IpAddr, allow_private: bool) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => refusal_v4(ip, allow_private),
        IpAddr::V6(ip) => {
            let embedded = embedded_v4(ip).and_then(|ip| refusal_v4(ip, allow_private));
            // The prefix length is unknown, so none of the possible addresses may be one that is always refused.
            let local = || local_nat64(ip)?.into_iter().find_map(|ip| refusal_v4(ip, true));
            embedded.or_else(local).or_else(|| refusal_v6(ip, allow_private))
        }
    }
}

const METADATA: &str = "a cloud metadata address";
const LINK_LOCAL: &str = "a link-local address";
const PRIVATE: &str = "a loopback or private address";

fn refusal_v4(ip: Ipv4Addr, allow_private: bool) -> Option<&'static str> {
    let [first, second, ..] = ip.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_private = ip.is_private()
        || ip.is_loopback()
        || ip.is_broadcast()
        || ip.is_multicast()
        || is_shared
        // "This network": systems treat it as the local machine.
        || first == 0;
    match () {
        () if METADATA_V4.contains(&ip) => Some(METADATA),
        () if ip.is_link_local() => Some(LINK_LOCAL),
        () if is_private && !allow_private => Some(PRIVATE),
        () => None,
    }
}

fn refusal_v6(ip: Ipv6Addr, allow_private: bool) -> Option<&'static str> {
    let is_private = ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || ip.is_unique_local()
        || is_site_local(ip)
        // The embedded address depends on the local network.
        || local_nat64(ip).is_some();
    match () {
        () if METADATA_V6.contains(&ip) || is_aws(ip) => Some(METADATA),
        () if ip.is_unicast_link_local() => Some(LINK_LOCAL),
        () if is_private && !allow_private => Some(PRIVATE),
        () => None,
    }
}

/// Services of AWS for its machines and containers, with credentials: `fd00:ec2::/32`.
fn is_aws(ip: Ipv6Addr) -> bool {
    ip.segments()[..2] == [0xfd00, 0xec2]
}

fn is_site_local(ip: Ipv6Addr) -> bool {
    ip.segments()[0] & 0xffc0 == 0xfec0
}

/// Returns the IPv4 address in an IPv6 address: mapped, compatible, NAT64 or 6to4.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        // The unspecified and the loopback address have no IPv4 address.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => from(high, low),
        _ => None,
    }
}

/// Returns the possible IPv4 addresses in an address of the local NAT64 prefix (RFC 8215). The length of the prefix is known
/// only inside the network; it determines the position of the address, which leaves out the ninth byte (RFC 6052).
fn local_nat64(ip: Ipv6Addr) -> Option<[Ipv4Addr; 4]> {
    let [0, 0x64, 0xff, 0x9b, 0, 1, g, h, _, j, k, l, m, n, o, p] = ip.octets() else { return None };
    // Prefixes of 48, 56, 64 and 96 bits.
    Some([[g, h, j, k], [h, j, k, l], [j, k, l, m], [m, n, o, p]].map(Ipv4Addr::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_and_metadata_addresses_are_refused_in_every_notation() {
        for ip in [
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fe80::1",
            "febf:ffff::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "::ffff:100.100.100.200",
            "::169.254.169.254",
            "::ffff:0:169.254.169.254",
            "64:ff9b::169.254.169.254",
            // Local NAT64, with the address at every possible position.
            "64:ff9b:1::a9fe:a9fe",
            "64:ff9b:1:1:2:3:a9fe:a9fe",
            "64:ff9b:1:a9fe:00a9:fe00::",
            "64:ff9b:1:00a9:fe:a9fe::",
            "64:ff9b:1:0:00a9:fea9:fe00:0",
            "64:ff9b:1::6464:64c8",
            "2002:a9fe:a9fe::1",
        ] {
            let ip: IpAddr = ip.parse().unwrap();
            assert!(refusal(ip, true).is_some() && refusal(ip, false).is_some(), "{ip}");
        }
    }

    #[test]
    fn private_addresses_are_refused_on_demand() {
        for ip in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b:1::10.0.0.1",
            "64:ff9b:1::1.1.1.1",
            "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        ] {
            let ip: IpAddr = ip.parse().unwrap();
            assert_eq!((refusal(ip, true), refusal(ip, false)), (None, Some(PRIVATE)), "{ip}");
        }
        for ip in [
            "1.1.1.1",
            "169.253.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "64:ff9b:2::1",
        ] {
            assert_eq!(refusal(ip.parse().unwrap(), false), None, "{ip}");
        }
    }
}
