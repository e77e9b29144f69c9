//! Open columns with at most one byte string per document.

use std::ops::Bound;

use docvalues_column::{
    Batch, BatchDocs, ByteRange, Column, ColumnInfo, DocId, DocRange, Each, Element as _, Gathered, Lists,
    Pruning, Result, Rows, Slices, Values, View, bits, filter_by_scan,
};
use docvalues_format::binary::{BinaryReader, Scratch};
use docvalues_format::presence::Indices;
use docvalues_format::strings::shared_len;
use docvalues_storage::Section;

use crate::column::{ColumnCore, presence_words, request};

/// An open column of byte strings.
#[derive(Debug)]
pub(crate) struct BinaryColumn {
    pub(crate) core: ColumnCore,
    pub(crate) values: BinaryReader<Section>,
}

impl BinaryColumn {
    /// The value of `doc`. It borrows from `buffer` if it has to be decoded.
    pub(crate) fn read<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let BinaryColumn { core, values } = self;
        match core.named(core.presence.rank(doc))? {
            Some(index) => core.named(values.get(index.get().into(), buffer)).map(Some),
            None => Ok(None),
        }
    }

    /// Appends the values of `docs` to `out`, with `fill` for documents without a value.
    ///
    /// Calls `gaps` for each batch with such a document, with the batch's position in `docs`.
    pub(crate) fn gather_list(
        &self,
        docs: &[DocId],
        out: &mut Lists<u8>,
        fill: &[u8],
        mut gaps: impl FnMut(usize, Indices<'_>),
    ) -> Result<()> {
        let BinaryColumn { core, values } = self;
        let (mut scratch, mut buffer) = (Scratch::default(), Vec::new());
        request(&core.source, docs, &mut |doc| drop(self.read(doc, &mut buffer)));
        core.named(core.each_batch(docs, &mut |place, indices| {
            if !indices.all {
                gaps(place.start, indices);
            }
            let each = |value: Option<&[u8]>| out.push(value.unwrap_or(fill));
            values.gather(indices.each, &mut scratch, each)
        }))
    }
}

/// The bytes that all strings of a range begin with, and the strings among those that do.
struct PrefixOfRange<'r> {
    prefix: &'r [u8],
    which: Which,
}

#[derive(Clone, Copy)]
enum Which {
    All,
    /// Only the prefix itself.
    Whole,
    /// Those that are in the range.
    InRange,
}

impl PrefixOfRange<'_> {
    /// The common prefix of both bounds; `None` if that is empty.
    fn of((low, high): &ByteRange) -> Option<PrefixOfRange<'_>> {
        let (Bound::Included(low_bytes) | Bound::Excluded(low_bytes)) = low else { return None };
        let (Bound::Included(high_bytes) | Bound::Excluded(high_bytes)) = high else { return None };
        let common = shared_len(low_bytes, high_bytes);
        let is_next = |low: &[u8], high: &[u8]| {
            low.len() == high.len()
                && common + 1 == low.len()
                && low[common].checked_add(1) == Some(high[common])
        };
        let (len, which) = match (low, high) {
            (Bound::Included(low), Bound::Included(high)) if low == high => (common, Which::Whole),
            // From a prefix up to the next one of the same length.
            (Bound::Included(low), Bound::Excluded(high)) if is_next(low, high) => (low.len(), Which::All),
            _ => (common, Which::InRange),
        };
        (len > 0).then(|| PrefixOfRange { prefix: &low_bytes[..len], which })
    }
}

impl BinaryColumn {
    /// [`Rows::filter`] for values whose codes can be compared; returns `false` for others, or if the range has no
    /// prefix.
    fn filter_by_prefix(
        &self,
        docs: DocRange,
        wanted: &ByteRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<bool> {
        let BinaryColumn { core, values } = self;
        let Some(PrefixOfRange { prefix, which }) = PrefixOfRange::of(wanted) else { return Ok(false) };
        if !values.can_find_prefix() {
            return Ok(false);
        }
        bits::check(docs, bits);
        let (mut scratch, mut buffer, mut found) = (Scratch::default(), Vec::new(), Vec::new());
        core.named(core.each_window(docs, &mut |window, first| {
            let first = u64::from(first.get());
            pruned.read += window.len() as u64;
            values.find_prefix(
                first..first + window.len() as u64,
                prefix,
                &mut scratch,
                |index, is_whole| {
                    found.push((index, is_whole));
                },
            )?;
            for (index, is_whole) in found.drain(..) {
                let is_wanted = match which {
                    Which::All => true,
                    Which::Whole => is_whole,
                    Which::InRange => u8::is_within(values.get(index, &mut buffer)?, wanted),
                };
                let doc = window.get(usize::try_from(index - first).unwrap_or(usize::MAX));
                if is_wanted && let Some(&doc) = doc {
                    let place = docs.place(doc);
                    bits[place / 64] |= 1 << (place % 64);
                }
            }
            Ok(true)
        }))?;
        Ok(true)
    }
}

impl Column for BinaryColumn {
    fn info(&self) -> &ColumnInfo {
        &self.core.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.core.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        Values::Bytes(self)
    }
}

impl Rows<u8> for BinaryColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<u8>) -> Result<()> {
        match docs {
            BatchDocs::List(docs) => {
                let (lists, mut presence) = out.begin_many(docs.len());
                self.gather_list(docs, lists, &[], |at, indices| {
                    presence.mark_words(at, presence_words(indices))
                })
            }
            BatchDocs::Run(docs) => out.fill_by_scan(docs, true, |each| self.scan(docs, each)),
        }
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, u8>) -> Result<()> {
        let BinaryColumn { core, values } = self;
        let mut scratch = Scratch::default();
        core.named(core.each_window(docs, &mut |docs, first| {
            let (mut docs, mut first) = (docs, u64::from(first.get()));
            while !docs.is_empty() {
                let strings = values.decode(first..first + docs.len() as u64, &mut scratch)?;
                let (now, later) = docs.split_at(strings.len());
                let values = View::Many(Slices::new(strings.offsets, strings.bytes));
                if each(Batch { docs: BatchDocs::List(now), values }).is_break() {
                    return Ok(false);
                }
                (docs, first) = (later, first + now.len() as u64);
            }
            Ok(true)
        }))
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &ByteRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        match self.filter_by_prefix(docs, wanted, bits, pruned)? {
            true => Ok(()),
            false => filter_by_scan(self, docs, bits, pruned, |value| u8::is_within(value, wanted)),
        }
    }

    fn get(&self, doc: DocId, out: &mut Vec<u8>) -> Result<bool> {
        let mut buffer = Vec::new();
        let value = self.read(doc, &mut buffer)?;
        out.clear();
        out.extend_from_slice(value.unwrap_or_default());
        Ok(value.is_some())
    }
}
