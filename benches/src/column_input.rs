//! The columns of [`crate::data`] as input of a writer.

use std::ops::Range;

use docvalues::writer::ColumnBatch;
use docvalues::{FieldId, SegmentWriter};

use crate::data::{self, Numbers, Strings};

/// The values of a column.
#[derive(Clone, Debug)]
pub enum ColumnInput {
    /// At most one number for each document.
    Numbers(Numbers),
    /// One string for each document.
    Strings(Strings),
    /// Strings, and the index of each document's first.
    Sets(Strings, Vec<u64>),
}

impl ColumnInput {
    /// The column `name` of `docs` documents.
    pub fn of(name: &str, docs: u32) -> ColumnInput {
        match name {
            "host" => ColumnInput::Strings(data::hosts(docs)),
            "url" => ColumnInput::Strings(data::urls(docs)),
            "tags" => {
                let (names, lists) = data::tags(docs);
                ColumnInput::Sets(names, lists)
            }
            _ => ColumnInput::Numbers(data::numbers(name, docs)),
        }
    }

    /// Adds the documents `docs` as a batch. The first document must be a multiple of 64.
    pub fn add_batch(&self, writer: &mut SegmentWriter<Vec<u8>>, field: FieldId, docs: Range<u32>) {
        let mut batch = writer.batch(docs.end - docs.start).expect("few documents");
        self.add_to(&mut batch, field, docs);
        batch.finish();
    }

    /// Adds the column to a batch of the documents `docs`. The first document must be a multiple of 64.
    pub fn add_to(&self, batch: &mut ColumnBatch<'_>, field: FieldId, docs: Range<u32>) {
        let (start, end) = (docs.start as usize, docs.end as usize);
        let added = match self {
            ColumnInput::Numbers(Numbers { values, present }) => {
                let present = present.as_ref().map(|words| &words[start / 64..]);
                batch.i64(field, &values[start..end], present)
            }
            ColumnInput::Strings(Strings { bytes, offsets }) => {
                batch.bytes(field, &offsets[start..=end], bytes, None)
            }
            ColumnInput::Sets(Strings { bytes, offsets }, lists) => {
                batch.bytes_lists(field, &lists[start..=end], offsets, bytes, None)
            }
        };
        added.expect("good values");
    }

    /// Adds a document.
    pub fn add_document(&self, writer: &mut SegmentWriter<Vec<u8>>, field: FieldId, doc: u32) {
        let mut document = writer.document();
        let at = doc as usize;
        match self {
            ColumnInput::Numbers(Numbers { values, present }) => {
                if present.as_ref().is_none_or(|words| words[at / 64] >> (at % 64) & 1 == 1) {
                    document.i64(field, values[at]).expect("a good value");
                }
            }
            ColumnInput::Strings(strings) => {
                document.stored_bytes(field, strings.get(at)).expect("a good value");
            }
            ColumnInput::Sets(strings, lists) => {
                for at in lists[at]..lists[at + 1] {
                    document.stored_bytes(field, strings.get(at as usize)).expect("a good value");
                }
            }
        }
        document.finish().expect("few documents");
    }
}
