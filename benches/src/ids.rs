//! Ids of documents, as engines are given or make them; the same in Java stands in `peers/lucene/src/common/Ids.java`.

use std::fmt;

use docvalues_testkit::rng::SplitMix64;

/// Where ids come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// Random UUIDs as text, 36 bytes: what the documents of apache/lucene#15820 have.
    Uuid,
    /// Elasticsearch's own: a time, a sequence and a node, as 20 characters of base64url. 5,000 documents a second.
    Auto,
    /// `doc-` and ten digits.
    Seq,
}

impl IdKind {
    /// Every kind.
    pub const ALL: [IdKind; 3] = [IdKind::Uuid, IdKind::Auto, IdKind::Seq];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            IdKind::Uuid => "uuid",
            IdKind::Auto => "auto",
            IdKind::Seq => "seq",
        }
    }

    /// The id of document `i`, in the order in which documents come.
    pub fn id(self, i: u32) -> String {
        match self {
            IdKind::Uuid => uuid(i),
            IdKind::Auto => auto(i),
            IdKind::Seq => format!("doc-{i:010}"),
        }
    }
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The step of SplitMix64.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// `count` numbers below `below`, in no order.
pub fn random(below: u32, count: usize) -> impl Iterator<Item = u32> {
    let mut stream = SplitMix64::new(99);
    (0..count).map(move |_| u32::try_from(stream.next_u64() % u64::from(below)).unwrap_or(0))
}

fn uuid(i: u32) -> String {
    // The pair `i` of one stream.
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

/// In the order of the bytes of Elasticsearch's `TimeBasedUUIDGenerator`.
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
    fn ids_are_those_that_java_makes() {
        assert_eq!(IdKind::Uuid.id(0), "e220a839-7b1d-4daf-ae78-9e6aa1b965f4");
        assert_eq!(IdKind::Uuid.id(12_345), "08c1c32f-6569-4004-9c77-153405c39953");
        assert_eq!(IdKind::Auto.id(7), "6ADlz4sBjR9CpzNcaBAB");
        assert_eq!(IdKind::Auto.id(12_345), "GgDlz4sBjR9CpzNccUGl");
        assert_eq!(IdKind::Seq.id(7), "doc-0000000007");
    }
}
