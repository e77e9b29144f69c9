//! Ids of documents, as in search engines. `peers/lucene/src/common/Ids.java` generates the same ids.

use std::fmt;
use std::str::FromStr;

use docvalues_testkit::rng::SplitMix64;

/// The kind of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// Random UUIDs as text, 36 bytes, as in apache/lucene#15820.
    Uuid,
    /// Ids of Elasticsearch: time, sequence number and node, as 20 characters of base64url. 5,000 documents a second.
    Auto,
    /// `doc-` and ten digits.
    Seq,
    /// One of 500 tenants and a number: `tenant-042-0000001234`.
    Tenant,
}

impl IdKind {
    /// Every kind.
    pub const ALL: [IdKind; 4] = [IdKind::Uuid, IdKind::Auto, IdKind::Seq, IdKind::Tenant];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            IdKind::Uuid => "uuid",
            IdKind::Auto => "auto",
            IdKind::Seq => "seq",
            IdKind::Tenant => "tenant",
        }
    }

    /// The id of the `i`-th document.
    pub fn id(self, i: u32) -> String {
        match self {
            IdKind::Uuid => uuid(i),
            IdKind::Auto => auto(i),
            IdKind::Seq => format!("doc-{i:010}"),
            IdKind::Tenant => format!("tenant-{:03}-{i:010}", tenant(i)),
        }
    }
}

impl FromStr for IdKind {
    type Err = String;

    fn from_str(name: &str) -> Result<IdKind, String> {
        let named = |kind: &IdKind| kind.name() == name;
        IdKind::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| format!("expected {}, found {name}", IdKind::ALL.map(IdKind::name).join(", ")))
    }
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The step of SplitMix64.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// `count` numbers below `below` in random order: each once before any repeats.
pub fn random(below: u32, count: usize) -> impl Iterator<Item = u32> {
    // Multiplying by an odd number and xor with a right shift are permutations of the numbers with this many bits.
    let bits = (u32::BITS - below.saturating_sub(1).leading_zeros()).max(2);
    let (all, half) = (u64::from(u32::MAX >> (u32::BITS - bits)), bits / 2);
    let mix = move |number: u64| {
        let step = |x: u64, odd: u64| {
            let x = x.wrapping_mul(odd) & all;
            x ^ x >> half
        };
        step(step(step(number, 0x9e37_79b1), 0x85eb_ca6b), 0xc2b2_ae35)
    };
    let numbers = (0..=all).cycle().map(move |i| u32::try_from(mix(i)).unwrap_or(0));
    numbers.filter(move |&number| number < below).take(count)
}

/// Concatenated ids in the order of lookups, as in the buffer of a request.
pub struct LookupIds {
    bytes: Vec<u8>,
    len: usize,
}

impl LookupIds {
    /// Ids of one length.
    pub fn new(ids: impl IntoIterator<Item: AsRef<[u8]>>) -> LookupIds {
        let (mut bytes, mut len) = (Vec::new(), 1);
        for id in ids {
            let id = id.as_ref();
            assert!(bytes.is_empty() || id.len() == len, "ids of one kind have one length");
            bytes.extend_from_slice(id);
            len = id.len();
        }
        LookupIds { bytes, len }
    }

    /// `count` ids after the first `all` of a kind.
    pub fn absent(kind: IdKind, all: u32, count: usize) -> LookupIds {
        LookupIds::new((all..).take(count).map(|i| kind.id(i)))
    }

    /// `count` of the first `all` ids of a kind in random order.
    pub fn present(kind: IdKind, all: u32, count: usize) -> LookupIds {
        LookupIds::new(random(all, count).map(|i| kind.id(i)))
    }

    /// Windows of the ids.
    pub fn windows(&self, size: usize) -> impl ExactSizeIterator<Item = Window<'_>> + Clone {
        let len = self.len;
        self.bytes.chunks(size * len).map(move |bytes| Window { bytes, len })
    }
}

/// A window of ids.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Window<'a> {
    /// The ids one by one.
    pub fn ids(self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        self.bytes.chunks_exact(self.len)
    }

    /// The ids in bulks.
    pub fn bulks(self, size: usize) -> impl Iterator<Item = Window<'a>> {
        self.bytes.chunks(self.len * size).map(move |bytes| Window { bytes, ..self })
    }
}

/// The tenant of the `i`-th document, in no order.
fn tenant(i: u32) -> u32 {
    ((i.wrapping_mul(0x9e37_79b1) >> 16) * 500) >> 16
}

fn uuid(i: u32) -> String {
    // The `i`-th pair of one stream.
    let mut stream = SplitMix64::new(GAMMA.wrapping_mul(2 * u64::from(i)));
    let high = stream.next_u64() & !0xf000 | 0x4000;
    let low = stream.next_u64() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

/// The byte order of Elasticsearch's `TimeBasedUUIDGenerator`.
fn auto(i: u32) -> String {
    const NODE: [u8; 6] = [0x8d, 0x1f, 0x42, 0xa7, 0x33, 0x5c];
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let [s0, s1, s2, _] = (4_321 + i).to_le_bytes();
    let [t0, t1, t2, t3, t4, t5, ..] = (1_700_000_000_000 + u64::from(i / 5)).to_le_bytes();
    let [n0, n1, n2, n3, n4, n5] = NODE;
    let bytes = [s0, s2, t2, t3, t4, t5, n0, n1, n2, n3, n4, n5, t1, s1, t0];
    let (groups, _) = bytes.as_chunks::<3>();
    let sextets = groups.iter().flat_map(|&[a, b, c]| {
        let group = u32::from_be_bytes([0, a, b, c]);
        [18, 12, 6, 0].map(|shift| ALPHABET[usize::try_from(group >> shift & 63).unwrap_or(0)])
    });
    sextets.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_equal_those_of_java() {
        assert_eq!(IdKind::Uuid.id(0), "e220a839-7b1d-4daf-ae78-9e6aa1b965f4");
        assert_eq!(IdKind::Uuid.id(12_345), "08c1c32f-6569-4004-9c77-153405c39953");
        assert_eq!(IdKind::Auto.id(7), "6ADlz4sBjR9CpzNcaBAB");
        assert_eq!(IdKind::Auto.id(12_345), "GgDlz4sBjR9CpzNccUGl");
        assert_eq!(IdKind::Seq.id(7), "doc-0000000007");
        assert_eq!(IdKind::Tenant.id(7), "tenant-163-0000000007");
        assert_eq!(IdKind::Tenant.id(12_345), "tenant-314-0000012345");
        assert_eq!(random(1_000_000, 4).collect::<Vec<_>>(), [0, 248_388, 967_388, 935_006]);
    }

    #[test]
    fn random_numbers_are_distinct() {
        for below in [1, 2, 3, 100, 4_096, 76_923] {
            let mut numbers: Vec<u32> = random(below, below as usize).collect();
            assert!(below < 100 || !numbers.is_sorted());
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..below));
        }
    }

    #[test]
    fn lookup_ids_are_concatenated() {
        let lookups = LookupIds::absent(IdKind::Seq, 5, 103);
        let ids: Vec<&[u8]> =
            lookups.windows(40).flat_map(|window| window.bulks(7).flat_map(Window::ids)).collect();
        assert_eq!((lookups.windows(40).len(), ids.len(), ids[0]), (3, 103, &b"doc-0000000005"[..]));
        assert_eq!(ids.last(), Some(&&b"doc-0000000107"[..]));
    }
}
