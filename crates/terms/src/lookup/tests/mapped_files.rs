//! Segments whose sections are verified as they are read, as mapped ones are.

use std::collections::BTreeMap;
use std::sync::Arc;

use docvalues_format::error::{Error, ErrorKind, Section};
use docvalues_format::id::DocId;
use docvalues_format::source::SectionBytes as _;

use super::super::{Hit, IdLookup, IdStore, Seeker};
use super::segment::{Shared, id};
use crate::bloom::DEFAULT_BITS;
use crate::build::{IdOptions, IdsBuilder};
use crate::ids::Form;
use crate::read::IdsReader;

/// A segment, and those of its sections that a look-up asks often.
struct MappedSegment {
    reader: Arc<IdsReader<Shared>>,
    filter: Option<Shared>,
    keys: Shared,
    docs: Shared,
    /// The column, if the index has no copies of the ids.
    values: Option<Shared>,
}

const EACH: u32 = 3_000;

impl MappedSegment {
    /// Ids from `first` on, UUIDs or not.
    fn new(first: u32, kind: u8, form: Form, filter_bits: u8) -> MappedSegment {
        let model: BTreeMap<Vec<u8>, DocId> =
            (0..EACH).map(|doc| (id(first + doc, kind), DocId::new(doc))).collect();
        let sorted: Vec<(Vec<u8>, DocId)> = model.into_iter().collect();
        let made = IdsBuilder::new(IdOptions { form, filter_bits, seed: 1, ..IdOptions::default() })
            .in_column(true)
            .build(&sorted[..], EACH)
            .unwrap();
        let values = (made.meta.form == Form::Column).then(|| {
            let values = (0..EACH).flat_map(|doc| id(first + doc, kind)).collect();
            Shared::new(Section::Bytes, values)
        });
        let (mut filter, mut keys, mut docs) = (None, None, None);
        let opened = made.try_map(&mut |section, bytes| {
            let shared = Shared::new(section, bytes);
            match section {
                Section::IdFilter => filter = Some(shared.clone()),
                Section::Ids => keys = Some(shared.clone()),
                Section::IdDocs => docs = Some(shared.clone()),
                _ => {}
            }
            Ok::<_, Error>(shared)
        });
        let reader = match values.clone() {
            Some(values) => IdsReader::open_in(opened.unwrap(), values),
            None => IdsReader::open(opened.unwrap()),
        };
        let reader = Arc::new(reader.unwrap());
        MappedSegment { reader, filter, keys: keys.unwrap(), docs: docs.unwrap(), values }
    }

    fn asked(&self) -> [usize; 3] {
        [self.filter.as_ref().map_or(0, Shared::asked), self.keys.asked(), self.docs.asked()]
    }

    /// Says of all of it that it was checked.
    fn check(&self) {
        self.sections().for_each(Shared::check);
    }

    fn damage(&self) {
        self.sections().for_each(|section| section.damage_from(0));
    }

    fn sections(&self) -> impl Iterator<Item = &Shared> {
        self.filter.iter().chain([&self.keys, &self.docs]).chain(&self.values)
    }
}

/// Segments of all forms, newest first, of one shape of ids or of two. Of the form `Column`, there is one if there are two.
fn segments(kinds: &[u8], filter_bits: u8) -> Vec<MappedSegment> {
    let segment = |number: u32| {
        let (kind, form) = (kinds[number as usize % kinds.len()], Form::ALL[number as usize % 4]);
        MappedSegment::new(number * EACH, kind, form, filter_bits)
    };
    (0..7).rev().map(segment).collect()
}

/// Looks up an id of each segment, or several, and as many that are in none, one by one and in bulks.
fn look(seeker: &mut Seeker<'_, IdsReader<Shared>>, kinds: &[u8], step: usize) {
    let numbers: Vec<u32> = (0..8 * EACH).step_by(step).collect();
    let segment = |number: u32| number / EACH;
    let right = |number: &u32| {
        let segment = segment(*number);
        (segment < 7).then(|| Hit { segment: 6 - segment as usize, doc: DocId::new(number % EACH) })
    };
    let ids: Vec<Vec<u8>> =
        numbers.iter().map(|&number| id(number, kinds[segment(number) as usize % kinds.len()])).collect();
    for (number, id) in numbers.iter().zip(&ids) {
        assert_eq!(seeker.find(id).unwrap(), right(number), "{number}");
    }
    let mut hits = Vec::new();
    for bulk in [5, 1_000] {
        for (ids, numbers) in ids.chunks(bulk).zip(numbers.chunks(bulk)) {
            let ids: Vec<&[u8]> = ids.iter().map(Vec::as_slice).collect();
            seeker.find_many(&ids, &mut hits).unwrap();
            assert_eq!(hits, numbers.iter().map(right).collect::<Vec<_>>(), "{numbers:?}");
        }
    }
}

#[test]
fn verified_sections_are_cached_and_read_no_more() {
    let ways = [0, DEFAULT_BITS].into_iter().flat_map(|bits| [(bits, false), (bits, true)]);
    for (kinds, (filter_bits, fingerprints)) in ways.flat_map(|way| [(&[0][..], way), (&[0, 3], way)]) {
        let segments = segments(kinds, filter_bits);
        let readers: Vec<_> = segments.iter().map(|segment| Arc::clone(&segment.reader)).collect();
        let lookup = match fingerprints {
            true => {
                let store = IdStore::with_seed(1);
                store.add_all(&readers).unwrap();
                store.snapshot()
            }
            false => Arc::new(IdLookup::new(readers)),
        };
        let mut seeker = lookup.seeker();
        let asked =
            |segments: &[MappedSegment]| segments.iter().map(MappedSegment::asked).collect::<Vec<_>>();
        // As long as parts were never read, sections are asked each time.
        look(&mut seeker, kinds, 1_500);
        let before = asked(&segments);
        look(&mut seeker, kinds, 1_500);
        for ([filter, keys, docs], before) in asked(&segments).into_iter().zip(before) {
            assert!(keys > before[1] && docs > before[2]);
            assert_eq!(filter > before[0], filter_bits > 0 && !fingerprints);
        }
        // When all were read, and each section was asked once more, none is any more: first keys, then documents.
        segments.iter().flat_map(MappedSegment::sections).for_each(|section| {
            if section.place().section != Section::IdDocs {
                section.check();
            }
        });
        look(&mut seeker, kinds, 1_500);
        let before = asked(&segments);
        look(&mut seeker, kinds, 1_500);
        for ([filter, keys, docs], before) in asked(&segments).into_iter().zip(before) {
            assert!(filter == before[0] && keys == before[1] && docs > before[2]);
        }
        segments.iter().for_each(MappedSegment::check);
        look(&mut seeker, kinds, 1_500);
        let before = asked(&segments);
        look(&mut seeker, kinds, 7);
        assert_eq!(asked(&segments), before, "{kinds:?}, {filter_bits} bits, table: {fingerprints}");
    }
}

#[test]
fn an_error_names_its_segment() {
    for (filter_bits, damaged) in
        [0, DEFAULT_BITS].into_iter().flat_map(|bits| [2, 3, 4].map(|damaged| (bits, damaged)))
    {
        let segments = segments(&[0], filter_bits);
        let lookup = IdLookup::new(segments.iter().map(|segment| Arc::clone(&segment.reader)));
        for (place, segment) in segments.iter().enumerate() {
            if place == damaged { segment.damage() } else { segment.check() }
        }
        let (mut seeker, mut hits) = (lookup.seeker(), Vec::new());
        for _ in 0..3 {
            // Newer segments have theirs.
            let newer = id((7 - damaged as u32) * EACH, 0);
            let hit = Hit { segment: damaged - 1, doc: DocId::new(0) };
            assert_eq!(seeker.find(&newer), Ok(Some(hit)));
            for other in [id(5, 0), id(9 * EACH, 0)] {
                let error = seeker.find(&other).unwrap_err();
                assert_eq!((error.segment, error.source.kind()), (damaged, &ErrorKind::Broken("damaged")));
                assert!(error.to_string().starts_with(&format!("segment {damaged} ")), "{error}");
                assert_eq!(seeker.find_many(&[&newer, &other], &mut hits), Err(error));
                assert_eq!(hits, [Some(hit)]);
            }
        }
    }
}

/// An index in 64 bytes: a look-up goes through an array of them.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_dictionary_that_was_checked_is_a_line_of_memory() {
    assert_eq!(size_of::<crate::dictionary::VerifiedDictionary<'_>>(), 64);
    assert_eq!(size_of::<crate::read::Docs<'_>>(), 64);
}
