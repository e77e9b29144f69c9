//! Ten million ids, sorted and in random order, in every form of the index, built with a small budget, and compared
//! with a `BTreeMap`.
//!
//! `cargo test` takes some thousands of ids. The command for ten million is in `docs/testing.md`.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::time::Instant;

use docvalues::reader::{IdForm, IdIndex};
use docvalues::writer::IdOptions;
use docvalues::{DocId, FieldSpec, LogicalType, Schema, Segment, SegmentWriter, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;

use crate::{ALLOCATOR, turn};

/// Memory of a build beside its budget and its index: buffers for reading and writing.
const FIXED: usize = 3 << 20;

/// The numbers of ranges and prefixes to list, and of ids to compare in each.
const SAMPLES: usize = 1_000;
const OF_EACH: usize = 300;

type Model = BTreeMap<Box<[u8]>, u32>;

/// The pattern of ids.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// Random, 36 bytes.
    Uuid,
    /// Ascending, as an engine counts documents.
    Sequential,
}

impl Look {
    /// The id of document `i`. Past the last document, no document has it.
    fn id(self, i: u32) -> Vec<u8> {
        match self {
            Look::Uuid => {
                let mut rng = SplitMix64::new(u64::from(i));
                let (a, b) = (rng.next_u64(), rng.next_u64());
                let id = format!("{:08x}-{:04x}-{:04x}-", a >> 32, a >> 16 & 0xffff, a & 0xffff);
                format!("{id}{:04x}-{:012x}", b >> 48, b & 0xffff_ffff_ffff).into_bytes()
            }
            Look::Sequential => format!("doc-{i:010}").into_bytes(),
        }
    }

    /// An id that hardly any document has, similar to those that exist.
    fn other(self, i: u32, count: u32) -> Vec<u8> {
        match i % 4 {
            // An existing id with another byte appended.
            0 => [&self.id(i)[..], b"0"].concat(),
            // An existing id with another byte in the middle. Some of these exist, too.
            1 => {
                let mut id = self.id(i);
                let at = 4 + i as usize / 4 % (id.len() - 4);
                id[at] = id[at].wrapping_add(1);
                id
            }
            _ => self.id(count + i),
        }
    }
}

/// The size of a test.
#[derive(Clone, Copy, Debug)]
struct Size {
    count: u32,
    /// The writer's budget.
    budget: usize,
}

/// Builds a segment of `count` documents with ids, and returns the peak of memory.
fn build(path: &Path, look: Look, Size { count, budget }: Size, options: IdOptions) -> usize {
    let build = || {
        let limited = WriterOptions::new().budget(budget);
        let mut writer = SegmentWriter::create(path, Schema::new(), limited).unwrap();
        add(&mut writer, look, count, options);
        writer.finish().unwrap();
    };
    ALLOCATOR.peak_of(build).1
}

/// The bytes of the same segment, built in memory.
fn built_in_memory(look: Look, count: u32, options: IdOptions) -> Vec<u8> {
    let mut writer = SegmentWriter::in_memory(Schema::new(), WriterOptions::default());
    add(&mut writer, look, count, options);
    writer.finish_bytes().unwrap()
}

fn add<T>(writer: &mut SegmentWriter<T>, look: Look, count: u32, options: IdOptions) {
    let id = writer.add_field(FieldSpec::new("id", LogicalType::Bytes)).unwrap();
    writer.id_field(id, options).unwrap();
    for i in 0..count {
        let mut doc = writer.document();
        doc.bytes(id, &look.id(i)).unwrap();
        doc.finish().unwrap();
    }
}

/// The other ids that a document has, and that document.
fn found_others(model: &Model, look: Look, count: u32) -> BTreeMap<u32, u32> {
    (0..count).filter_map(|i| Some((i, *model.get(&look.other(i, count)[..])?))).collect()
}

/// Checks that every id is found, and of the others exactly those of `found`.
fn lookups(ids: &IdIndex, found: &BTreeMap<u32, u32>, look: Look, count: u32) {
    let mut found = found.iter().peekable();
    for i in 0..count {
        let id = look.id(i);
        assert_eq!(ids.find(&id).unwrap(), Some(DocId::new(i)), "{}", id.escape_ascii());
        let other = look.other(i, count);
        let expected = found.next_if(|(at, _)| **at == i).map(|(_, doc)| *doc);
        assert_eq!(ids.find(&other).unwrap().map(DocId::get), expected, "{}", other.escape_ascii());
    }
    assert_eq!(found.next(), None);
}

/// Checks the list of all ids.
fn listed(ids: &IdIndex, model: &Model) {
    let mut expected = model.iter();
    ids.each(|id, doc| {
        assert_eq!(expected.next(), Some((&Box::from(id), &doc.get())));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(expected.next(), None);
}

/// Checks the first ids of some ranges and prefixes.
fn samples(ids: &IdIndex, model: &Model, look: Look, count: u32) {
    let mut rng = SplitMix64::new(7);
    for i in 0..SAMPLES {
        let mut bound = || look.other(rng.below(u64::from(count)) as u32, count);
        let (mut from, mut to) = (bound(), bound());
        if from > to {
            std::mem::swap(&mut from, &mut to);
        }
        let prefix = &from[..i % (from.len() + 1)];
        let range = (Bound::Included(&from[..]), Bound::Excluded(&to[..]));
        let expected = model.range::<[u8], _>(range).take(OF_EACH);
        assert!(some(|each| ids.reader().range(range, each)).iter().map(|(id, doc)| (id, doc)).eq(expected));
        let from_prefix = (Bound::Included(prefix), Bound::Unbounded);
        let expected =
            model.range::<[u8], _>(from_prefix).take_while(|(id, _)| id.starts_with(prefix)).take(OF_EACH);
        assert!(some(|each| ids.prefix(prefix, each)).iter().map(|(id, doc)| (id, doc)).eq(expected));
    }
}

/// The first ids that `give` passes on.
fn some<E: std::fmt::Debug>(
    give: impl FnOnce(&mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), E>,
) -> Vec<(Box<[u8]>, u32)> {
    let mut given = Vec::new();
    give(&mut |id, doc| {
        given.push((id.into(), doc.get()));
        if given.len() < OF_EACH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    given
}

/// The memory limit of a build whose ids exceed the budget. The index goes to the temporary file, except for the
/// filter, the structure that leads to blocks, and a bit per document.
fn allowed(Size { count, budget }: Size, options: IdOptions) -> Option<usize> {
    let each = match options.form {
        IdForm::Blocks | IdForm::Column => 16,
        IdForm::Exact => 1,
        // This form is kept in memory until it is complete.
        IdForm::Fst => return None,
    };
    Some(budget + FIXED + count as usize * (each + usize::from(options.filter_bits)) / 8)
}

fn compare(look: Look, size: Size) {
    let count = size.count;
    let (model, heap) = ALLOCATOR.peak_of(|| (0..count).map(|i| (look.id(i).into(), i)).collect::<Model>());
    assert_eq!(model.len(), count as usize);
    let found = found_others(&model, look, count);
    println!(
        "{look:?}, {size:?}; the model takes {} MiB; {} of the others are there",
        heap >> 20,
        found.len()
    );
    let folder = tempfile::tempdir().unwrap();
    // With a filter, look-ups of unknown ids hardly read anything else.
    let forms = [(IdForm::Blocks, 0), (IdForm::Exact, 0), (IdForm::Fst, 0), (IdForm::Blocks, 16)];
    for (form, filter_bits) in forms {
        let (path, options) =
            (folder.path().join("ids.dv"), IdOptions::new().form(form).filter_bits(filter_bits).seed(1));
        let began = Instant::now();
        let peak = build(&path, look, size, options);
        let built = began.elapsed();
        let segment = Segment::open(&path).unwrap();
        let ids = segment.ids().unwrap().unwrap();
        let time = |work: &dyn Fn()| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        };
        println!(
            "{}, {filter_bits} bits: built in {:.1} s with {} MiB, {:.1} bytes an id; \
             {:.1} s to look up, {:.1} s to list, {:.1} s for samples, {:.1} s to verify",
            form.name(),
            built.as_secs_f64(),
            peak >> 20,
            ids.sizes().total() as f64 / f64::from(count),
            time(&|| lookups(&ids, &found, look, count)),
            time(&|| listed(&ids, &model)),
            time(&|| samples(&ids, &model, look, count)),
            time(&|| segment.verify().unwrap()),
        );
        if count < LARGE.count {
            let expected = built_in_memory(look, count, options);
            assert!(std::fs::read(&path).unwrap() == expected, "{options:?}: other bytes");
        }
        if let Some(allowed) = allowed(size, options) {
            assert!(peak <= allowed, "{options:?}: {peak} bytes of {allowed}");
        }
    }
}

/// A small budget, so that ids go to the temporary file.
fn small() -> Size {
    Size { count: cases(40_000, 100_000), budget: cases(1 << 19, 1 << 20) }
}

const LARGE: Size = Size { count: 10_000_000, budget: 64 << 20 };

#[test]
fn thousands_of_ids_are_found() {
    let _turn = turn();
    [Look::Uuid, Look::Sequential].into_iter().for_each(|look| compare(look, small()));
}

#[test]
#[ignore = "minutes, and 2 GiB of memory: see docs/testing.md"]
fn ten_million_ids_are_found() {
    let _turn = turn();
    [Look::Uuid, Look::Sequential].into_iter().for_each(|look| compare(look, LARGE));
}
