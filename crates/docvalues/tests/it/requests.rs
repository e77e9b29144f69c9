//! Segments that are read by requests: their number, and requests that fail.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues::column::ErrorKind as ReadErrorKind;
use docvalues::reader::{IdForm, ReadAt, Verify};
use docvalues::writer::{Compression, IdOptions};
use docvalues::{
    BytesKind, ColumnSource as _, DocId, FieldSpec, LogicalType, OpenOptions, Schema, Segment, SegmentWriter,
    WriterOptions,
};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;

use crate::write::{EVERY_KIND, check_some};

#[path = "../../examples/requests.rs"]
mod example;

/// The example itself compares each result with that of the mapped file.
#[test]
fn the_example_makes_few_requests() {
    const DOCS: u32 = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.dv");
    example::write(&path, DOCS).unwrap();
    let costs = example::ask(&path, DOCS).unwrap();
    let cost = |what: &str| {
        let cost = costs.iter().find(|(asked, _)| asked.starts_with(what)).unwrap().1;
        println!("{what}: {cost:?}");
        cost
    };
    for opened in ["open the segment", "open `bytes`", "open `price`"] {
        let cost = cost(opened);
        assert!(cost.waves <= 1 && cost.requests <= 3 && cost.bytes <= 256 << 10, "{cost:?}");
    }
    for (_, twenty) in costs.iter().filter(|(asked, _)| asked.starts_with("gather 20 documents")) {
        assert!(twenty.waves <= 3 && twenty.requests <= 45 && twenty.bytes <= 1 << 20, "{twenty:?}");
    }
    let facet = cost("facet");
    assert!(facet.requests <= 30 && facet.bytes <= 5 << 20, "{facet:?}");
}

/// A file in memory whose requests fail if `fails` returns true for their range.
struct Failing<F> {
    file: Vec<u8>,
    fails: F,
}

impl<F: Fn(&Range<u64>) -> bool + Send + Sync> ReadAt for Failing<F> {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        match (self.fails)(&(offset..offset + bytes.len() as u64)) {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => self.file.read_at(offset, bytes),
        }
    }
}

#[test]
fn only_the_ranges_of_a_column_are_read() {
    let file = &EVERY_KIND.1;
    let whole = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
    for field in whole.fields().unwrap().into_iter().step_by(cases(4, 1)) {
        let ranges = whole.ranges(&[&field.name]).unwrap();
        assert!(ranges.iter().all(|range| range.start < range.end && range.end <= whole.len()), "{ranges:?}");
        assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
        // All other bytes are replaced.
        let mut other = vec![0xee; file.len()];
        for range in ranges {
            let range = range.start as usize..range.end as usize;
            other[range.clone()].copy_from_slice(&file[range]);
        }
        let segment = Segment::from_reader(Arc::new(other), "other", OpenOptions::new()).unwrap();
        let (column, model) = (segment.column(&field.name).unwrap(), whole.column(&field.name).unwrap());
        docvalues_testkit::conformance::check_column(&*column, &*model);
    }
    let all: Vec<String> = whole.fields().unwrap().into_iter().map(|field| field.name).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let read: u64 = whole.ranges(&all).unwrap().iter().map(|range| range.end - range.start).sum();
    assert!(read <= whole.len());
    let nothing = whole.ranges(&["no such column"]).unwrap_err();
    assert!(matches!(nothing.kind(), ReadErrorKind::NoSuchColumn { .. }));
}

/// Each request fails once. The result is an error that names the file, or the request is made again; later calls
/// succeed.
#[test]
fn a_failing_request_is_an_error_or_is_retried() {
    let file = EVERY_KIND.1.clone();
    let fuse = Arc::new(AtomicU64::new(0));
    let burns = fuse.clone();
    let fails = move |_: &Range<u64>| {
        let left = burns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left == Ok(1)
    };
    let reader = Arc::new(Failing { file, fails });
    let name = "bucket/every kind.dv";
    let (mut errors, mut after, mut is_whole) = (0, 0, false);
    while !is_whole {
        after += 1;
        fuse.store(after, Ordering::Relaxed);
        let segment = Segment::from_reader(reader.clone(), name, OpenOptions::new());
        match segment.and_then(|segment| segment.verify().map(|_| segment)) {
            Ok(segment) => {
                // No request failed, because there were fewer.
                is_whole = fuse.swap(0, Ordering::Relaxed) > 0;
                if is_whole {
                    check_some(&segment, 2);
                }
            }
            Err(error) => {
                assert!(error.to_string().contains(name), "{error}");
                let ReadErrorKind::Io { source, .. } = error.kind() else { panic!("{error:?}") };
                assert_eq!(source.kind(), io::ErrorKind::ConnectionReset);
                errors += 1;
            }
        }
    }
    assert!(errors > 1 && after > 10, "{errors} errors of {after} requests");
}

/// A column that could not be read can be read later.
#[test]
fn a_column_recovers_from_a_network_failure() {
    let file = EVERY_KIND.1.clone();
    let away = Arc::new(AtomicU64::new(0));
    let is_away = away.clone();
    let fails = move |_: &Range<u64>| is_away.load(Ordering::Relaxed) == 1;
    let segment = Segment::from_reader(Arc::new(Failing { file, fails }), "s", OpenOptions::new()).unwrap();
    let docs: Vec<DocId> = (0..segment.docs()).map(DocId::new).collect();
    for field in segment.fields().unwrap() {
        let column = segment.column(&field.name).unwrap();
        away.store(1, Ordering::Relaxed);
        let mut found = docvalues::column::Gathered::<i64>::new();
        if let docvalues::column::Values::Numbers(rows) = column.values() {
            // Small sections were read at opening. Reading other sections fails each time.
            let _ = rows.gather(docvalues::column::BatchDocs::List(&docs), &mut found);
        }
        away.store(0, Ordering::Relaxed);
    }
    check_some(&segment, 3);
}

/// A file in memory that counts waves.
struct Counted(Vec<u8>, AtomicU64);

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(offset, bytes)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_ranges(ranges)
    }
}

#[test]
fn all_columns_are_opened_in_few_waves_and_closed_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.dv");
    example::write(&path, 1_000_000).unwrap();
    let file = Arc::new(Counted(std::fs::read(path).unwrap(), AtomicU64::new(0)));
    let waves = || file.1.swap(0, Ordering::Relaxed);
    let segment = Segment::from_reader(file.clone(), "visits", OpenOptions::new()).unwrap();
    waves();
    segment.open_columns().unwrap();
    assert!(segment.column_count() >= 3 && waves() <= 2);
    segment.without_columns().open_columns().unwrap();
    assert!(waves() > 0, "other columns request their bytes themselves");
}

/// Ids that are values of a column are in no order there. All of them request it in sequence, and a few do not.
#[test]
fn ids_in_a_column_are_listed_and_verified_in_few_waves() {
    const DOCS: u32 = 400_000;
    let mut schema = Schema::new();
    let field =
        FieldSpec::new("id", LogicalType::Bytes).kind(BytesKind::Binary).compression(Compression::None);
    let field = schema.add(field).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.id_field(field, IdOptions::new().form(IdForm::Column).filter_bits(0)).unwrap();
    let mut random = SplitMix64::new(5);
    for _ in 0..DOCS {
        let mut document = writer.document();
        let id = [random.next_u64(), random.next_u64()].map(u64::to_be_bytes).concat();
        document.bytes(field, &id).unwrap();
        document.finish().unwrap();
    }
    let file = Arc::new(Counted(writer.finish_bytes().unwrap(), AtomicU64::new(0)));
    let open = || {
        let segment = Segment::from_reader(file.clone(), "ids", OpenOptions::new()).unwrap();
        let ids = segment.ids().unwrap().unwrap();
        assert_eq!(ids.form(), IdForm::Column);
        file.1.store(0, Ordering::Relaxed);
        (segment, ids)
    };
    let waves = || file.1.swap(0, Ordering::Relaxed);
    let (_segment, ids) = open();
    let mut listed = 0;
    ids.each(|_, _| {
        listed += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    let all = waves();
    // 1,563 granules of ids, at least four of them together. The first 128 ids are read one by one.
    assert!(listed == DOCS && all <= 160, "{listed} ids in {all} waves");
    let (_segment, ids) = open();
    ids.reader().verify().unwrap();
    let verified = waves();
    assert!(verified <= 30, "{verified} waves");
    let (segment, ids) = open();
    let before = segment.bytes_touched();
    ids.prefix(&[0x80], |_, _| ControlFlow::Break(())).unwrap();
    let touched = segment.bytes_touched() - before;
    assert!(touched < 1 << 20, "{touched} bytes for one id");
}

#[test]
fn opened_columns_hold_their_small_sections() {
    let file = Arc::new(Counted(EVERY_KIND.1.clone(), AtomicU64::new(0)));
    for are_open in [false, true] {
        let segment = Segment::from_reader(file.clone(), "every kind", OpenOptions::new()).unwrap();
        if are_open {
            segment.open_columns().unwrap();
        }
        file.1.store(0, Ordering::Relaxed);
        check_some(&segment, usize::from(are_open));
        assert_eq!(file.1.load(Ordering::Relaxed) == 0, are_open);
    }
}

#[test]
fn a_reader_that_returns_too_few_bytes_is_refused() {
    struct Short(Vec<u8>);
    impl ReadAt for Short {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
            self.0.read_at(offset, bytes)
        }

        fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
            Ok(ranges.iter().map(|range| vec![0; (range.end - range.start) as usize - 1]).collect())
        }
    }
    let short = Arc::new(Short(EVERY_KIND.1.clone()));
    let error = Segment::from_reader(short, "short", OpenOptions::new()).unwrap_err();
    assert!(error.to_string().contains("read_ranges"), "{error}");
}

/// Damage is found at the same place as in a file in memory, in each mode of verification.
#[test]
fn damage_is_reported_with_its_place() {
    let file = &EVERY_KIND.1;
    let mut random = SplitMix64::new(19);
    for _ in 0..60 {
        let mut damaged = file.clone();
        let at = (random.next_u64() % file.len() as u64) as usize;
        damaged[at] ^= 1 << (random.next_u64() % 8);
        for verify in [Verify::OnFirstTouch, Verify::AtOpen, Verify::Never] {
            let options = OpenOptions::new().verify(verify);
            let requested = Segment::from_reader(Arc::new(damaged.clone()), "<memory>", options)
                .and_then(|segment| segment.verify());
            let in_memory =
                Segment::from_bytes(damaged.clone(), options).and_then(|segment| segment.verify());
            let error = requested.unwrap_err().to_string();
            assert_eq!(error, in_memory.unwrap_err().to_string(), "byte {at}");
        }
    }
}
