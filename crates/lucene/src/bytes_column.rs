//! Open columns of byte strings.

use docvalues_column::{
    Batch, BatchDocs, Column, ColumnInfo, DocId, DocRange, Each, Gathered, Result, Rows, Slices, Values,
    View, bits,
};

use crate::binary::{ByteStrings, Scratch};
use crate::presence::Presence;
use crate::windows::{each_batch, each_window, words};

/// An open column of byte strings.
#[derive(Debug)]
pub(crate) struct BytesColumn {
    pub(crate) info: ColumnInfo,
    pub(crate) presence: Presence,
    pub(crate) strings: ByteStrings,
}

impl BytesColumn {
    /// Adds the name of the column to an error.
    fn named<T>(&self, result: crate::error::Result<T>) -> Result<T> {
        result.map_err(|error| error.of_column(Some(&self.info.field.name)))
    }
}

impl Column for BytesColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        bits::check(docs, out);
        self.named(self.presence.exists(docs, out))
    }

    fn values(&self) -> Values<'_> {
        Values::Bytes(self)
    }
}

impl Rows<u8> for BytesColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<u8>) -> Result<()> {
        let docs = match docs {
            BatchDocs::List(docs) => docs,
            BatchDocs::Run(docs) => return out.fill_by_scan(docs, true, |each| self.scan(docs, each)),
        };
        let (lists, mut presence) = out.begin_many(docs.len());
        let mut scratch = Scratch::default();
        self.named(each_batch(&self.presence, docs, |place, indices, are_all| {
            if !are_all {
                presence.mark_words(place.start, words(indices));
            }
            self.strings.gather(indices, &mut scratch, lists)
        }))
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, u8>) -> Result<()> {
        let mut scratch = Scratch::default();
        self.named(each_window(&self.presence, docs, |docs, first| {
            let (mut docs, mut first) = (docs, first);
            while !docs.is_empty() {
                let run = self.strings.run(first..first + docs.len() as u64, &mut scratch)?;
                let (now, later) = docs.split_at(docs.len().min(run.offsets.len() - 1));
                let values = View::Many(Slices::new(run.offsets, run.bytes));
                if each(Batch { docs: BatchDocs::List(now), values }).is_break() {
                    return Ok(false);
                }
                (docs, first) = (later, first + now.len() as u64);
            }
            Ok(true)
        }))
    }

    fn get(&self, doc: DocId, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        let Some(index) = self.named(self.presence.rank(doc))? else { return Ok(false) };
        out.extend_from_slice(self.named(self.strings.get(index.into(), &mut Scratch::default()))?);
        Ok(true)
    }
}
