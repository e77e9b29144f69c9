//! The columns and documents of the benchmarks.
//!
//! Integer arithmetic from fixed seeds: a program in any language generates the same numbers, and compares its sums
//! with those in the tests. The distributions are those of web logs: a nearly ascending time, sizes with constant
//! runs, few statuses, skewed hosts and tags.
//!
//! | column | values | present |
//! | --- | --- | --- |
//! | `ts` | milliseconds, near-monotonic: steps below 2,000, each value off by up to 5,000 | all |
//! | `size` | skewed powers of two; every tenth run of 16,384 documents has one size | all |
//! | `status` | 200, 404, 301, 500: 85, 10, 4 and 1 % | all |
//! | `price60` | 20 bits, uniform | 60 % |
//! | `rare1` | 32 bits, uniform | 1 % |
//! | `uni24` | 24 bits, uniform | all |
//! | `host` | one of up to 100,000 terms of 22 bytes, skewed | all |
//! | `url` | 63 bytes on average, unique | all |
//! | `tags` | 0 to 5 of 1,000 terms, skewed | 5 of 6 |

use docvalues::DocId;
use docvalues_testkit::rng::SplitMix64;

/// The numeric columns.
pub const NUMERIC: [&str; 6] = ["ts", "size", "status", "price60", "rare1", "uni24"];

/// The random number generator of a column.
const STREAMS: [&str; 9] = ["ts", "size", "status", "price60", "rare1", "host", "url", "tags", "uni24"];

const SECTIONS: [&str; 16] = [
    "news", "sports", "blog", "shop", "products", "category", "archive", "users", "forum", "media", "video",
    "images", "docs", "support", "about", "search",
];

const WORDS: [&str; 32] = [
    "red", "green", "blue", "black", "white", "silver", "golden", "orange", "small", "large", "tiny",
    "giant", "quick", "slow", "happy", "sad", "river", "mountain", "forest", "desert", "ocean", "island",
    "valley", "canyon", "winter", "summer", "spring", "autumn", "monday", "friday", "sunday", "holiday",
];

fn stream(column: &str) -> SplitMix64 {
    let number = STREAMS.iter().position(|&name| name == column).expect("a column of this module");
    SplitMix64::new(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number as u64 + 1))
}

fn u31(random: &mut SplitMix64) -> u64 {
    random.next_u64() >> 33
}

/// The low `bits` bits of `random`.
fn low(random: u64, bits: u64) -> u64 {
    random & ((1 << bits) - 1)
}

/// A number below 2^`kinds` − 1 with a Zipf distribution: each power of two is as likely as the next.
fn skewed(random: u64, kinds: u64) -> u64 {
    let k = (random >> 33) % kinds;
    (1 << k) - 1 + low(random, k)
}

/// A numeric column: a slot for each document.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The values; 0 for documents without one.
    pub values: Vec<i64>,
    /// A bitset of the documents with a value; `None` if all have one.
    pub present: Option<Vec<u64>>,
}

impl Numbers {
    fn dense(docs: u32, mut next: impl FnMut(u32) -> u64) -> Numbers {
        let values = (0..docs).map(|doc| next(doc).cast_signed()).collect();
        Numbers { values, present: None }
    }

    /// A column in which `percent` of the documents have a random number of `bits` bits.
    fn sparse(docs: u32, mut random: SplitMix64, percent: u64, bits: u64) -> Numbers {
        let mut present = vec![0; docs.div_ceil(64) as usize];
        let values = (0..docs).map(|doc| {
            let r = random.next_u64();
            let there = (r >> 33) % 100 < percent;
            present[doc as usize / 64] |= u64::from(there) << (doc % 64);
            if there { low(r, bits).cast_signed() } else { 0 }
        });
        let values = values.collect();
        Numbers { values, present: Some(present) }
    }
}

/// The numeric column `name` of `docs` documents.
pub fn numbers(name: &str, docs: u32) -> Numbers {
    let mut random = stream(name);
    match name {
        "ts" => {
            let mut time = 1_500_000_000_000;
            Numbers::dense(docs, |_| {
                time += u31(&mut random) % 2000;
                time + u31(&mut random) % 10_001 - 5000
            })
        }
        "size" => Numbers::dense(docs, |doc| {
            let (r, run) = (random.next_u64(), u64::from(doc >> 14));
            let k = (r >> 33) % if run % 10 == 4 { 10 } else { 20 };
            if run % 10 == 9 { 4096 + run } else { 1 << k | low(r, k) }
        }),
        "status" => Numbers::dense(docs, |_| match u31(&mut random) % 100 {
            ..85 => 200,
            85..95 => 404,
            95..99 => 301,
            _ => 500,
        }),
        "price60" => Numbers::sparse(docs, random, 60, 20),
        "rare1" => Numbers::sparse(docs, random, 1, 32),
        "uni24" => Numbers::dense(docs, |_| low(random.next_u64(), 24)),
        _ => panic!("no numeric column `{name}`"),
    }
}

fn host_id(random: &mut SplitMix64) -> u32 {
    let rank = skewed(random.next_u64(), 17) % 100_000;
    ((rank * 61_681 + 17) % 100_000) as u32
}

/// The host number of each document.
pub fn host_ids(docs: u32) -> Vec<u32> {
    let mut random = stream("host");
    (0..docs).map(|_| host_id(&mut random)).collect()
}

/// The name of a host. Names ascend like numbers.
pub fn host_name(id: u32) -> String {
    format!("host{id:06}.example.org")
}

/// Concatenated byte strings: string `i` is `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug)]
pub struct Strings {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The start of each string, and the end of the last.
    pub offsets: Vec<u64>,
}

impl Strings {
    /// The string with this number.
    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}

impl<S: AsRef<[u8]>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Strings {
        let mut made = Strings { bytes: Vec::new(), offsets: vec![0] };
        for string in strings {
            made.bytes.extend_from_slice(string.as_ref());
            made.offsets.push(made.bytes.len() as u64);
        }
        made
    }
}

/// The column `host`.
pub fn hosts(docs: u32) -> Strings {
    host_ids(docs).into_iter().map(host_name).collect()
}

/// The column `url`.
pub fn urls(docs: u32) -> Strings {
    let (mut random, mut hosts) = (stream("url"), stream("host"));
    let word = |r: u64, shift: u32| WORDS[(r >> shift) as usize % 32];
    let url = |doc: u32| {
        let (host, r) = (host_name(host_id(&mut hosts)), random.next_u64());
        let (section, first, second) = (SECTIONS[(r >> 60) as usize], word(r, 55), word(r, 50));
        let query = match (r >> 33) % 10 {
            ..3 => format!("?ref={}&p={:02}", word(r, 5), (r >> 10) % 128 % 100),
            _ => String::new(),
        };
        format!("https://{host}/{section}/{first}-{second}/{doc:08x}{query}")
    };
    (0..docs).map(url).collect()
}

/// The column `tags`: the distinct tag numbers of each document, in the order drawn.
pub fn tag_ids(docs: u32) -> Vec<Vec<u32>> {
    let mut random = stream("tags");
    let tags = |_| {
        let mut ids = Vec::new();
        for _ in 0..u31(&mut random) % 6 {
            let rank = skewed(random.next_u64(), 10) % 1000;
            let id = ((rank * 617 + 3) % 1000) as u32;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    };
    (0..docs).map(tags).collect()
}

/// The name of a tag.
pub fn tag_name(id: u32) -> String {
    format!("tag{id:03}")
}

/// The column `tags`: the concatenated tag names of all documents, and the index of each document's first name, ending
/// with the number of names.
pub fn tags(docs: u32) -> (Strings, Vec<u64>) {
    let ids = tag_ids(docs);
    let names = ids.iter().flatten().map(|&id| tag_name(id)).collect();
    let mut lists = vec![0];
    lists.extend(ids.iter().scan(0, |end, ids| {
        *end += ids.len() as u64;
        Some(*end)
    }));
    (names, lists)
}

/// The hits of a query: `per_10_000` of 10,000 of `docs` documents, ascending.
pub fn hits(docs: u32, per_10_000: u64) -> Vec<DocId> {
    let mut random = SplitMix64::new(0x123_4567 + per_10_000);
    (0..docs).filter(|_| u31(&mut random) % 10_000 < per_10_000).map(DocId::new).collect()
}

/// `count` of `docs` documents in random order, with repeats.
pub fn random_docs(docs: u32, count: usize) -> Vec<DocId> {
    let mut random = SplitMix64::new(0xAB_CDEF);
    (0..count).map(|_| DocId::new((u31(&mut random) % u64::from(docs)) as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: u32 = 1_000_000;

    fn hash(bytes: &[u8]) -> i64 {
        bytes.iter().fold(0_i64, |hash, &byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
    }

    /// Programs in other languages have the same sums.
    #[test]
    fn the_sums_of_a_million_documents() {
        for (name, sum) in [
            ("ts", 1_500_499_970_585_892_599),
            ("size", 63_271_047_569),
            ("status", 227_426_956),
            ("price60", 314_561_158_911),
            ("rare1", 21_376_942_243_252),
            ("uni24", 8_385_662_423_809),
        ] {
            let column = numbers(name, DOCS);
            assert_eq!(column.values.iter().sum::<i64>(), sum, "{name}");
            let present =
                column.present.as_ref().map_or(DOCS, |words| words.iter().map(|w| w.count_ones()).sum());
            let expected = match name {
                "price60" => 595_000..605_000,
                "rare1" => 9_500..10_500,
                _ => DOCS..DOCS + 1,
            };
            assert!(expected.contains(&present), "{name}: {present}");
        }
        assert_eq!(hash(&hosts(DOCS).bytes), -8_426_123_741_342_456_821);
        assert_eq!(hash(&urls(DOCS).bytes), 2_364_898_225_192_108_747);
        let tags = tag_ids(DOCS).into_iter().flatten();
        let tags = tags.fold(0_i64, |hash, id| hash.wrapping_mul(31).wrapping_add(id.into()));
        assert_eq!(tags, -8_565_143_867_877_349_737);
    }

    #[test]
    fn requested_documents() {
        assert_eq!(hits(DOCS, 100).len(), 9_963);
        assert_eq!(hits(1_000, 10_000).len(), 1_000);
        assert_eq!(random_docs(DOCS, 3), [735_277, 338_439, 357_548].map(DocId::new));
    }
}
