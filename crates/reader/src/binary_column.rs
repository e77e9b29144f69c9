//! Open columns with at most one byte string per document.

use docvalues_column::{
    Batch, BatchDocs, Column, ColumnInfo, DocId, DocRange, Each, Gathered, Lists, Result, Rows, Slices,
    Values, View,
};
use docvalues_format::binary::{BinaryReader, Scratch};
use docvalues_format::presence::Indices;
use docvalues_storage::Section;

use crate::column::{ColumnCore, presence_words};

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
        core.request(docs, |doc| drop(self.read(doc, &mut buffer)));
        core.named(core.each_batch(docs, |place, indices| {
            if !indices.all {
                gaps(place.start, indices);
            }
            let each = |value: Option<&[u8]>| out.push(value.unwrap_or(fill));
            values.gather(indices.each, &mut scratch, each)
        }))
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
        core.named(core.each_window(docs, |docs, first| {
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

    fn get(&self, doc: DocId, out: &mut Vec<u8>) -> Result<bool> {
        let mut buffer = Vec::new();
        let value = self.read(doc, &mut buffer)?;
        out.clear();
        out.extend_from_slice(value.unwrap_or_default());
        Ok(value.is_some())
    }
}
