//! The id index, in a segment and alone.

use std::convert::Infallible;
use std::ops::ControlFlow;

use docvalues::column::Result;
use docvalues::terms::ids::{Ids, Keys};
use docvalues::terms::packing::Packed;
use docvalues::terms::read::IdsReader;
use docvalues::{DocId, Segment};
use docvalues_format::error::Section;
use docvalues_format::granule::SectionRef;
use docvalues_format::source::Owned;

use crate::decoders::{cursor, sections};
use crate::exercise::{Sink, hash};

/// Lists ids with their documents.
type List<'l> = dyn Fn(&mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> + 'l;

/// Limit of ids that are listed.
const LISTED: usize = 2_000;

/// The first ids of a segment and near misses, to look up in it and in damaged copies.
///
/// # Errors
///
/// If they cannot be read.
pub fn ids_to_ask(segment: &Segment, most: usize) -> Result<Vec<Vec<u8>>> {
    let mut requested: Vec<Vec<u8>> = [&b""[..], b"a", b"nowhere", &[0xff; 40]].map(<[u8]>::to_vec).into();
    if let Some(ids) = segment.ids()? {
        let step = (ids.len() as usize / most.max(1)).max(1);
        let mut number = 0;
        ids.each(|id, _| {
            if number % step == 0 {
                requested.extend(near(id));
            }
            number += 1;
            if number < most * step { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    Ok(requested)
}

/// An id and two near misses.
fn near(id: &[u8]) -> [Vec<u8>; 3] {
    let mut other = id.to_vec();
    if let Some(last) = other.last_mut() {
        *last = last.wrapping_add(1);
    }
    [id.to_vec(), other, id[..id.len() / 2].to_vec()]
}

/// Looks up the ids `requested` in the id index, lists its ids, and passes every answer to `sink`. Does nothing without an
/// index.
pub fn exercise_ids(requested: &[Vec<u8>], segment: &Segment, sink: &mut Sink<'_>) {
    let ids = match segment.ids() {
        Ok(Some(ids)) => ids,
        Ok(None) => return,
        Err(error) => return sink(Err(error)),
    };
    sink(Ok(hash((ids.len(), ids.field(), ids.form() as u8, ids.filter_bits(), ids.seed()))));
    for id in requested {
        sink(ids.find(id).map(|doc| hash((id, doc))));
        sink(ids.with_context(ids.reader().lower_bound(id)).map(|rank| hash((id, rank))));
    }
    let listed = |list: &List<'_>| {
        let mut all = Vec::new();
        let listed = list(&mut |id, doc| {
            all.push((id.to_vec(), doc));
            if all.len() < LISTED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        listed.map(|()| hash(&all))
    };
    for prefix in requested.iter().step_by(5) {
        sink(listed(&|each| ids.prefix(prefix, each)));
    }
    sink(listed(&|each| ids.each(each)));
}

/// The directory fields of an id index, then its sections, and the values of the column if the index has no copies.
pub fn ids(input: &[u8]) {
    let mut fields = cursor(input);
    let Ok((_, meta)) = Ids::decode_meta(&mut fields) else { return };
    let mut rest = sections(input, &fields);
    let Ok(opened) = meta.try_map(&mut |section: Section, at: SectionRef| rest.cut(section, at));
    let reader = if matches!(opened.keys, Keys::Column(_)) {
        let len = u64::from(opened.meta.count) * opened.meta.least.len() as u64;
        let Ok(values) = rest.cut(Section::Bytes, SectionRef { offset: 0, len, crc: 0 });
        IdsReader::<Owned>::open_in(opened, values)
    } else {
        IdsReader::open(opened)
    };
    let Ok(reader) = reader else { return };
    let sound = reader.verify().is_ok();
    let mut requested = vec![b"".to_vec(), b"a".to_vec(), vec![0xff; 300]];
    let (mut listed, mut before) = (Vec::new(), None::<Vec<u8>>);
    let each = reader.each(|id, doc| {
        assert!(doc.get() < reader.doc_count());
        if sound {
            assert!(before.as_deref().is_none_or(|before| before < id), "verified, but in no order");
        }
        before = Some(id.to_vec());
        if listed.len() < LISTED {
            listed.push((id.to_vec(), doc));
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    });
    requested.extend(listed.iter().step_by(listed.len() / 40 + 1).flat_map(|(id, _)| near(id)));
    for id in &requested {
        let found = reader.find(id);
        assert!(
            found.as_ref().is_ok_and(|doc| doc.is_none_or(|doc| doc.get() < reader.doc_count()))
                || found.is_err()
        );
        let mut packed = Packed::default();
        let key = reader.template().pack(id, &mut packed).map(<[u8]>::to_vec);
        if let Some(key) = &key {
            reader.prefetch_packed(key);
            let packed = reader.find_packed(key);
            assert!(!sound || packed.is_ok() && packed == found, "ways to find an id differ");
        }
        let (rank, range) = (reader.lower_bound(id), reader.prefix_ranks(id));
        let mut given = 0;
        let prefix = reader.prefix(id, |found, _| {
            assert!(!sound || found.starts_with(id), "another prefix");
            given += 1;
            if given < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if sound {
            let (rank, range) = (rank.expect("verified"), range.expect("verified"));
            assert_eq!((prefix, range.start), (Ok(()), rank));
            assert_eq!(given, range.len().min(100), "the prefix {id:?}");
            if listed.len() < LISTED {
                assert_eq!(rank as usize, listed.partition_point(|(other, _)| other < id));
                let doc = listed.binary_search_by(|(other, _)| other.cmp(id)).ok().map(|at| listed[at].1);
                assert_eq!(found, Ok(doc));
            }
        }
    }
    assert!(!sound || each.is_ok(), "verified, but not readable");
}

/// An input of [`ids`]: fields, then sections, then `values`.
pub fn ids_input(made: Ids<Vec<u8>>, values: &[u8]) -> Vec<u8> {
    let mut sections = Vec::new();
    let Ok(meta) = made.try_map(&mut |_, bytes: Vec<u8>| {
        let at = SectionRef { offset: sections.len() as u64, len: bytes.len() as u64, crc: 0 };
        sections.extend(bytes);
        Ok::<_, Infallible>(at)
    });
    let mut input = Vec::new();
    meta.encode_meta("id", &mut input);
    input.extend(sections);
    input.extend(values);
    input
}
