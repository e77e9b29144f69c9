//! [`OpenParts`]: the parts of a table, and those of objects, which are opened anew when they hold much memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion_common::Result;
use docvalues::Segment;
use docvalues::column::Part;
use docvalues::search::query::BoundQuery;
use docvalues::search::{DocsByPart, MissingColumns, MixedTypes, Parts, Query, Search};

use crate::error::external;

/// The parts of a table, as they are open now.
pub(crate) enum OpenParts {
    /// Files and memory.
    Kept(Arc<Open>),
    /// Objects.
    Renewed(Mutex<Arc<Open>>, Renewal),
}

/// Parts, and a search over them. Their columns are opened when they are first asked for, and stay open.
pub(crate) struct Open {
    pub(crate) parts: Parts,
    pub(crate) search: Search<'static>,
    /// The bytes that were touched before these parts were opened, or by opening columns. They do not count as held: if they
    /// did, parts whose columns alone exceed the bound would be opened anew at each step.
    left_out: AtomicU64,
}

/// A query, bound to the columns of open parts.
pub(crate) struct Bound {
    pub(crate) open: Arc<Open>,
    pub(crate) query: BoundQuery,
}

/// Segments of objects, of which none has an open column. Those that are made of them keep the bytes that they touched.
pub(crate) struct Renewal {
    segments: Vec<Segment>,
    /// The most bytes that open columns hold, before they are opened anew.
    most: u64,
}

impl Open {
    fn new(parts: Parts, touched: u64) -> Arc<Open> {
        let search = Search::over(&parts).threads(1).missing_columns(MissingColumns::NoValues);
        let search = search.mixed_types(MixedTypes::Promote);
        Arc::new(Open { parts, search, left_out: AtomicU64::new(touched) })
    }

    fn bind(self: Arc<Self>, query: &Query) -> Result<Arc<Bound>> {
        let query = self.search.bind(query).map_err(external)?;
        Ok(Arc::new(Bound { open: self, query }))
    }
}

impl Renewal {
    fn open(&self) -> Arc<Open> {
        let parts = self.segments.iter().map(|segment| Part::new(segment.without_columns()));
        Open::new(Parts::new(parts), self.touched())
    }

    /// The bytes that all segments touched so far.
    fn touched(&self) -> u64 {
        self.segments.iter().map(Segment::bytes_touched).sum()
    }
}

impl OpenParts {
    pub(crate) fn new(parts: &Parts) -> OpenParts {
        OpenParts::Kept(Open::new(parts.clone(), 0))
    }

    /// Segments of objects. What their open columns hold, besides what opening them took, is about `most` bytes at most.
    pub(crate) fn of_objects(segments: Vec<Segment>, most: u64) -> OpenParts {
        let renewal = Renewal { segments: segments.iter().map(Segment::without_columns).collect(), most };
        let open = Open::new(Parts::new(segments.into_iter().map(Part::new)), renewal.touched());
        OpenParts::Renewed(Mutex::new(open), renewal)
    }

    /// Whether reading waits for requests.
    pub(crate) fn are_objects(&self) -> bool {
        matches!(self, OpenParts::Renewed(..))
    }

    /// Returns the parts to use now. Opens those of objects anew if they hold too many bytes. Callers should drop the parts
    /// that they got before, as these keep their memory.
    pub(crate) fn now(&self) -> Arc<Open> {
        match self {
            OpenParts::Kept(open) => Arc::clone(open),
            OpenParts::Renewed(open, renewal) => {
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                let left_out = open.left_out.load(Ordering::Relaxed);
                if renewal.touched().saturating_sub(left_out) > renewal.most {
                    *open = renewal.open();
                }
                Arc::clone(&open)
            }
        }
    }

    /// Binds a query, and opens the columns `names`.
    pub(crate) fn bind(&self, query: &Query, names: &[String]) -> Result<Arc<Bound>> {
        let open = self.now();
        let OpenParts::Renewed(_, renewal) = self else { return open.bind(query) };
        let before = renewal.touched();
        let bound = Arc::clone(&open).bind(query)?;
        open.search.export(DocsByPart::All, names).map_err(external)?;
        open.left_out.fetch_add(renewal.touched().saturating_sub(before), Ordering::Relaxed);
        Ok(bound)
    }
}

#[cfg(test)]
mod tests {
    use docvalues::prelude::*;

    use super::*;

    fn segment(docs: u64) -> Segment {
        let mut schema = Schema::new();
        let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for number in 0..docs {
            let mut doc = writer.document();
            // No block has a short encoding.
            doc.i64(size, (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1) as i64).unwrap();
            doc.finish().unwrap();
        }
        let bytes = writer.finish_bytes().unwrap();
        Segment::from_reader(Arc::new(bytes), "memory", OpenOptions::new()).unwrap()
    }

    #[test]
    fn objects_are_opened_anew_when_they_hold_too_much() {
        let parts = OpenParts::of_objects(vec![segment(100_000), segment(50_000)], 500_000);
        let read =
            |open: &Open, query: Query| open.search.bind(&query).unwrap().count(DocsByPart::All).unwrap();
        let (first, query) = (parts.now(), || Query::range("size", 1_i64 << 61..));
        assert!(Arc::ptr_eq(&first, &parts.now()));
        let (expected, held) = (read(&first, query()), Arc::downgrade(&first));
        // It read 800 KB of one and 400 KB of the other. Nobody keeps it, so its memory is freed.
        drop(first);
        let second = parts.now();
        assert!(held.upgrade().is_none());
        assert!(Arc::ptr_eq(&second, &parts.now()), "the new one has read nothing");
        assert_eq!(read(&second, query()), expected);
        assert!(!Arc::ptr_eq(&second, &parts.now()));
    }

    #[test]
    fn files_stay_open() {
        let parts = OpenParts::new(&Parts::new([Part::new(segment(100_000))]));
        let first = parts.now();
        first.search.bind(&Query::range("size", 1_i64 << 61..)).unwrap().count(DocsByPart::All).unwrap();
        assert!(Arc::ptr_eq(&first, &parts.now()));
    }
}
