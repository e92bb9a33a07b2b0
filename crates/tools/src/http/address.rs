//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is, to who asks whether a request may go there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Somewhere in the internet.
    Public,
    /// This machine, or a network that is not the internet: only where the operator names the host.
    Private,
    /// Of this link: where clouds give secrets to every client. Only where the operator writes the address.
    LinkLocal,
    /// Nobody's, everybody's, or reserved: never.
    Unusable,
}

/// What kind of address it is. An IPv4 address inside of an IPv6 address counts as itself.
pub fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (169, 254, _) => Reach::LinkLocal,
        (10 | 127, _, _) | (172, 16..=31, _) | (192, 168, _) => Reach::Private,
        // Carriers' own networks, in which some clouds keep theirs.
        (100, 64..=127, _) => Reach::Private,
        // Documentation, benchmarks, protocol assignments, multicast, reserved.
        (0 | 224..=255, _, _)
        | (192, 0, 0 | 2)
        | (198, 18..=19, _)
        | (198, 51, 100)
        | (203, 0, 113) => Reach::Unusable,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private,
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Unusable,
        // IPv4-mapped, IPv4-compatible, IPv4-translated, NAT64: they lead to the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Reach::Private,
        // 6to4 leads to an IPv4 address too; Teredo hides one.
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0, ..] | [0x2001, 0xdb8, ..] => Reach::Unusable,
        [first, ..] => match first {
            0xfe80..=0xfebf => Reach::LinkLocal,
            0xfc00..=0xfdff | 0xfec0..=0xfeff => Reach::Private,
            0x3fff => Reach::Unusable,
            0x2000..=0x3ffe => Reach::Public,
            _ => Reach::Unusable,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Reach {
        reach(text.parse().unwrap())
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for public in [
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
        ] {
            assert_eq!(of(public), Reach::Public, "{public}");
        }
    }

    #[test]
    fn metadata_is_link_local_in_every_spelling() {
        for metadata in [
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "::ffff:a9fe:a9fe",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "::ffff:0:169.254.169.254",
            "2002:a9fe:a9fe::1",
            "fe80::1",
        ] {
            assert_eq!(of(metadata), Reach::LinkLocal, "{metadata}");
        }
        // That of AWS over IPv6 is unique local.
        assert_eq!(of("fd00:ec2::254"), Reach::Private);
    }

    #[test]
    fn own_networks_are_private() {
        for private in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.100.100.200",
            "::1",
            "fc00::1",
            "fdff::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
            "64:ff9b:1::1",
            "fec0::1",
        ] {
            assert_eq!(of(private), Reach::Private, "{private}");
        }
    }

    #[test]
    fn nobodys_addresses_are_never_used() {
        for unusable in [
            "0.0.0.0",
            "0.1.2.3",
            "255.255.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "::",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
            "3fff::1",
        ] {
            assert_eq!(of(unusable), Reach::Unusable, "{unusable}");
        }
    }
}
