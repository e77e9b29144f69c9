//! The whole writer: what it refuses, what it takes back, and that the bytes depend on the values alone.
//!
//! What a reader makes of the bytes is tested where the reader is.

use docvalues_format::file::column::{Column, Values};
use docvalues_format::file::directory::Page;
use docvalues_format::file::frame::{FOOTER_LEN, Footer, HEADER_LEN, Header};
use docvalues_format::file::kind::Kind;
use docvalues_format::file::root::Root;
use docvalues_format::granule::SectionRef;
use docvalues_format::presence::Presence;

use crate::{BytesKind, ErrorKind, FieldId, FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};

mod batches;
mod budget;
mod dictionary;
mod documents;
mod files;
mod shape;
mod sort;
mod spill;

/// Every field of `specs`, in that order.
fn schema<const N: usize>(specs: [FieldSpec; N]) -> (Schema, [FieldId; N]) {
    let mut schema = Schema::new();
    let ids = specs.map(|spec| schema.add(spec).unwrap());
    (schema, ids)
}

fn in_memory(schema: Schema) -> SegmentWriter<Vec<u8>> {
    SegmentWriter::in_memory(schema, WriterOptions::default())
}

/// Lowers the maximum number of distinct byte strings of each field, which would take gigabytes to reach.
fn limit_terms(writer: &mut SegmentWriter<Vec<u8>>, limit: u32) {
    for buffer in &mut writer.documents.fields.buffers {
        if let crate::buffer::Values::Terms { terms, .. } = &mut buffer.values {
            terms.limit = limit;
        }
    }
}

/// Every column of a file, in the directory's order, and the number of documents.
fn columns(bytes: &[u8]) -> (u32, Vec<Column<SectionRef>>) {
    Header::decode(bytes.first_chunk::<HEADER_LEN>().unwrap()).unwrap();
    let footer = Footer::decode(bytes.last_chunk::<FOOTER_LEN>().unwrap(), bytes.len() as u64).unwrap();
    let part = |range: std::ops::Range<u64>| {
        &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
    };
    let mut columns = Vec::new();
    for page in Root::parse(part(footer.root()), &footer).unwrap().pages {
        let parsed = Page::parse(part(page.bytes.clone()), &page).unwrap();
        columns.extend((0..parsed.len()).map(|i| parsed.column(i, footer.docs).unwrap()));
    }
    (footer.docs, columns)
}

/// What a refusal said, for comparison: the message, whole.
fn message<T: std::fmt::Debug>(refused: crate::Result<T>) -> String {
    refused.unwrap_err().to_string()
}
