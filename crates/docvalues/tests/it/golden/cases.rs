//! The contents of the golden files: the smallest columns with which the writer uses each layout once.
//!
//! A file is named for its contents. Each column has words that `dv info` must show, so that a writer with other
//! choices cannot leave a layout without a file.

use std::collections::BTreeSet;

use docvalues::LogicalType::*;
use docvalues::column::Field;
use docvalues::format::file::kind::{from_f64, from_u64};
use docvalues::writer::{Compression, IdOptions};
use docvalues::{LogicalType, SortKey};
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::shapes::Dataset;

mod ids;

/// A golden file, or a pair of them.
pub(crate) struct Golden {
    pub(crate) name: &'static str,
    pub(crate) dataset: Dataset,
    /// The compression of its byte strings.
    pub(crate) compression: Compression,
    /// Whether there is another file, without jump tables and zone maps.
    pub(crate) bare: bool,
    /// The keys of its index sort.
    pub(crate) sort: Vec<SortKey>,
    /// The id field, and the options of the id index.
    pub(crate) ids: Option<(&'static str, IdOptions)>,
    /// Words that `dv info` must show for each column: encodings and sections.
    pub(crate) shows: Vec<&'static [&'static str]>,
}

/// Every golden file.
pub(crate) fn all() -> Vec<Golden> {
    vec![
        no_columns(),
        no_documents(),
        whole_file(),
        directory_pages(),
        logical_numbers(),
        logical_bytes(),
        presence(),
        presence_blocks(),
        numeric(),
        numeric_blocks(),
        sorted_numeric(),
        zone_map(),
        fine_zones(),
        binary(),
        binary_blocks(),
        binary_fsst(),
        binary_onpair(),
        sorted(),
        sorted_blocks(),
        sorted_set(),
        sort(),
    ]
    .into_iter()
    .chain(ids::all())
    .collect()
}

/// A segment without columns.
fn no_columns() -> Golden {
    golden("no-columns", 5)
}

/// A segment without documents.
fn no_documents() -> Golden {
    golden("no-documents", 0)
        .numeric("numeric", I64, &["values constant"], |_| None)
        .binary("binary", Bytes, &["bytes(0)"], |_| None)
        .sorted("sorted", Utf8, &["ords constant"], |_| None)
        .numbers("sorted-numeric", F64, &["offsets constant", "values constant"], |_| vec![])
        .set("sorted-set", Utf8, &["offsets constant", "ords constant"], |_| vec![])
}

/// The file of `docs/format.md`, chapter 15.
fn whole_file() -> Golden {
    let (sizes, cities) = ([1000, 1030, 1010, 1070], [Some("Oslo"), Some("Rome"), None, Some("Oslo")]);
    golden("whole-file", 4)
        .numeric("size", I64, &["values affine(gcd 10) packed(3)"], |doc| Some(sizes[doc]))
        .sorted("city", Utf8, &["presence runs", "presence jump table", "ords affine packed(1)"], |doc| {
            cities[doc].map(text)
        })
}

/// More columns than fit a page of the directory.
fn directory_pages() -> Golden {
    (0..60).fold(golden("directory-pages", 2), |golden, column| {
        // Declared to the writer neither by name nor by number.
        let number = column * 37 % 60;
        let name = if number % 2 == 0 { format!("{number:03}") } else { format!("Spalte №{number}") };
        golden.numeric(&name, I64, &["values constant"], |_| Some(column))
    })
}

fn logical_numbers() -> Golden {
    let f64s = [-f64::NAN, f64::NEG_INFINITY, -1e300, -0.0, 0.0, 5e-324, 0.1, 1e16, f64::INFINITY, f64::NAN];
    let near = |doc: usize| [i64::MIN, -1, 0, 1, i64::MAX][doc % 5];
    golden("logical-numbers", 10)
        .numeric("i64", I64, &["values table(5)"], |doc| Some(near(doc)))
        .numeric("u64", U64, &["values table(3)"], |doc| Some(from_u64([0, 1, u64::MAX][doc % 3])))
        .numeric("f64", F64, &["values affine packed(64)"], |doc| Some(from_f64(f64s[doc])))
        .numeric("bool", Bool, &["values affine packed(1)"], |doc| {
            (doc > 2).then_some(i64::from(doc % 4 > 1))
        })
        .numeric("date", Date, &["values affine"], |doc| Some(doc as i64 * 365 - 1000))
        .numeric("ms", TimestampMillis, &["values affine"], |doc| Some(1_700_000_000_000 - doc as i64 * 77))
        .numeric("us", TimestampMicros, &["values affine"], |doc| Some(1_700_000_000_000_000 + doc as i64))
        .numeric("ns", TimestampNanos, &["values affine"], |doc| Some(-6_000_000_000 * doc as i64))
        .format("%Y-%m-%dT%H:%M:%SZ;order=7")
        .numbers("f64s", F64, &["offsets", "values"], |doc| {
            f64s[..doc].iter().map(|&v| from_f64(v)).collect()
        })
        .numbers("bools", Bool, &["offsets", "values"], |doc| vec![i64::from(doc % 2 == 0); doc % 3])
}

fn logical_bytes() -> Golden {
    let strings =
        ["", "a \"quoted\" \\ word", "line\nand\ttab\u{1}\u{7f}", "zwölf Boxkämpfer", "漢字", "𝄞 clef"];
    let ips = ["::", "::1", "::ffff:192.0.2.1", "2001:db8::8:800:200c:417a", "fe80::1:0:0:1"];
    let ip = |doc: usize| ips[doc % 5].parse::<std::net::Ipv6Addr>().unwrap().octets().to_vec();
    let uuid = |doc: usize| (u128::from(mix(doc)) << 64 | u128::from(mix(doc + 1))).to_be_bytes().to_vec();
    golden("logical-bytes", 12)
        .sorted("ip", Ip, &["ords", "terms"], |doc| Some(ip(doc)))
        .binary("uuid", Uuid, &["bytes(16)"], |doc| Some(uuid(doc)))
        .binary("string", Utf8, &["bytes, offsets"], |doc| strings.get(doc).copied().map(text))
        .binary("bytes", Bytes, &["bytes, offsets"], |doc| Some(uuid(doc)[..doc].to_vec()))
        .set("ips", Ip, &["ords", "terms"], |doc| (0..doc % 4).map(ip).collect())
        .set("blobs", Bytes, &["ords", "terms"], |doc| vec![vec![0, 0xff, 0xfe], vec![b'a'; doc % 3]])
}

/// Each kind of presence that a single block can have.
fn presence() -> Golden {
    let number = |has: bool, doc: usize| has.then_some(doc as i64);
    golden("presence", 2_000)
        .bare()
        .numeric("all", I64, &["values affine linear(0)"], |doc| number(true, doc))
        .numeric("none", I64, &["values constant"], |_| None)
        .numeric("list", I64, &["presence list"], |doc| number(doc % 450 == 7, doc))
        .numeric("sparse", I64, &["presence sparse"], |doc| number(mix(doc).is_multiple_of(30), doc))
        .numeric("dense", I64, &["presence dense"], |doc| number(mix(doc).is_multiple_of(2), doc))
        .numeric("runs", I64, &["presence runs"], |doc| number(doc % 700 > 500, doc))
}

/// Several blocks of presence, the last one partial.
fn presence_blocks() -> Golden {
    let number = |has: bool, doc: usize| has.then_some(doc as i64);
    golden("presence-blocks", 65_536 + 600)
        .bare()
        .numeric("a", I64, &["presence full+list"], |doc| {
            number([3, 700, 65_534].contains(&doc) || doc > 65_535, doc)
        })
        .numeric("b", I64, &["presence empty+dense"], |doc| {
            number(doc > 65_535 && mix(doc).is_multiple_of(2), doc)
        })
        .numeric("c", I64, &["presence sparse+runs"], |doc| {
            number(mix(doc).is_multiple_of(200) && doc < 65_536 || doc > 66_100, doc)
        })
        .numeric("d", I64, &["presence empty+runs"], |doc| {
            number((40_000..40_100).contains(&doc) || doc < 20, doc)
        })
}

/// Each transform, each encoding, one block.
fn numeric() -> Golden {
    let seasons = [-4_000_000_000, 17, 1 << 40, i64::MAX];
    golden("numeric", 520)
        .numeric("constant", I64, &["values constant"], |_| Some(-7))
        .numeric("packed 13", I64, &["values affine packed(13)"], |doc| {
            Some((mix(doc) % 8_000) as i64 - 4_000)
        })
        .numeric("packed 56", I64, &["values affine packed(56)"], |doc| Some((mix(doc) >> 8) as i64))
        .numeric("packed 64", I64, &["values affine packed(64)"], |doc| Some(mix(doc) as i64))
        .numeric("divided", I64, &["values affine(gcd 60000) packed(10)"], |doc| {
            Some((mix(doc) % 1_000) as i64 * 60_000)
        })
        .numeric("line", I64, &["values affine linear("], |doc| {
            Some(doc as i64 * 1_001 + (mix(doc) % 6) as i64)
        })
        .numeric("down", I64, &["values affine linear("], |doc| Some(doc as i64 * -77_777 / 10))
        .numeric("table", I64, &["values table(4) packed(2)"], |doc| Some(seasons[mix(doc) as usize % 4]))
        .numeric("decimal", F64, &["values decimal(2, gcd 5) packed(10)"], |doc| {
            Some(from_f64(((mix(doc) % 1_000) as f64 - 500.0) / 20.0))
        })
        .numeric("decimals", F64, &["values decimal(22)"], |doc| {
            Some(from_f64((mix(doc) % 30_000) as f64 / 1e22))
        })
        .numeric("integers", F64, &["values decimal(0)"], |doc| Some(from_f64(-((mix(doc) >> 13) as f64))))
}

/// Blocks that differ.
fn numeric_blocks() -> Golden {
    let seasons = [-4_000_000_000, 17, 1 << 40, i64::MAX];
    golden("numeric-blocks", 2_600)
        .bare()
        .numeric("mixed", I64, &["values affine constant packed(", "linear(", "values jump table"], |doc| {
            Some(match doc / 512 {
                0 => 5,
                1 => 1_000_000 + doc as i64 * 3,
                2 => (mix(doc) % 16) as i64,
                _ => -1_000 - (mix(doc) % 200) as i64,
            })
        })
        .numeric("packed", I64, &["values affine packed(2-10)", "values jump table"], |doc| {
            Some((mix(doc) % if doc / 1_024 == 1 { 1_000 } else { 4 }) as i64)
        })
        .numeric("table", I64, &["values table(4) constant packed(", "values jump table"], |doc| {
            Some(seasons[if doc < 1_100 { 2 } else { mix(doc) as usize % 4 }])
        })
}

fn sorted_numeric() -> Golden {
    golden("sorted-numeric", 1_500)
        .bare()
        .numbers("few", U64, &["presence dense", "offsets affine", "offsets jump table", "values"], |doc| {
            let many = if doc < 600 { 1 } else { mix(doc) % 4 };
            (0..many).map(|i| from_u64(mix(doc + i as usize) % 9)).collect()
        })
        .numbers("pairs", I64, &["offsets affine(gcd 2) linear(0)", "values affine"], |doc| {
            vec![doc as i64; 2]
        })
        .numbers("one", I64, &["offsets affine", "values constant"], |doc| {
            vec![7; usize::from(doc == 1_000) * 3]
        })
}

/// More values than one zone has.
fn zone_map() -> Golden {
    golden("zone-map", 30)
        .numbers("numbers", I64, &["zone map; fine zones"], |doc| {
            (0..300).map(|i| (mix(doc + i * 99) % 50) as i64).collect()
        })
        .set("terms", Utf8, &["zone map", "fine zones"], |doc| {
            (0..300).filter(|i| i % 40 != doc).map(|i| text(&format!("{i}"))).collect()
        })
}

/// Zones of all widths, among columns without: from less than a byte to all 64 bits.
fn fine_zones() -> Golden {
    let far = [i64::MIN, -1 << 40, 0, 1 << 40, i64::MAX];
    golden("stretches", 40)
        .binary("a", Utf8, &[], |doc| Some(text(&format!("{doc}"))))
        .numbers("far", I64, &["zone map; fine zones"], |doc| {
            (0..150).map(|i| far[if i % 50 == doc { doc % 5 } else { 2 }]).collect()
        })
        .numeric("few", I64, &[], |doc| Some(doc as i64))
        .numbers("times", TimestampMillis, &["zone map; fine zones"], |doc| {
            (0..150).map(|i| 1_700_000_000_000 + (doc * 150 + i) as i64 * 1_000).collect()
        })
        .numbers("two", F64, &["zone map; fine zones"], |doc| {
            (0..150).map(|i| from_f64(f64::from(u8::from((doc * 150 + i) / 700 % 3 == 1)))).collect()
        })
}

fn binary() -> Golden {
    golden("binary", 300)
        .binary("fixed", Bytes, &["bytes(3)"], |doc| Some(mix(doc).to_le_bytes()[..3].to_vec()))
        .binary("variable", Bytes, &["bytes, offsets affine"], |doc| {
            Some(mix(doc).to_le_bytes()[..doc % 8].to_vec())
        })
        .binary("empty", Utf8, &["presence runs", "bytes(0)"], |doc| (doc > 40).then(Vec::new))
        .binary("once", Utf8, &["presence runs", "bytes(12)"], |doc| {
            (doc == 40).then(|| text("a long value"))
        })
}

/// Offsets that need several blocks.
fn binary_blocks() -> Golden {
    golden("binary-blocks", 1_500).bare().binary(
        "text",
        Utf8,
        &["bytes, offsets affine", "offsets jump table"],
        |doc| {
            let long = if doc < 700 { 2 } else { mix(doc) % 14 };
            Some((0..long).map(|i| b'a' + (mix(doc * 20 + i as usize) % 26) as u8).collect())
        },
    )
}

/// Byte strings compressed by FSST, on request: so few are not compressed by default.
fn binary_fsst() -> Golden {
    let path = |doc: usize| {
        format!("https://www.example.org/{}/{}.html", ["shop", "news"][doc % 2], mix(doc) % 1_000)
    };
    let golden = golden("binary-fsst", 400)
        .binary("url", Utf8, &["bytes fsst(", "offsets", "symbols"], |doc| {
            (doc % 9 > 0).then(|| text(&path(doc)))
        })
        .binary("fixed", Utf8, &["fsst(", "symbols"], |_| Some(text("the same over and over again")));
    Golden { compression: Compression::Fsst, ..golden }
}

/// Byte strings compressed by OnPair, on request.
fn binary_onpair() -> Golden {
    let words = ["river", "mountain", "forest", "desert", "island", "canyon", "winter", "holiday"];
    let url = |doc: usize| {
        let word = |shift: usize| words[(mix(doc) >> shift) as usize % 8];
        format!("https://www.example.org/{}-{}/{}.html", word(3), word(6), mix(doc + 7) % 1_000)
    };
    let golden = golden("binary-onpair", 300)
        .binary("fixed", Utf8, &["onpair(", "symbols"], |_| Some(text("the same over and over again")))
        .binary("url", Utf8, &["bytes onpair(", "offsets", "symbols"], |doc| {
            (doc % 9 > 0).then(|| text(&url(doc)))
        });
    Golden { compression: Compression::OnPair, ..golden }
}

/// Dictionaries of one block.
fn sorted() -> Golden {
    let cities = ["", "Oslo", "Rom", "Roma", "Rome", "São Paulo"];
    golden("sorted", 40)
        .sorted("city", Utf8, &["ords affine packed(3)", "terms front-coded"], |doc| {
            Some(text(cities[doc * 5 % 6]))
        })
        .sorted("one", Utf8, &["presence runs", "ords constant"], |doc| (doc > 9).then(|| text("always")))
        .sorted("long", Bytes, &["terms front-coded"], |doc| Some(vec![b'x'; doc * 11 % 400]))
        .sorted("32", Utf8, &["ords affine", "terms front-coded"], |doc| {
            Some(text(&format!("{:02}", doc % 32)))
        })
}

/// Dictionaries of several blocks, with and without a prefix that most terms share.
fn sorted_blocks() -> Golden {
    golden("sorted-blocks", 150)
        .sorted("33", Utf8, &["term offsets", "term keys"], |doc| Some(text(&format!("t{:02}", doc % 33))))
        .sorted("host", Utf8, &["term offsets", "term keys"], |doc| {
            Some(text(&format!("www.example{}.com", doc * 7)))
        })
        .sorted("any", Bytes, &["term offsets", "term keys"], |doc| {
            Some(mix(doc).to_le_bytes()[..doc % 7].to_vec())
        })
}

fn sorted_set() -> Golden {
    golden("sorted-set", 400)
        .bare()
        .set("tags", Utf8, &["presence dense", "offsets affine", "ords affine"], |doc| {
            (0..mix(doc) % 4)
                .map(|i| text(["red", "green", "blue", "bluish"][mix(doc + i as usize) as usize % 4]))
                .collect()
        })
        .set("hosts", Utf8, &["offsets", "term offsets", "term keys"], |doc| {
            (0..doc % 3).map(|i| text(&format!("host-{}", (doc + i * 50) % 100))).collect()
        })
}

/// Index sorts by each kind of column that can be a key.
fn sort() -> Golden {
    let sections = ["admin", "net", "doc"];
    let golden = golden("sort", 120)
        .sorted("section", Utf8, &["presence runs", "ords affine"], |doc| {
            (!mix(doc).is_multiple_of(4)).then(|| text(sections[(mix(doc) % 3) as usize]))
        })
        .numeric("size", F64, &["values"], |doc| {
            (!mix(doc + 500).is_multiple_of(3))
                .then(|| from_f64([-0.0, 0.0, 2.5, f64::NAN][mix(doc + 200) as usize % 4]))
        })
        .binary("name", Utf8, &["bytes"], |doc| Some(text(&format!("{}", mix(doc + 900) % 5))))
        .numeric("doc", I64, &["values"], |doc| Some(doc as i64))
        .set("tags", Utf8, &["ords"], |doc| (0..mix(doc) % 3).map(|i| text(&format!("tag {i}"))).collect())
        .numbers("days", Date, &["values"], |doc| (0..doc % 3).map(|i| (doc * i) as i64).collect());
    let keys = ["section", "size", "name"].map(SortKey::of);
    let [section, size, name] = keys;
    Golden { sort: vec![section.missing_first(), size.descending(), name], ..golden }
}

fn golden(name: &'static str, docs: u32) -> Golden {
    let dataset = Dataset { docs, columns: vec![] };
    Golden {
        name,
        dataset,
        compression: Compression::Auto,
        bare: false,
        sort: vec![],
        ids: None,
        shows: vec![],
    }
}

impl Golden {
    fn bare(self) -> Golden {
        Golden { bare: true, ..self }
    }

    /// Sets the spelling of the last column's values.
    fn format(mut self, format: &str) -> Golden {
        let (field, _) = self.dataset.columns.last_mut().unwrap();
        field.format = Some(format.to_owned());
        self
    }

    fn column(
        mut self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        values: ModelColumn,
    ) -> Golden {
        self.dataset.columns.push((Field::new(name, values.kind(), logical), values));
        self.shows.push(shows);
        self
    }

    fn each<T>(&self, value: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.dataset.docs as usize).map(value).collect()
    }

    fn numeric(
        self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        value: impl Fn(usize) -> Option<i64>,
    ) -> Golden {
        let values = ModelColumn::Numeric(self.each(value));
        self.column(name, logical, shows, values)
    }

    fn binary(
        self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        value: impl Fn(usize) -> Option<Vec<u8>>,
    ) -> Golden {
        let values = ModelColumn::Binary(self.each(value));
        self.column(name, logical, shows, values)
    }

    fn sorted(
        self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        value: impl Fn(usize) -> Option<Vec<u8>>,
    ) -> Golden {
        let values = ModelColumn::Sorted(self.each(value));
        self.column(name, logical, shows, values)
    }

    fn numbers(
        self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        value: impl Fn(usize) -> Vec<i64>,
    ) -> Golden {
        let values = ModelColumn::SortedNumeric(self.each(value));
        self.column(name, logical, shows, values)
    }

    fn set(
        self,
        name: &str,
        logical: LogicalType,
        shows: &'static [&'static str],
        value: impl Fn(usize) -> Vec<Vec<u8>>,
    ) -> Golden {
        let values = ModelColumn::SortedSet(self.each(|doc| value(doc).into_iter().collect::<BTreeSet<_>>()));
        self.column(name, logical, shows, values)
    }
}

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// A reproducible number that looks random: the finalizer of SplitMix64.
fn mix(i: usize) -> u64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
