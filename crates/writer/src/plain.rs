//! Plain columns: documents that are not encoded yet, taken out of a writer and put into another.

use std::borrow::Cow;

use docvalues_column::{Lists, PlainColumn, PlainColumns, PlainValues, bits};
use docvalues_format::binary::Values as _;
use docvalues_format::id::DocId;

use crate::buffer::{FieldBuffer, FixedWidth, Items, Values};
use crate::error::{ErrorKind, Result};
use crate::index::index;
use crate::input::{ColumnBatch, FieldBuffers};
use crate::segment_writer::SegmentWriter;

impl SegmentWriter<Vec<u8>> {
    /// The documents so far, as a column for each field of the [schema](Self::schema), instead of a segment.
    ///
    /// Numbers of a document ascend, and its terms are distinct. Deleted documents are still there.
    /// O(values).
    ///
    /// ```
    /// use docvalues_writer::{BytesKind, FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Binary))?;
    /// let mut some = SegmentWriter::in_memory(schema.clone(), WriterOptions::default());
    /// let mut doc = some.document();
    /// doc.str(host, "a.example")?;
    /// doc.finish()?;
    /// let plain = some.into_plain()?;
    /// assert_eq!(plain.column(0).unwrap().string(0), Some(&b"a.example"[..]));
    ///
    /// let mut all = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// all.append_plain(&plain)?;
    /// all.append_plain(&plain)?;
    /// assert_eq!(all.finish()?.1.docs, 2);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the writer was given a temporary file by [`spill_to`](Self::spill_to), and numbers or terms are in it.
    pub fn into_plain(self) -> Result<PlainColumns> {
        let mut fields = self.documents.fields;
        fields.roll_back();
        let docs = fields.docs;
        let columns = fields.buffers.into_iter().map(|buffer| plain(buffer, docs));
        let columns = columns.collect::<Result<Vec<_>, ErrorKind>>()?;
        Ok(PlainColumns::new(docs, columns).ok_or(ErrorKind::Plain)?)
    }
}

impl<T> SegmentWriter<T> {
    /// Appends plain documents, whose columns belong to the first fields of the [schema](Self::schema), in its order.
    /// Returns the number of the first. All or nothing is appended.
    ///
    /// # Errors
    ///
    /// If a value does not fit the type of its field, or as [`batch`](Self::batch).
    pub fn append_plain(&mut self, docs: &PlainColumns) -> Result<DocId> {
        append(&mut self.documents.fields, docs)
    }
}

fn append(fields: &mut FieldBuffers, docs: &PlainColumns) -> Result<DocId> {
    let ids: Vec<_> = fields.schema.iter().map(|(field, _)| field).collect();
    let mut batch = ColumnBatch::new(fields, docs.docs())?;
    for (field, column) in ids.into_iter().zip(docs.columns()).filter(|(_, column)| column.docs() > 0) {
        let mut column = Cow::Borrowed(column);
        if column.docs() < docs.docs() {
            let absent = docs.docs() - column.docs();
            column.to_mut().append_absent(absent);
        }
        batch.plain(field, column.values(), column.lists(), column.present())?;
    }
    Ok(batch.finish())
}

/// The column of a buffer in memory; without documents if none has a value.
fn plain(buffer: FieldBuffer, docs: u32) -> Result<PlainColumn, ErrorKind> {
    let FieldBuffer { presence, values, .. } = buffer;
    let docs = if presence.count() == 0 { 0 } else { docs };
    let gaps = (presence.count() < docs).then(|| {
        let mut words = vec![0; index(docs).div_ceil(64)];
        presence.docs(0..docs).for_each(|doc| bits::set(&mut words, index(doc)));
        words
    });
    let (values, lists) = match values {
        Values::Numbers(mut numbers) => {
            require_memory(&numbers)?;
            numbers.normalize()?;
            let lists = lists(&numbers, gaps.as_deref(), docs);
            (PlainValues::Numbers(numbers.values.in_memory), lists)
        }
        Values::Strings(buffer) => {
            let mut strings = Lists::new();
            buffer.strings.for_each(|string| {
                strings.push(string);
                Ok(())
            })?;
            (PlainValues::Strings(strings), None)
        }
        Values::Terms { mut ids, terms } => {
            require_memory(&ids)?;
            ids.normalize()?;
            let mut strings = Lists::new();
            ids.values.in_memory.iter().for_each(|id| strings.push(terms.get(*id)));
            (PlainValues::Strings(strings), lists(&ids, gaps.as_deref(), docs))
        }
    };
    let (values, present) = match gaps {
        Some(present) if lists.is_none() => (spread(values, &present, docs), Some(present)),
        _ => (values, None),
    };
    PlainColumn::new(docs, values, present, lists).ok_or(ErrorKind::Plain)
}

fn require_memory<T: FixedWidth>(items: &Items<T>) -> Result<(), ErrorKind> {
    if items.values.on_disk_len() > 0 { Err(ErrorKind::Plain) } else { Ok(()) }
}

/// The offsets of all documents' lists, of which the buffer has those that are not empty.
fn lists<T: FixedWidth + Ord>(items: &Items<T>, present: Option<&[u64]>, docs: u32) -> Option<Vec<u64>> {
    let mut ends = items.are_lists().then(|| items.offsets.in_memory.iter().skip(1))?;
    let mut end = 0;
    let each = (0..index(docs)).map(|doc| {
        if present.is_none_or(|present| bits::get(present, doc)) {
            end = ends.next().map_or(end, |end| end.cast_unsigned());
        }
        end
    });
    Some(std::iter::once(0).chain(each).collect())
}

/// A slot for each document, from the values of those that have one.
fn spread(values: PlainValues, present: &[u64], docs: u32) -> PlainValues {
    match values {
        PlainValues::Numbers(numbers) => {
            let mut slots = vec![0; index(docs)];
            bits::ones(present).zip(numbers).for_each(|(doc, number)| slots[doc] = number);
            PlainValues::Numbers(slots)
        }
        PlainValues::Strings(strings) => {
            let (mut slots, strings) = (Lists::new(), strings.slices());
            let mut strings = strings.iter();
            for doc in 0..index(docs) {
                let string = bits::get(present, doc).then(|| strings.next()).flatten();
                slots.push(string.unwrap_or_default());
            }
            PlainValues::Strings(slots)
        }
    }
}
