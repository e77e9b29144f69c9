//! Writes the documents of an import to a segment.

use super::column_type::{ColumnType, Layout};
use super::ids::{check_id_field, refused};
use super::notes::{column_notes, empty_inputs, input_notes, without_values};
use super::{Batch, Document, Import, Imported};
use crate::api::writer::{
    self, BytesKind, FieldId, FieldSpec, FinishError, SegmentWriter, Target, WriterOptions,
};
use crate::api::{Compression, IdOptions, LogicalType, SortKey};
use crate::console::progress::Progress;
use crate::error::{CliError, Result};
use crate::text::sort_keys::keys_to_write;
use crate::text::text_format::TextFormat;
use crate::text::{StoredRef, thousands};

/// The segment to write, and its field for each column of the import.
struct SegmentInput<'w, T> {
    writer: &'w mut SegmentWriter<T>,
    /// The column of ids.
    ids: Option<&'w str>,
    fields: Vec<Option<FieldId>>,
}

impl<T> SegmentInput<'_, T> {
    /// Adds all documents.
    fn add_all(&mut self, import: &mut Import, progress: &mut Progress) -> Result<()> {
        import.run(|import, added| {
            progress.show(import.documents, import.bytes_read());
            self.add_imported(import, added)
        })?;
        progress.show_step("writing");
        refuse_nothing(import)
    }

    fn add_imported(&mut self, import: &Import, added: Imported<'_>) -> Result<()> {
        match added {
            Imported::Document(document) => self.add(import, document),
            Imported::Batch(batch) => self.add_batch(import, batch),
            Imported::Pause => Ok(()),
        }
    }

    fn add(&mut self, import: &Import, document: &Document) -> Result<()> {
        // A column is added with its first value, when its type is known.
        for (column, _) in document.values() {
            self.field(import, column)?;
        }
        write_document(document, &self.fields, self.writer.document())
    }

    /// Adds several documents.
    fn add_batch(&mut self, import: &Import, batch: &dyn Batch) -> Result<()> {
        for column in batch.columns() {
            self.field(import, column)?;
        }
        let mut target = self.writer.batch(batch.docs())?;
        batch.add_to(&mut target, &self.fields)?;
        target.finish();
        Ok(())
    }

    /// The field of a column; adds it if necessary.
    fn field(&mut self, import: &Import, index: usize) -> Result<FieldId> {
        if let Some(Some(field)) = self.fields.get(index) {
            return Ok(*field);
        }
        if self.fields.len() <= index {
            self.fields.resize(index + 1, None);
        }
        let column = &import.columns[index];
        let field = match self.writer.schema().field(&column.name) {
            Some(field) => field,
            None => {
                let ty = column.ty.unwrap_or(ColumnType::single(LogicalType::Utf8));
                self.writer.add_field(spec(&column.name, ty, false))?
            }
        };
        if let Some(ids) = self.ids.filter(|ids| *ids == column.name) {
            check_id_field(ids, import, true)?;
            self.writer.id_field(field, IdOptions::default())?;
        }
        self.fields[index] = Some(field);
        Ok(field)
    }

    /// Adds the columns without values that a header names, and sets the format of all columns. Returns notes for the
    /// user.
    fn finish(&mut self, import: &Import) -> Result<Vec<String>> {
        let mut notes: Vec<String> = import.file_notes().collect();
        for (index, column) in import.columns.iter().enumerate() {
            if !column.is_stored() {
                continue;
            }
            let field = self.field(import, index)?;
            let (text_format, lost) = column.text_format(import.documents, import.missing_tokens());
            let text_format = TextFormat { order: u32::try_from(index).ok(), ..text_format };
            self.writer.set_format(field, text_format.to_format().unwrap_or_default())?;
            notes.extend(column_notes(column, lost));
        }
        notes.extend(input_notes(import));
        notes.extend(without_values(import));
        notes.extend(empty_inputs(import));
        Ok(notes)
    }
}

/// Checks the columns to sort by and that of ids, as far as columns are known before all documents are read.
pub(crate) fn check(import: &Import, ids: Option<&str>, sort_by: &[String]) -> Result<()> {
    let all_known = import.all_named;
    if all_known {
        sort_keys(sort_by, import)?;
    }
    ids.map_or(Ok(()), |ids| check_id_field(ids, import, all_known))
}

/// Adds all documents, sorts and writes the segment; returns notes on the input, too.
pub(crate) fn write<T: Target>(
    mut writer: SegmentWriter<T>,
    import: &mut Import,
    ids: Option<&str>,
    sort_by: &[String],
    progress: &mut Progress,
) -> Result<(T::Finished, Vec<String>)> {
    let mut input = SegmentInput { writer: &mut writer, ids, fields: Vec::new() };
    let notes = input.add_all(import, progress).and_then(|()| input.finish(import));
    let written = notes.and_then(|notes| Ok((finish(writer, import, ids, sort_by)?, notes)));
    progress.clear();
    written
}

/// The first documents as a segment in memory: at least `count`, if there are so many.
pub(crate) fn first(import: &mut Import, count: u32) -> Result<Vec<u8>> {
    let mut writer = SegmentWriter::in_memory(writer::Schema::new(), WriterOptions::default());
    let mut input = SegmentInput { writer: &mut writer, ids: None, fields: Vec::new() };
    let mut are_enough = false;
    let added = import.run(|import, added| {
        input.add_imported(import, added)?;
        are_enough = import.documents >= u64::from(count);
        // An error ends the import.
        if are_enough { Err(CliError::failed("enough")) } else { Ok(()) }
    });
    if !are_enough {
        added?;
    }
    input.finish(import)?;
    Ok(writer.finish_bytes().map_err(FinishError::into_error)?)
}

/// Sorts and writes the segment.
fn finish<T: Target>(
    mut writer: SegmentWriter<T>,
    import: &Import,
    ids: Option<&str>,
    sort_by: &[String],
) -> Result<T::Finished> {
    writer.sort_by(sort_keys(sort_by, import)?)?;
    let finished = |writer: SegmentWriter<T>| writer.finish().map_err(docvalues::writer::Error::from);
    let Some(ids) = ids else { return Ok(finished(writer)?) };
    check_id_field(ids, import, true)?;
    let column = import.columns.iter().find(|column| column.name == ids);
    let logical = column.and_then(|column| column.ty).map_or(LogicalType::Utf8, |ty| ty.logical);
    let documents = |[a, b]: [u32; 2]| format!("documents {a} and {b} (from 0, in the order of the input)");
    let hint = "leave one of them out, build without --id-field, or `dv put` the input into a store, which keeps the last one";
    finished(writer).map_err(|error| refused(error, logical, documents, hint))
}

/// The keys of the index sort, which may name the columns found so far.
fn sort_keys(arguments: &[String], import: &Import) -> Result<Vec<SortKey>> {
    let columns = import.columns.iter().filter(|column| column.is_stored());
    let columns = columns.map(|column| (column.name.as_str(), column.ty.is_some_and(|ty| ty.multi)));
    keys_to_write(arguments, &columns.collect::<Vec<_>>())
}

/// Writes a document, given the field of each column.
pub(crate) fn write_document(
    document: &Document,
    fields: &[Option<FieldId>],
    mut target: writer::Document<'_>,
) -> Result<()> {
    for (column, value) in document.values() {
        let Some(Some(field)) = fields.get(column) else { continue };
        match value {
            StoredRef::Number(number) => target.stored(*field, number)?,
            StoredRef::Bytes(bytes) => target.stored_bytes(*field, bytes)?,
        };
    }
    target.finish()?;
    Ok(())
}

/// The declaration of a column. In a store, byte strings get a dictionary if nothing else is said, because the kind of a
/// field never changes, and the first few documents say little about the others.
pub(crate) fn spec(name: &str, ty: ColumnType, in_store: bool) -> FieldSpec {
    let (kind, compression) = match ty.layout {
        Some(Layout::Sorted) => (BytesKind::Sorted, Compression::Auto),
        Some(Layout::Binary(compression)) => (BytesKind::Binary, compression),
        None if in_store && ty.logical.is_bytes() => (BytesKind::Sorted, Compression::Auto),
        None => (BytesKind::Auto, Compression::Auto),
    };
    let spec = FieldSpec::new(name, ty.logical).kind(kind).compression(compression);
    if ty.multi { spec.multi_valued() } else { spec }
}

/// Fails if every row was skipped, because the format or the delimiter is probably wrong.
pub(crate) fn refuse_nothing(import: &Import) -> Result<()> {
    match import.skipped() {
        (skipped, [first, ..]) if import.documents == 0 => {
            Err(CliError::failed(format!("all {} rows are bad; the first: {first}", thousands(skipped)))
                .hint("check --input-format and --delimiter"))
        }
        _ => Ok(()),
    }
}
