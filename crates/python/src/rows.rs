//! Documents as record batches.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader as _, UInt64Array, new_null_array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use docvalues::column::DocAddress;
use docvalues::search::arrow::{Batches, StringLayout};
use docvalues::search::export::Export;
use docvalues::search::{Docs, DocsByPart, Search};
use docvalues::{DocId, Kind, LogicalType};

use crate::arguments::{self, Names};
use crate::errors::{Result, argument};
use crate::interrupt::{Stop, go_on};
use crate::opened::Opened;
use crate::table::Table;
use crate::text;

/// The columns of a request, and their form.
pub(crate) struct Columns {
    names: Vec<String>,
    /// The name of the column of numbers of documents, if it is wanted.
    docs: Option<String>,
    strings: StringLayout,
    as_text: bool,
}

impl Columns {
    /// The columns of these names, or all.
    pub(crate) fn of(
        opened: &Opened,
        names: Option<Names>,
        docs: Option<String>,
        (strings, as_text): (&str, bool),
    ) -> Result<Columns> {
        let names = names.map_or_else(|| opened.columns.clone(), |names| names.0);
        if let Some(docs) = docs.as_ref().filter(|docs| names.contains(docs)) {
            return Err(argument(format!(
                "expected another name for the numbers of documents than column {docs:?}"
            )));
        }
        Ok(Columns { names, docs, strings: arguments::strings(strings)?, as_text })
    }

    /// The number of values of so many documents; at least that of documents.
    pub(crate) fn values(&self, docs: usize) -> u64 {
        docs.saturating_mul(self.names.len().max(1)) as u64
    }

    /// The schema of the batches.
    pub(crate) fn schema(&self, search: &Search<'_>) -> Result<SchemaRef> {
        let schema = self.batches(search.export(DocsByPart::All, &self.names)?).schema();
        let none = self.docs.as_ref().map(|_| UInt64Array::from(Vec::<u64>::new()));
        Ok(self.finished(RecordBatch::new_empty(schema), none)?.schema())
    }

    /// The fields of that schema.
    pub(crate) fn fields(&self, search: &Search<'_>) -> Result<Vec<docvalues::Field>> {
        let numbers =
            self.docs.iter().map(|name| docvalues::Field::new(name, Kind::Numeric, LogicalType::U64));
        let mut fields: Vec<docvalues::Field> = numbers.collect();
        fields.extend(search.retriever(&self.names)?.fields().cloned());
        for field in fields.iter_mut().filter(|field| self.as_text && field.logical.fixed_len().is_some()) {
            field.logical = LogicalType::Utf8;
        }
        Ok(fields)
    }

    /// The documents of a list, in its order, unless `stop` is set before the last ones are read. One that is not there has no
    /// values.
    pub(crate) fn table(&self, opened: &Opened, list: &[DocAddress], stop: &Stop) -> Result<Table> {
        let search = &opened.search();
        if opened.parts.is_empty() {
            return self.nulls(search, list.len());
        }
        let batches = self.batches(search.export(list, &self.names)?);
        let (schema, mut read, mut first) = (batches.schema(), Vec::new(), 0);
        for batch in batches {
            go_on(stop)?;
            let batch = batch?;
            let rows = &list[first..first + batch.num_rows()];
            first += rows.len();
            let numbers = self.docs.as_ref().map(|_| rows.iter().map(|doc| opened.number(*doc)).collect());
            read.push(self.finished(batch, numbers)?);
        }
        if read.is_empty() {
            let none = self.docs.as_ref().map(|_| UInt64Array::from(Vec::<u64>::new()));
            read.push(self.finished(RecordBatch::new_empty(schema), none)?);
        }
        Ok(Table::new(read[0].schema(), read, []))
    }

    /// Some documents of a part, in order.
    pub(crate) fn of_part(
        &self,
        opened: &Opened,
        search: &Search<'_>,
        (part, docs): (usize, Docs<'_>),
        rows: usize,
    ) -> Result<Vec<RecordBatch>> {
        let only = only(opened.parts.len(), part, docs);
        let export = search.export(DocsByPart::Parts(&only), &self.names)?.chunk_rows(rows);
        // A name that is none of the columns' is not needed: it is the first column.
        let batches = match &self.docs {
            Some(name) => self.batches(export).doc_ids(name),
            None => self.batches(export),
        };
        let start = opened.start(part);
        let finished = |batch: RecordBatch| {
            if self.docs.is_none() {
                return self.finished(batch, None);
            }
            let ids = batch.column(0).as_primitive::<UInt32Type>().values();
            let numbers = ids.iter().map(|id| start + u64::from(*id)).collect();
            let others: Vec<usize> = (1..batch.num_columns()).collect();
            self.finished(batch.project(&others)?, Some(numbers))
        };
        batches.map(|batch| finished(batch?)).collect()
    }

    fn batches<'d>(&self, export: Export<'d>) -> Batches<'d> {
        export.batches().strings_as(self.strings)
    }

    /// The batch in the form that was asked for, with the numbers of its documents.
    fn finished(&self, batch: RecordBatch, numbers: Option<UInt64Array>) -> Result<RecordBatch> {
        let batch = if self.as_text { text::as_text(&batch)? } else { batch };
        let (Some(name), Some(numbers)) = (&self.docs, numbers) else { return Ok(batch) };
        let mut fields = vec![Arc::new(Field::new(name, DataType::UInt64, false))];
        fields.extend(batch.schema().fields().iter().cloned());
        let mut columns: Vec<ArrayRef> = vec![Arc::new(numbers)];
        columns.extend(batch.columns().iter().cloned());
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
    }

    /// Rows without values, of a store without documents.
    fn nulls(&self, search: &Search<'_>, rows: usize) -> Result<Table> {
        let schema = self.schema(search)?;
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let columns = schema.fields().iter().map(|field| new_null_array(field.data_type(), rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?;
        Ok(Table::new(schema, vec![batch], []))
    }
}

/// The address of no document.
pub(crate) const NOWHERE: DocAddress = DocAddress { part: 0, doc: DocId::new(u32::MAX) };

/// The documents of each part, of which only one has some.
pub(crate) fn only(parts: usize, part: usize, docs: Docs<'_>) -> Vec<Docs<'_>> {
    let mut all = vec![Docs::Range(0, 0); parts];
    all[part] = docs;
    all
}
