//! The builds and merges whose calls fail.

use docvalues::writer::{Compression, Error as WriteError, Summary};
use docvalues::{
    BytesKind, FieldId, FieldSpec, LogicalType, Merger, OpenOptions, Schema, Segment, SegmentWriter, SortKey,
    WriterOptions,
};
use docvalues_storage::AtomicFile;
use docvalues_testkit::rng::SplitMix64;

/// A kind of build or merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A build in memory.
    Build,
    /// A build with a temporary file.
    BuildSpilling,
    /// A build with a temporary file, and an index sort.
    SortSpilling,
    /// A merge of two segments.
    Merge,
    /// A merge with a temporary file.
    MergeSpilling,
}

impl Work {
    pub(crate) const ALL: [Work; 5] =
        [Work::Build, Work::BuildSpilling, Work::SortSpilling, Work::Merge, Work::MergeSpilling];

    /// Whether the work needs a temporary file for values.
    pub(crate) fn spills(self) -> bool {
        !matches!(self, Work::Build | Work::Merge)
    }

    fn sort<T>(self, writer: &mut SegmentWriter<T>) {
        if self == Work::SortSpilling {
            writer.sort_by([SortKey::of("host"), SortKey::of("number").descending()]).unwrap();
        }
    }

    pub(crate) fn options(self) -> WriterOptions {
        // A quarter of the values that are buffered together. A merge buffers one column at a time.
        let budget = match self {
            Work::Build | Work::Merge => usize::MAX,
            Work::BuildSpilling | Work::SortSpilling => 110 << 10,
            Work::MergeSpilling => 30 << 10,
        };
        WriterOptions::new().budget(budget)
    }
}

/// Documents of a segment that is built.
pub(crate) const DOCS: u64 = 2_000;

/// The sources of merges, and the expected files.
pub(crate) struct Works {
    halves: [Segment; 2],
}

impl Works {
    pub(crate) fn new() -> Works {
        let half = |docs| Segment::from_bytes(in_memory(Work::Build, docs), OpenOptions::new()).unwrap();
        Works { halves: [half(0..DOCS / 2), half(DOCS / 2..DOCS)] }
    }

    /// Writes `file`.
    pub(crate) fn run(&self, work: Work, file: AtomicFile) -> Result<Summary, WriteError> {
        match work {
            Work::Build | Work::BuildSpilling | Work::SortSpilling => {
                let (schema, fields) = schema();
                let mut writer = SegmentWriter::to_file(file, schema, work.options());
                work.sort(&mut writer);
                (0..DOCS).try_for_each(|i| add(&mut writer, &fields, i))?;
                Ok(writer.finish()?)
            }
            Work::Merge | Work::MergeSpilling => self.merger(work).finish_to(file),
        }
    }

    fn merger(&self, work: Work) -> Merger<'_> {
        let mut merger = Merger::new(work.options());
        for (name, half) in ["first", "second"].into_iter().zip(&self.halves) {
            merger.add(name, half);
        }
        merger
    }

    /// The expected bytes of `work`. They are a sound file.
    pub(crate) fn expected(&self, work: Work) -> Vec<u8> {
        let bytes = match work {
            Work::Build | Work::BuildSpilling | Work::SortSpilling => in_memory(work, 0..DOCS),
            Work::Merge | Work::MergeSpilling => self.merger(Work::Merge).finish_bytes().unwrap().0,
        };
        let segment = Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap();
        segment.verify().unwrap();
        assert_eq!(u64::from(segment.docs()), DOCS);
        bytes
    }
}

fn in_memory(work: Work, docs: std::ops::Range<u64>) -> Vec<u8> {
    let (schema, fields) = schema();
    let mut writer = SegmentWriter::in_memory(schema, Work::Build.options());
    work.sort(&mut writer);
    docs.for_each(|i| add(&mut writer, &fields, i).unwrap());
    writer.finish_bytes().unwrap()
}

const FIELDS: usize = 9;

/// A field of every kind, and byte strings with and without compression.
pub(crate) fn schema() -> (Schema, [FieldId; FIELDS]) {
    let bytes = |name, kind| FieldSpec::new(name, LogicalType::Utf8).kind(kind);
    let specs: [FieldSpec; FIELDS] = [
        FieldSpec::new("number", LogicalType::I64),
        FieldSpec::new("time", LogicalType::TimestampMillis),
        FieldSpec::new("price", LogicalType::F64),
        FieldSpec::new("numbers", LogicalType::I64).multi_valued(),
        bytes("raw", BytesKind::Binary).compression(Compression::None),
        bytes("coded", BytesKind::Binary),
        bytes("term", BytesKind::Sorted),
        bytes("host", BytesKind::Auto),
        FieldSpec::new("set", LogicalType::Utf8).multi_valued(),
    ];
    let mut schema = Schema::new();
    let fields = specs.map(|spec| schema.add(spec).unwrap());
    (schema, fields)
}

/// Adds document `i`.
pub(crate) fn add<T>(
    writer: &mut SegmentWriter<T>,
    fields: &[FieldId; FIELDS],
    i: u64,
) -> Result<(), WriteError> {
    let [number, time, price, numbers, raw, coded, term, host, set] = *fields;
    let mut rng = SplitMix64::new(i);
    let mut doc = writer.document();
    if !i.is_multiple_of(7) {
        doc.i64(number, rng.next_u64().cast_signed())?;
    }
    doc.timestamp(time, (i * 1_000 + rng.below(500)).cast_signed())?;
    doc.f64(price, rng.below(100_000) as f64 / 100.0)?;
    for _ in 0..rng.below(4) {
        doc.i64(numbers, rng.next_u64().cast_signed() >> 20)?;
    }
    doc.str(raw, &format!("{:x}", rng.next_u64()))?;
    doc.str(coded, &format!("https://www.example.org/{}/{}", rng.below(10), rng.below(1 << 30)))?;
    doc.str(term, &format!("{i} {}", rng.below(1 << 40)))?;
    doc.str(host, &format!("host {}", rng.below(50)))?;
    for _ in 0..rng.below(3) {
        doc.str(set, &format!("part {}", rng.below(2_000)))?;
    }
    doc.finish().map(|_| ())
}
