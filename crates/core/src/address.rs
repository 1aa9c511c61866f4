//! Which addresses are on the public internet: the guard of whatever is sent to an address that somebody wrote down.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

/// Blocks that are not public internet. Of IPv4: the IANA special-purpose registry, multicast, reserved ones. Of IPv6
/// those inside 2000::/3; everything outside of that is refused.
const BLOCKS: &[(&str, &str)] = &[
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by carriers"),
    ("127.0.0.0/8", "this machine"),
    ("168.63.129.16/32", "a cloud's own service"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for documentation"),
    ("192.31.196.0/24", "reserved for protocols"),
    ("192.52.193.0/24", "reserved for protocols"),
    ("192.88.99.0/24", "a relay"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved for protocols"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "6to4"),
    ("2620:4f:8000::/48", "reserved for protocols"),
    ("3fff::/20", "for documentation"),
    ("3ffe::/16", "no longer in use"),
];

static NETS: LazyLock<Vec<(IpNet, &str)>> =
    LazyLock::new(|| BLOCKS.iter().filter_map(|(net, why)| Some((net.parse().ok()?, *why))).collect());

/// Why `address` is not on the public internet; `None` if it is.
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(_) => block(address),
        IpAddr::V6(address) => forbidden_v6(address),
    }
}

fn block(address: IpAddr) -> Option<&'static str> {
    NETS.iter().find(|(net, _)| net.contains(&address)).map(|(_, why)| *why)
}

fn forbidden_v6(address: Ipv6Addr) -> Option<&'static str> {
    // A mapped address reaches the IPv4 one. NAT64, 6to4, Teredo and the like reach one too, through a gateway that may
    // be in our own network; they are always refused.
    if let Some(inner) = address.to_ipv4_mapped() {
        return block(inner.into());
    }
    let first = address.segments()[0];
    match first {
        0xfe80..=0xfebf => return Some("link-local"),
        0xfec0..=0xfeff => return Some("site-local"),
        0xfc00..=0xfdff => return Some("private"),
        0xff00..=0xffff => return Some("multicast"),
        0x0064 => return Some("NAT64"),
        _ => {}
    }
    if address.is_loopback() {
        return Some("this machine");
    }
    if first & 0xe000 != 0x2000 {
        return Some("reserved");
    }
    // ISATAP (RFC 5214): an IPv4 address behind a tunnel of the own network, under any prefix.
    if matches!(address.segments()[4..6], [0 | 0x0200, 0x5efe]) {
        return Some("ISATAP");
    }
    block(address.into())
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, NETS};

    #[test]
    fn every_block_is_understood() {
        assert_eq!(NETS.len(), BLOCKS.len());
    }
}
