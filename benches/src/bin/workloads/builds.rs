//! Building and merging: small segments of log lines, and large columns of numbers.
//!
//! | workload | |
//! | --- | --- |
//! | `small/STRINGS/finish/DOCS` | `finish_bytes` of a segment of `DOCS` log lines: eight columns, and an id index |
//! | `small/STRINGS/build/DOCS` | the same, with adding the documents |
//! | `small/STRINGS/merge/SEGMENTS/DOCS` | `Merger::finish_bytes` of segments of `DOCS` log lines each |
//! | `build/COLUMN` | a column of numbers, as many as FILE has documents, from batches of 65,536 |
//!
//! `STRINGS` is `auto`, for ids and URLs that are compressed if that pays, or `raw`, without compression.

use docvalues::prelude::*;
use docvalues::writer::{Compression, IdOptions};
use docvalues::{BytesKind, FieldId, Merger};
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::data::{self, Numbers, Strings};
use docvalues_benches::ids::IdKind;
use docvalues_benches::segment;

use super::{time, time_after};

/// Documents of a batch. A multiple of 64, so that a batch has whole words of a bitset.
const BATCH: u32 = 1 << 16;

pub(crate) fn builds(docs: u32) {
    small("auto", Compression::Auto);
    small("raw", Compression::None);
    for name in ["ts", "uni24"] {
        time(&format!("build/{name}"), {
            let mut input = None;
            move || {
                let input = input.get_or_insert_with(|| ColumnInput::of(name, docs));
                let (mut writer, [field]) = writer([segment::spec(name)]);
                for start in (0..docs).step_by(BATCH as usize) {
                    input.add_batch(&mut writer, field, start..docs.min(start + BATCH));
                }
                finish(writer)
            }
        });
    }
}

fn small(strings: &str, compression: Compression) {
    for docs in [20, 1_000] {
        let lines = LogLines::new(docs, compression);
        time_after(&format!("small/{strings}/finish/{docs}"), || lines.add(0..docs), finish);
        time(&format!("small/{strings}/build/{docs}"), || finish(lines.add(0..docs)));
    }
    for (segments, docs) in [(50, 20), (10, 1_000)] {
        let mut parts = None;
        time(&format!("small/{strings}/merge/{segments}/{docs}"), || {
            let parts = parts.get_or_insert_with(|| LogLines::new(segments * docs, compression).split(docs));
            let mut merger = Merger::new(WriterOptions::default()).compression(compression);
            merger = merger.id_field("id", IdOptions::default());
            for part in parts.iter() {
                merger.add(part.file(), part);
            }
            sum(&merger.finish_bytes().expect("good segments").0)
        });
    }
}

fn writer<const N: usize>(fields: [FieldSpec; N]) -> (SegmentWriter<Vec<u8>>, [FieldId; N]) {
    let mut schema = Schema::new();
    let fields = fields.map(|field| schema.add(field).expect("names differ"));
    (SegmentWriter::in_memory(schema, WriterOptions::new().budget(usize::MAX)), fields)
}

fn finish(writer: SegmentWriter<Vec<u8>>) -> u64 {
    sum(&writer.finish_bytes().expect("memory does not fail"))
}

/// The hash of the content that the footer has, and the length.
fn sum(segment: &[u8]) -> u64 {
    let last: [u8; 64] = *segment.last_chunk().expect("a footer");
    last.iter().fold(segment.len() as u64, |sum, &byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte))
}

/// The values of log lines.
struct LogLines {
    compression: Compression,
    ids: Vec<String>,
    /// The timestamp, status and size.
    numbers: [Numbers; 3],
    prices: Vec<f64>,
    hosts: Strings,
    urls: Strings,
    tags: Vec<Vec<String>>,
}

impl LogLines {
    fn new(docs: u32, compression: Compression) -> LogLines {
        let prices = data::numbers("uni24", docs).values.into_iter();
        let tags = data::tag_ids(docs).into_iter();
        LogLines {
            compression,
            ids: (0..docs).map(|doc| IdKind::Uuid.id(doc)).collect(),
            numbers: ["ts", "status", "size"].map(|name| data::numbers(name, docs)),
            prices: prices.map(|cents| cents as f64 / 100.0).collect(),
            hosts: data::hosts(docs),
            urls: data::urls(docs),
            tags: tags.map(|tags| tags.into_iter().map(data::tag_name).collect()).collect(),
        }
    }

    /// A writer to which the documents `docs` were added, one after the other.
    fn add(&self, docs: std::ops::Range<u32>) -> SegmentWriter<Vec<u8>> {
        let string = |name| FieldSpec::new(name, LogicalType::Utf8).compression(self.compression);
        let number = |name| FieldSpec::new(name, LogicalType::I64);
        let (mut writer, [id, ts, status, size, price, host, url, tags]) = writer([
            string("id").kind(BytesKind::Binary),
            number("ts"),
            number("status"),
            number("size"),
            FieldSpec::new("price", LogicalType::F64),
            string("host").kind(BytesKind::Sorted),
            string("url").kind(BytesKind::Binary),
            string("tags").multi_valued(),
        ]);
        writer.id_field(id, IdOptions::default()).expect("a binary field");
        for at in docs.start as usize..docs.end as usize {
            let mut doc = writer.document();
            let mut add = || {
                doc.str(id, &self.ids[at])?;
                for (field, numbers) in [ts, status, size].into_iter().zip(&self.numbers) {
                    doc.i64(field, numbers.values[at])?;
                }
                doc.f64(price, self.prices[at])?;
                doc.stored_bytes(host, self.hosts.get(at))?;
                doc.stored_bytes(url, self.urls.get(at))?;
                self.tags[at].iter().try_for_each(|tag| doc.str(tags, tag).map(drop))
            };
            add().expect("good values");
            doc.finish().expect("few documents");
        }
        writer
    }
    /// Segments of `docs` documents each.
    fn split(&self, docs: u32) -> Vec<Segment> {
        let all = 0..u32::try_from(self.ids.len()).expect("few documents");
        let parts = all.step_by(docs as usize).map(|start| self.add(start..start + docs));
        let parts = parts.map(|part| part.finish_bytes().expect("memory does not fail"));
        parts.map(|bytes| Segment::from_bytes(bytes, OpenOptions::new()).expect("a good segment")).collect()
    }
}
