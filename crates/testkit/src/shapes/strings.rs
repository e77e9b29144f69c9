//! Patterns of byte strings.

use docvalues_column::LogicalType;

use crate::rng::SplitMix64;

/// The pattern of a column's byte strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strings {
    /// A handful of words.
    FewDistinct,
    /// Ids in hex: distinct, of one length.
    HexIds,
    /// URLs: distinct, with long common prefixes.
    Urls,
    /// Prefixes of each other: `a`, `aa`, `aaa`, and so on, up to 300 bytes.
    Nested,
    /// Short strings, some of them empty.
    SomeEmpty,
    /// Only empty strings.
    AllEmpty,
    /// Short strings, and a few of 100,000 bytes.
    SomeLong,
    /// Any bytes, mostly not UTF-8, with many 0x00 and 0xFF.
    NotUtf8,
    /// 16 bytes: ids of 128 bits.
    Uuids,
    /// 16 bytes: addresses, most of them IPv4.
    Ips,
    /// Text in many scripts.
    Scripts,
}

const WORDS: [&str; 12] = [
    "red", "green", "blue", "black", "white", "silver", "river", "mountain", "forest", "desert", "ocean",
    "island",
];

const SCRIPTS: [&str; 8] = ["straße", "Ελλάδα", "Москва", "東京", "🦀🦀", "नमस्ते", "e\u{301}", "\u{10FFFF}"];

impl Strings {
    /// Every pattern.
    pub const ALL: [Strings; 11] = [
        Strings::FewDistinct,
        Strings::HexIds,
        Strings::Urls,
        Strings::Nested,
        Strings::SomeEmpty,
        Strings::AllEmpty,
        Strings::SomeLong,
        Strings::NotUtf8,
        Strings::Uuids,
        Strings::Ips,
        Strings::Scripts,
    ];

    /// The type of such byte strings.
    pub fn logical(self) -> LogicalType {
        match self {
            Strings::NotUtf8 => LogicalType::Bytes,
            Strings::Uuids => LogicalType::Uuid,
            Strings::Ips => LogicalType::Ip,
            _ => LogicalType::Utf8,
        }
    }

    /// `n` such byte strings.
    pub fn make(self, n: usize, rng: &mut SplitMix64) -> Vec<Vec<u8>> {
        (0..n).map(|i| self.string(i, n, rng)).collect()
    }

    fn string(self, i: usize, n: usize, rng: &mut SplitMix64) -> Vec<u8> {
        let word = rng.pick(&WORDS).as_bytes().to_vec();
        match self {
            Strings::FewDistinct => word,
            Strings::HexIds => format!("{:016x}{i:08x}", rng.next_u64()).into_bytes(),
            Strings::Urls => {
                let (host, other) = (rng.below(300), rng.pick(&WORDS));
                format!("https://host{host:03}.example.org/{other}/{}/{i:x}", rng.pick(&WORDS)).into_bytes()
            }
            Strings::Nested => vec![b'a' + rng.below(2) as u8; rng.place(300)],
            Strings::SomeEmpty if rng.chance(1, 3) => Vec::new(),
            Strings::AllEmpty => Vec::new(),
            // At most four, whatever the number of documents.
            Strings::SomeLong if i % n.div_ceil(4) == 1 => word.repeat(100_000 / word.len()),
            Strings::SomeEmpty | Strings::SomeLong => [word, (i % 50).to_string().into_bytes()].concat(),
            Strings::NotUtf8 => (0..rng.place(40)).map(|_| any_byte(rng)).collect(),
            Strings::Uuids => (0..2).flat_map(|_| rng.next_u64().to_be_bytes()).collect(),
            Strings::Ips => ip(rng).to_vec(),
            Strings::Scripts => [*rng.pick(&SCRIPTS), *rng.pick(&SCRIPTS)].concat().into_bytes(),
        }
    }
}

fn any_byte(rng: &mut SplitMix64) -> u8 {
    match rng.below(4) {
        0 => 0,
        1 => 0xff,
        _ => rng.below(256) as u8,
    }
}

fn ip(rng: &mut SplitMix64) -> [u8; 16] {
    use std::net::{Ipv4Addr, Ipv6Addr};
    match rng.below(4) {
        0 => Ipv6Addr::from((0x2001_0DB8 << 96) | u128::from(rng.next_u64())).octets(),
        _ => Ipv4Addr::from(0x0A00_0000 | rng.below_u32(5000)).to_ipv6_mapped().octets(),
    }
}
