//! The first half of a program: operations of a writer, and the expected contents of its segment.

use std::cmp::Ordering;

use docvalues::writer::{Error as WriteError, ErrorKind as WriteErrorKind};
use docvalues::{Field, FieldId, FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
use docvalues_testkit::model::{Cell, MemSource, ModelColumn};

use super::columns::{Column, piece};
use crate::choices::Choices;
use crate::feed::{give, give_batch};

/// Limit of the values of a program.
const VALUES: u32 = 100_000;
/// Limits of columns and of operations of the writer.
const COLUMNS: usize = 7;
const OPERATIONS: usize = 24;

/// The documents that the program has added so far.
pub(crate) struct Documents {
    pub(crate) docs: u32,
    pub(crate) columns: Vec<Column>,
    /// The number of values that may still be added.
    pub(crate) room: u32,
    /// The sort keys, if any.
    pub(crate) sort: Vec<SortKey>,
}

impl Documents {
    /// No columns and no documents, with a limit of values.
    pub(crate) fn none(room: u32) -> Documents {
        Documents { docs: 0, columns: Vec::new(), room, sort: Vec::new() }
    }

    /// Columns without documents. If `fixed`, the kind of a column does not depend on its values.
    pub(crate) fn choose(choices: &mut Choices<'_>, fixed: bool) -> Documents {
        let count = choices.below(6) as usize;
        let columns = (0..count).map(|number| Column::choose(choices, number, 0, fixed)).collect();
        Documents { columns, ..Documents::none(VALUES) }
    }

    /// Values for some more documents, column by column.
    pub(crate) fn more(&self, choices: &mut Choices<'_>) -> (u32, Vec<ModelColumn>) {
        let columns = u32::try_from(self.columns.len().max(1)).expect("few columns");
        let docs = choices.docs((self.room / columns).saturating_sub(self.docs));
        let pieces = self.columns.iter().map(|column| piece(&column.spec, docs, choices)).collect();
        (docs, pieces)
    }

    /// Adds documents that the writer accepted.
    pub(crate) fn append(&mut self, docs: u32, pieces: Vec<ModelColumn>) {
        self.docs += docs;
        self.columns.iter_mut().zip(pieces).for_each(|(column, piece)| column.append(piece));
    }

    /// Sort keys, usually none.
    pub(crate) fn choose_sort(&self, choices: &mut Choices<'_>) -> Vec<SortKey> {
        let mut keys: Vec<SortKey> = Vec::new();
        for _ in 0..choices.byte().saturating_sub(200) / 14 {
            let column = choices.below(u32::try_from(self.columns.len()).expect("few")) as usize;
            let (flags, column) = (choices.byte(), self.columns.get(column));
            let Some(column) = column.filter(|column| !column.spec.is_multi_valued()) else { continue };
            let (descending, missing_first) = (flags & 1 == 1, flags & 2 == 2);
            if keys.iter().all(|key| key.column != column.spec.name()) {
                keys.push(SortKey { column: column.spec.name().to_owned(), descending, missing_first });
            }
        }
        keys
    }

    /// Sorts the documents; the sort is stable.
    pub(crate) fn sort(&mut self, keys: Vec<SortKey>) {
        if !keys.is_empty() {
            let of = |key: &SortKey| self.columns.iter().find(|column| column.spec.name() == key.column);
            let columns: Vec<_> =
                keys.iter().map(|key| (key, &of(key).expect("a column to sort by").values)).collect();
            let mut order: Vec<u32> = (0..self.docs).collect();
            order.sort_by(|&a, &b| {
                let by = columns.iter().map(|(key, values)| compare(key, values.cell(a), values.cell(b)));
                by.fold(Ordering::Equal, Ordering::then)
            });
            let sorted = |values: &ModelColumn| values.pick(order.iter().copied().map(Some));
            self.columns.iter_mut().for_each(|column| column.values = sorted(&column.values));
        }
        self.sort = keys;
    }

    /// The same documents in the naive reader; `kinds` are the fields of the segment.
    pub(crate) fn source(&self, fields: &[Field]) -> MemSource {
        let columns = self.columns.iter().map(|column| {
            let field = fields.iter().find(|field| field.name == column.spec.name());
            let field = field.unwrap_or_else(|| panic!("no column {:?}", column.spec.name()));
            column.finished(field.kind)
        });
        MemSource::new(self.docs, columns)
    }

    /// The segment of the same documents, built at once in memory.
    pub(crate) fn at_once(&self, options: WriterOptions) -> Vec<u8> {
        let (schema, fields) = schema_of(self.columns.iter().map(|column| &column.spec));
        let options = options.budget(usize::MAX).threads(1);
        let mut writer = SegmentWriter::in_memory(schema, options);
        writer.sort_by(self.sort.clone()).expect("columns to sort by");
        let mut batch = writer.batch(self.docs).expect("as many documents as were accepted before");
        for (column, field) in self.columns.iter().zip(fields) {
            give_batch(&mut batch, field, &column.values, 0..self.docs)
                .expect("values that were accepted before");
        }
        batch.finish();
        writer.finish_bytes().expect("values that were accepted")
    }
}

/// The order of two documents by one column.
fn compare(key: &SortKey, a: Cell<'_>, b: Cell<'_>) -> Ordering {
    let values = match (a, b) {
        (Cell::Missing, _) | (_, Cell::Missing) => {
            let missing = (a == Cell::Missing).cmp(&(b == Cell::Missing));
            return if key.missing_first { missing.reverse() } else { missing };
        }
        (Cell::Number(a), Cell::Number(b)) => a.cmp(&b),
        (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
        _ => panic!("sorted by a column of several values"),
    };
    if key.descending { values.reverse() } else { values }
}

/// Fields with distinct names.
pub(crate) fn schema_of<'s>(specs: impl Iterator<Item = &'s FieldSpec>) -> (Schema, Vec<FieldId>) {
    let mut schema = Schema::new();
    let fields = specs.map(|spec| schema.add(spec.clone()).expect("a field")).collect();
    (schema, fields)
}

/// Writer options: jump tables or not, and any budget.
pub(crate) fn options(choices: &mut Choices<'_>) -> WriterOptions {
    let flags = choices.byte();
    let budget = [usize::MAX, 256 << 20, 1 << 20, 64 << 10, 16 << 10, 4 << 10, 600, 0];
    // The workspace enables the feature for threads.
    WriterOptions::new()
        .jump_tables(flags & 1 == 0)
        .zones(flags & 2 == 0)
        .budget(budget[usize::from(flags >> 2 & 7)])
        .threads(if flags >> 5 == 7 { 2 } else { 1 })
}

/// Whether values were refused for their size, which only a small budget allows.
fn no_room(error: &WriteError, options: &WriterOptions) -> bool {
    matches!(error.kind(), WriteErrorKind::Budget { .. }) && options.budget < 256 << 20
}

/// Runs the chosen operations, and adds the accepted documents to `documents`.
pub(crate) fn operate<T>(
    choices: &mut Choices<'_>,
    writer: &mut SegmentWriter<T>,
    documents: &mut Documents,
    options: &WriterOptions,
) {
    let mut fields: Vec<FieldId> = writer.schema().iter().map(|(field, _)| field).collect();
    for _ in 0..OPERATIONS {
        match choices.byte() % 10 {
            0..3 => one_by_one(choices, writer, &fields, documents, options),
            3..6 => together(choices, writer, &fields, documents, options),
            6 => given_up(choices, writer, &fields, documents),
            7 if fields.len() < COLUMNS => {
                let column = Column::choose(choices, fields.len(), documents.docs, false);
                let field = writer.add_field(column.spec.clone());
                fields.push(field.unwrap_or_else(|error| panic!("a field was refused: {error}")));
                documents.columns.push(column);
            }
            8 if !fields.is_empty() => {
                let number = choices.below(u32::try_from(fields.len()).expect("few")) as usize;
                let format = choices.pick(&["", "epoch", "%Y"]);
                writer.set_format(fields[number], format).expect("a short format");
                let spec = &mut documents.columns[number].spec;
                *spec = spec.clone().format(format);
            }
            _ => break,
        }
        assert_eq!(writer.docs(), documents.docs, "documents of the writer");
        if choices.is_done() {
            break;
        }
    }
    let keys = documents.choose_sort(choices);
    writer.sort_by(keys.clone()).expect("columns to sort by");
    assert!(writer.sort_by([SortKey::of("there is none")]).is_err(), "sorted by no column");
    documents.sort(keys);
}

/// Adds documents one by one. Leaves out those that exceed the budget; tries invalid values in between.
fn one_by_one<T>(
    choices: &mut Choices<'_>,
    writer: &mut SegmentWriter<T>,
    fields: &[FieldId],
    documents: &mut Documents,
    options: &WriterOptions,
) {
    let (docs, pieces) = documents.more(choices);
    let pester = choices.flag();
    let mut accepted = Vec::new();
    for doc in 0..docs {
        let mut document = writer.document();
        let mut given = || {
            for ((column, &field), piece) in documents.columns.iter().zip(fields).zip(&pieces) {
                give(&mut document, field, piece, doc)?;
                if pester && doc < 50 {
                    refused(&mut document, field, &column.spec, piece.cell(doc));
                }
            }
            Ok(())
        };
        match given() {
            Ok(()) => {
                let id = document.finish().expect("a document in reach");
                assert_eq!(id.get(), documents.docs + u32::try_from(accepted.len()).expect("few"));
                accepted.push(Some(doc));
            }
            Err(error) if no_room(&error, options) => drop(document),
            Err(error) => panic!("document {doc} of {docs} was refused: {error}"),
        }
    }
    let pieces = pieces.iter().map(|piece| piece.pick(accepted.iter().copied())).collect();
    documents.append(u32::try_from(accepted.len()).expect("few"), pieces);
}

/// Tries a value that the field cannot hold: the document, which has `cell`, must not change.
fn refused(document: &mut docvalues::writer::Document<'_>, field: FieldId, spec: &FieldSpec, cell: Cell<'_>) {
    let logical = spec.logical();
    let wrong = match logical {
        LogicalType::Utf8 => document.stored_bytes(field, b"no text: \xff").is_err(),
        LogicalType::Ip | LogicalType::Uuid => document.stored_bytes(field, b"short").is_err(),
        LogicalType::Bytes => document.stored(field, 1).is_err(),
        LogicalType::Bool => document.stored(field, 2).is_err(),
        _ => document.stored_bytes(field, b"1").is_err(),
    };
    assert!(wrong, "{spec:?} took what it cannot hold");
    if !spec.is_multi_valued() && cell != Cell::Missing {
        let second = match cell {
            Cell::Number(number) => document.stored(field, number).is_err(),
            Cell::Bytes(bytes) => document.stored_bytes(field, bytes).is_err(),
            _ => true,
        };
        assert!(second, "{spec:?} took a second value");
    }
}

/// Adds documents in one batch, or none of them if they exceed the budget.
fn together<T>(
    choices: &mut Choices<'_>,
    writer: &mut SegmentWriter<T>,
    fields: &[FieldId],
    documents: &mut Documents,
    options: &WriterOptions,
) {
    let (docs, pieces) = documents.more(choices);
    let mut batch = writer.batch(docs).expect("documents in reach");
    for (&field, piece) in fields.iter().zip(&pieces) {
        match give_batch(&mut batch, field, piece, 0..docs) {
            Ok(()) => {
                let again = give_batch(&mut batch, field, piece, 0..docs);
                assert!(again.is_err(), "a batch took two columns of one field");
            }
            Err(error) if no_room(&error, options) => return,
            Err(error) => panic!("a batch of {docs} was refused: {error}"),
        }
    }
    assert_eq!(batch.finish().get(), documents.docs);
    documents.append(docs, pieces);
}

/// Begins documents and never finishes them.
fn given_up<T>(
    choices: &mut Choices<'_>,
    writer: &mut SegmentWriter<T>,
    fields: &[FieldId],
    documents: &Documents,
) {
    let (docs, pieces) = documents.more(choices);
    let given = choices.below(8) as usize;
    if choices.flag() {
        let mut batch = writer.batch(docs).expect("documents in reach");
        for (&field, piece) in fields.iter().zip(&pieces).take(given) {
            // Exceeding the budget is one reason to give up.
            let _ = give_batch(&mut batch, field, piece, 0..docs);
        }
    } else {
        for doc in 0..docs.min(5) {
            let mut document = writer.document();
            for (&field, piece) in fields.iter().zip(&pieces).take(given) {
                let _ = give(&mut document, field, piece, doc);
            }
        }
    }
}
