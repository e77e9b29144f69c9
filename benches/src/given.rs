//! Values as a caller has them before there is a segment, and how they are handed over.

use std::ops::Range;

use docvalues::writer::ColumnBatch;
use docvalues::{FieldId, SegmentWriter};

use crate::data::{self, Numbers, Strings};

/// A column as its caller has it.
#[derive(Clone, Debug)]
pub enum Given {
    /// At most one number a document.
    Numbers(Numbers),
    /// A string a document.
    Strings(Strings),
    /// Strings, and where each document's begin.
    Sets(Strings, Vec<u64>),
}

fn string(Strings { bytes, offsets }: &Strings, at: usize) -> &[u8] {
    &bytes[offsets[at] as usize..offsets[at + 1] as usize]
}

impl Given {
    /// The column `name` of `docs` documents.
    pub fn of(name: &str, docs: u32) -> Given {
        match name {
            "host" => Given::Strings(data::hosts(docs)),
            "url" => Given::Strings(data::urls(docs)),
            "tags" => {
                let (names, lists) = data::tags(docs);
                Given::Sets(names, lists)
            }
            _ => Given::Numbers(data::numbers(name, docs)),
        }
    }

    /// Adds the documents `docs`, of which the first is a multiple of 64, in a batch.
    pub fn add_batch(&self, writer: &mut SegmentWriter<Vec<u8>>, field: FieldId, docs: Range<u32>) {
        let mut batch = writer.batch(docs.end - docs.start).expect("few documents");
        self.add_to(&mut batch, field, docs);
        batch.finish();
    }

    /// Adds their column to a batch of the documents `docs`, of which the first is a multiple of 64.
    pub fn add_to(&self, batch: &mut ColumnBatch<'_>, field: FieldId, docs: Range<u32>) {
        let (start, end) = (docs.start as usize, docs.end as usize);
        let added = match self {
            Given::Numbers(Numbers { values, present }) => {
                let present = present.as_ref().map(|words| &words[start / 64..]);
                batch.i64(field, &values[start..end], present)
            }
            Given::Strings(Strings { bytes, offsets }) => {
                batch.bytes(field, &offsets[start..=end], bytes, None)
            }
            Given::Sets(Strings { bytes, offsets }, lists) => {
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
            Given::Numbers(Numbers { values, present }) => {
                if present.as_ref().is_none_or(|words| words[at / 64] >> (at % 64) & 1 == 1) {
                    document.i64(field, values[at]).expect("a good value");
                }
            }
            Given::Strings(strings) => {
                document.stored_bytes(field, string(strings, at)).expect("a good value");
            }
            Given::Sets(strings, lists) => {
                for at in lists[at]..lists[at + 1] {
                    document.stored_bytes(field, string(strings, at as usize)).expect("a good value");
                }
            }
        }
        document.finish().expect("few documents");
    }
}
