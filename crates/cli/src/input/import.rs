//! Inputs to documents: a first pass over samples for the types, a second one over everything.

mod advice;
#[cfg(feature = "parquet")]
mod columnar;
mod document;
mod exclude;

use std::io::BufRead;
use std::sync::Arc;

pub(crate) use self::advice::type_flag;
use self::advice::{conflicting, describe};
#[cfg(feature = "parquet")]
pub(crate) use self::columnar::Table;
pub(crate) use self::document::{Document, StoredRef};
use self::document::{Fault, split_cell};
pub(crate) use self::exclude::Exclude;
#[cfg(feature = "parquet")]
use super::arrow::ArrowFile;
use super::column::{Column, MissingTokens};
use super::csv::{CsvRows, Dialect};
use super::error::{BadRow, InputError, Result, closest};
use super::infer::Evidence;
use super::ndjson::NdjsonRows;
use super::open::{InputFormat, Opened, Source};
use super::row::{Cell, Fields, Form, Row};
use super::schema::Schema;
use super::types::{BaseType, ColumnType, TypeRequest, timestamp, unit_of};
use super::value::Contradiction;
use crate::store::LogicalType;

/// What the command line says about the inputs.
#[derive(Clone, Debug)]
pub(crate) struct ImportOptions {
    pub(crate) format: Option<InputFormat>,
    pub(crate) delimiter: Option<u8>,
    pub(crate) quotes: bool,
    pub(crate) header: bool,
    pub(crate) missing: MissingTokens,
    pub(crate) schema: Schema,
    /// Columns to leave out.
    pub(crate) exclude: Exclude,
    /// Rows of each input that are looked at before types are decided.
    pub(crate) sample: u64,
    pub(crate) skip_bad: bool,
    /// Bad rows to keep for the report.
    pub(crate) shown: usize,
    /// About how many bytes of rows a table may take.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "rows come one by one"))]
    pub(crate) together: usize,
}

/// What the caller's sink gets.
pub(crate) enum Added<'a> {
    Document(&'a Document),
    /// Several documents, by column.
    #[cfg(feature = "parquet")]
    Table(&'a Table),
}

/// Inputs whose types are known, as far as a sample tells.
pub(crate) struct Import {
    options: ImportOptions,
    inputs: Vec<Input>,
    fields: Fields,
    columns: Vec<Column>,
    sampled: u64,
    documents: u64,
    skipped: u64,
    first_skipped: Vec<BadRow>,
    /// Whether all inputs name all their columns before the first row.
    all_named: bool,
}

struct Input {
    source: Source,
    /// For inputs that cannot be read twice.
    kept: Option<Kept>,
}

/// What was read of an input for its types.
enum Kept {
    Rows(Stream),
    #[cfg(feature = "parquet")]
    Columns(ArrowFile),
}

/// The rows of the sample, and the reader behind them.
struct Stream {
    sample: Vec<Result<Row, Box<BadRow>>>,
    rows: Rows,
}

/// An opened input.
enum Opening {
    Rows(Rows),
    #[cfg(feature = "parquet")]
    Columns(ArrowFile),
}

/// The rows of a file of text.
enum Rows {
    Csv(CsvRows),
    Ndjson(NdjsonRows),
}

impl Rows {
    fn next(&mut self, fields: &mut Fields, row: &mut Row) -> Result<bool> {
        match self {
            Rows::Csv(rows) => rows.next(row),
            Rows::Ndjson(rows) => rows.next(fields, row),
        }
    }
}

impl Import {
    /// Opens every input and decides the types of its columns by a sample.
    ///
    /// # Errors
    ///
    /// When an input cannot be read, its sample has a bad row (unless those are skipped), values of a
    /// column fit no type together, or the user named a column that does not exist.
    pub(crate) fn survey(sources: Vec<Source>, options: ImportOptions) -> Result<Import> {
        if let Some(again) = sources.iter().filter(|source| source.is_stdin()).nth(1) {
            return Err(InputError::refused(format!("{} is named twice", again.name), "name - once"));
        }
        let mut import = Import {
            options,
            inputs: Vec::new(),
            fields: Fields::default(),
            columns: Vec::new(),
            sampled: 0,
            documents: 0,
            skipped: 0,
            first_skipped: Vec::new(),
            all_named: true,
        };
        let mut evidence = Vec::new();
        for source in sources {
            let opened = import.open(&source)?;
            import.all_named &= !matches!(opened, Opening::Rows(Rows::Ndjson(_)));
            let kept = match opened {
                Opening::Rows(rows) => import.sample(&source, rows, &mut evidence)?.map(Kept::Rows),
                #[cfg(feature = "parquet")]
                Opening::Columns(file) => {
                    import.declare(&source, &file)?;
                    (!source.is_replayable()).then_some(Kept::Columns(file))
                }
            };
            import.inputs.push(Input { source, kept });
        }
        import.decide(&evidence)?;
        if import.all_named {
            import.check_names()?;
        }
        Ok(import)
    }

    /// Whether no row can bring a column that is not known yet.
    pub(crate) fn has_all_columns(&self) -> bool {
        self.all_named
    }

    /// The columns, with those that are left out.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Rows of the sample.
    pub(crate) fn sampled(&self) -> u64 {
        self.sampled
    }

    /// Documents so far.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// Rows that were skipped, and the first of them.
    pub(crate) fn skipped(&self) -> (u64, &[BadRow]) {
        (self.skipped, &self.first_skipped)
    }

    pub(crate) fn missing_tokens(&self) -> &MissingTokens {
        &self.options.missing
    }

    /// The size of the inputs as they are on disk; `None` if one is a pipe.
    pub(crate) fn input_size(&self) -> Option<u64> {
        self.inputs.iter().map(|input| input.source.size()).sum()
    }

    /// Bytes read from the inputs so far, as they are on disk.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.inputs.iter().map(|input| input.source.bytes_read()).sum()
    }

    /// Bytes of text read from the inputs so far.
    pub(crate) fn text_read(&self) -> u64 {
        self.inputs.iter().map(|input| input.source.text_read()).sum()
    }

    /// Whether all inputs are made of lines.
    pub(crate) fn is_text(&self) -> bool {
        self.columns.iter().all(|column| column.declared.is_none())
    }

    /// Names of the command line that no input had.
    pub(crate) fn unknown_names(&self) -> Vec<&str> {
        let known = |name: &&str| !self.fields.names().any(|field| field == *name);
        self.options.schema.required_names().filter(known).collect()
    }

    fn open(&mut self, source: &Source) -> Result<Opening> {
        let opened = source.open(self.options.format)?;
        let name: &Arc<str> = &source.name;
        match opened.format {
            InputFormat::Parquet | InputFormat::Arrow => return open_columns(source, opened),
            InputFormat::Ndjson => {
                return Ok(Opening::Rows(Rows::Ndjson(NdjsonRows::open(name, opened.reader))));
            }
            InputFormat::Csv | InputFormat::Tsv => {}
        }
        let usual = if opened.format == InputFormat::Tsv { b'\t' } else { b',' };
        let dialect = Dialect {
            delimiter: self.options.delimiter.unwrap_or(usual),
            quotes: self.options.quotes,
            header: self.options.header,
        };
        let reader: Box<dyn BufRead> = opened.reader;
        let rows = CsvRows::open(name, reader, dialect, &mut self.fields)?;
        self.add_columns();
        for field in rows.columns() {
            if let Some(column) = self.columns.get_mut(field.index()) {
                column.in_header = true;
            }
        }
        Ok(Opening::Rows(Rows::Csv(rows)))
    }

    /// Makes a column of every field that has none.
    fn add_columns(&mut self) {
        for name in self.fields.names().skip(self.columns.len()) {
            let mut column = Column::new(name, self.options.schema.get(name));
            column.excluded = self.options.exclude.has(name);
            self.columns.push(column);
        }
    }

    /// Looks at the first rows of an input, and keeps them if it cannot be read again.
    fn sample(
        &mut self,
        source: &Source,
        mut rows: Rows,
        evidence: &mut Vec<Evidence>,
    ) -> Result<Option<Stream>> {
        let mut kept = (!source.is_replayable()).then(Vec::new);
        let mut row = Row::default();
        for _ in 0..self.options.sample {
            match rows.next(&mut self.fields, &mut row) {
                Ok(false) => break,
                Ok(true) => {
                    self.sampled += 1;
                    evidence.resize_with(self.fields.len().max(evidence.len()), Evidence::default);
                    for cell in &row.cells {
                        self.weigh(source, &row, cell, evidence);
                    }
                    if let Some(kept) = &mut kept {
                        kept.push(Ok(row.clone()));
                    }
                }
                Err(InputError::Bad(bad)) if self.options.skip_bad => {
                    if let Some(kept) = &mut kept {
                        kept.push(Err(bad));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(kept.map(|sample| Stream { sample, rows }))
    }

    fn weigh(&self, source: &Source, row: &Row, cell: &Cell, evidence: &mut [Evidence]) {
        let text = row.text(cell);
        if cell.form.is_csv() && self.options.missing.find(text).is_some() {
            return;
        }
        let place = || {
            let (line, column) = row.place(cell);
            (source.name.to_string(), line, column)
        };
        if let Some(evidence) = evidence.get_mut(cell.field.index()) {
            evidence.add(cell.form, cell.element, text, place);
        }
    }

    /// Decides the type of every column of which there is something to know.
    fn decide(&mut self, evidence: &[Evidence]) -> Result<()> {
        self.add_columns();
        let nothing = Evidence::default();
        for (index, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| !column.excluded) {
            let evidence = evidence.get(index).unwrap_or(&nothing);
            let request = self.options.schema.get(&column.name);
            let multi = request.is_some_and(|request| request.multi);
            let layout = request.and_then(|request| request.layout);
            let declared = column.declared.as_ref().map(|declared| declared.ty);
            let ty = match (request.and_then(|request| request.ty), declared) {
                (Some(ty), _) => Some(requested(ty, evidence, declared)),
                (None, Some(ty)) => Some(ColumnType { multi: ty.multi || multi, layout, ..ty }),
                (None, None) => {
                    let inferred = evidence.decide(self.options.skip_bad);
                    let inferred = inferred.map_err(|conflict| conflicting(&column.name, &conflict))?;
                    // A column of CSV files is text, where nothing else is known.
                    let text = ColumnType::single(LogicalType::Utf8);
                    column.unsampled = inferred.is_none() && column.in_header;
                    let inferred = inferred.or(column.in_header.then_some(text));
                    inferred.map(|ty| ColumnType { multi: ty.multi || multi, layout, ..ty })
                }
            };
            check_lists(column, ty)?;
            column.ty = ty;
            column.example.clone_from(&evidence.example);
        }
        Ok(())
    }

    /// Refuses names of the command line that no file has, of files that name all their columns.
    fn check_names(&self) -> Result<()> {
        if let Some(name) = self.options.exclude.unknown(|name| self.fields.names().any(name)) {
            return Err(self.no_such_name("--exclude", name));
        }
        match self.unknown_names().first() {
            Some(name) => Err(self.no_such_name("--type", name)),
            None => Ok(()),
        }
    }

    fn no_such_name(&self, option: &str, name: &str) -> InputError {
        let advice = match closest(name, self.fields.names()) {
            Some(close) => format!("did you mean {close:?}?"),
            None => format!("there are {}", self.fields.names().collect::<Vec<_>>().join(", ")),
        };
        InputError::refused(format!("{option} names the column {name:?}, which no input has"), advice)
    }

    /// Reads every row and gives it to `sink`, alone or with others, and the columns as they are then.
    ///
    /// # Errors
    ///
    /// Those of the inputs, and of `sink`.
    pub(crate) fn run<E: From<InputError>>(
        &mut self,
        mut sink: impl FnMut(&Import, Added<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut document = Document::default();
        for index in 0..self.inputs.len() {
            let Some(input) = self.inputs.get_mut(index) else { break };
            let source = input.source.clone();
            let kept = match input.kept.take() {
                Some(kept) => kept,
                None => match self.open(&source)? {
                    Opening::Rows(rows) => Kept::Rows(Stream { sample: Vec::new(), rows }),
                    #[cfg(feature = "parquet")]
                    Opening::Columns(file) => Kept::Columns(file),
                },
            };
            match kept {
                Kept::Rows(stream) => self.add_stream(&source, stream, &mut document, &mut sink)?,
                #[cfg(feature = "parquet")]
                Kept::Columns(file) => self.add_file(&source, file, &mut sink)?,
            }
        }
        Ok(())
    }

    /// Reads the rows of a text.
    fn add_stream<E: From<InputError>>(
        &mut self,
        source: &Source,
        stream: Stream,
        document: &mut Document,
        sink: &mut impl FnMut(&Import, Added<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Stream { sample, mut rows } = stream;
        for row in sample {
            let row = row.map_err(InputError::Bad);
            self.add(source, row.as_ref(), document, sink)?;
        }
        let mut row = Row::default();
        loop {
            match rows.next(&mut self.fields, &mut row) {
                Ok(false) => return Ok(()),
                Ok(true) => self.add(source, Ok(&row), document, sink)?,
                Err(error @ InputError::Bad(_)) => self.add(source, Err(&error), document, sink)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes a row a document, or skips it.
    fn add<E: From<InputError>>(
        &mut self,
        source: &Source,
        row: Result<&Row, &InputError>,
        document: &mut Document,
        sink: &mut impl FnMut(&Import, Added<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bad = match row {
            Ok(row) => self.convert(source, row, document).err(),
            Err(InputError::Bad(bad)) => Some((**bad).clone()),
            Err(_) => None,
        };
        if let Some(bad) = bad {
            return Ok(self.skip(bad)?);
        }
        self.documents += 1;
        document.observe(&mut self.columns);
        sink(self, Added::Document(document))
    }

    /// Leaves a row out, if that is wanted.
    fn skip(&mut self, bad: BadRow) -> Result<()> {
        if !self.options.skip_bad {
            return Err(bad.into());
        }
        self.skipped += 1;
        if self.first_skipped.len() < self.options.shown {
            self.first_skipped.push(bad);
        }
        Ok(())
    }

    /// Fills `document` with the values of a row.
    fn convert(&mut self, source: &Source, row: &Row, document: &mut Document) -> Result<(), BadRow> {
        document.clear();
        if self.fields.len() > self.columns.len() {
            self.add_columns();
            self.type_late_columns();
        }
        for cell in &row.cells {
            let index = cell.field.index();
            let Some(column) = self.columns.get_mut(index).filter(|column| !column.excluded) else {
                continue;
            };
            let text = row.text(cell);
            if let Some(missing) = column.missing(cell.form, text, &self.options.missing) {
                document.push_missing(index, missing);
                continue;
            }
            let ty = *column.ty.get_or_insert_with(|| first_type(cell, text));
            let fault = |found: Fault| {
                let (line, at) = row.place(cell);
                let (contradiction, text) = match found {
                    Fault::Value(contradiction) => (contradiction, text.to_owned()),
                    Fault::Element(contradiction, element) => (contradiction, element),
                };
                describe(column, ty, &contradiction, BadRow::new(&source.name, line, at, ""))
                    .text(text.as_bytes())
            };
            if cell.element && !ty.multi {
                let problem = "one value a document, found an array".to_owned();
                let contradiction = Contradiction { problem, wider: "[]" };
                return Err(fault(Fault::Value(contradiction)));
            }
            if ty.multi && cell.form.is_csv() {
                split_cell(column, index, ty, cell.form, text, &self.options.missing, document)
                    .map_err(fault)?;
            } else {
                document.push(column, index, ty, cell.form, text).map_err(|c| fault(Fault::Value(c)))?;
            }
        }
        Ok(())
    }

    /// Columns that appear behind the sample have the type that was asked for, or that of their first
    /// value.
    fn type_late_columns(&mut self) {
        let nothing = Evidence::default();
        for column in self.columns.iter_mut().filter(|column| column.ty.is_none()) {
            let request = self.options.schema.get(&column.name);
            column.ty = request.and_then(|request| request.ty).map(|ty| requested(ty, &nothing, None));
        }
    }
}

/// A file that knows its columns.
#[cfg(feature = "parquet")]
fn open_columns(source: &Source, opened: Opened) -> Result<Opening> {
    ArrowFile::open(source, opened).map(Opening::Columns)
}

/// The same, without what it takes.
#[cfg(not(feature = "parquet"))]
fn open_columns(source: &Source, opened: Opened) -> Result<Opening> {
    let format = if opened.format == InputFormat::Parquet { "Parquet" } else { "Arrow" };
    Err(InputError::refused(
        format!("{}: it is {format}, which this dv was built without", source.name),
        "cargo install docvalues-cli --features parquet",
    ))
}

/// Refuses a type of one value for a column that is known to have several.
fn check_lists(column: &Column, ty: Option<ColumnType>) -> Result<()> {
    match (&column.declared, ty) {
        (Some(declared), Some(ty)) if declared.ty.multi && !ty.multi => Err(InputError::refused(
            format!("column {:?} is of lists in {}: {}", column.name, declared.file, declared.called),
            type_flag(&column.name, &ColumnType { multi: true, ..ty }.to_string()),
        )),
        _ => Ok(()),
    }
}

/// The type that was asked for; of a timestamp without a unit, what the file says or the sample tells.
fn requested(request: TypeRequest, evidence: &Evidence, declared: Option<ColumnType>) -> ColumnType {
    let logical = match (request.base, declared.map(|ty| ty.logical)) {
        (BaseType::Logical(logical), _) => logical,
        (BaseType::Timestamp, Some(logical)) if unit_of(logical).is_some() => logical,
        (BaseType::Timestamp, _) => timestamp(evidence.unit()),
    };
    ColumnType { logical, multi: request.multi, layout: request.layout }
}

/// The type of a column of which the sample had no value, by its first one.
fn first_type(cell: &Cell, text: &str) -> ColumnType {
    let logical = match cell.form {
        Form::Bool => LogicalType::Bool,
        Form::Number => super::infer::narrowest_number(text),
        _ => LogicalType::Utf8,
    };
    ColumnType { logical, multi: cell.element, layout: None }
}

#[cfg(test)]
#[path = "import/tests.rs"]
mod tests;
