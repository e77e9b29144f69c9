//! Inputs as documents, and documents in segments and stores: opens an input, splits it into rows and cells, infers types,
//! converts values, and writes them.
//!
//! It knows no open segment and no command line. An [`Import`] chooses types in a first pass over samples, and converts
//! all rows in a second one.
//!
//! ```text
//! source ── bytes ──> csv::rows | ndjson ── Row ──> Import ── Document ──> segment_input | store_input
//!                       first pass: infer_types ──┘ └── second pass: column, parse_cell
//!        ── bytes ──> chunks ── converters ───────> Import ── Batch ──> the same, several chunks at a time
//!        ── file ───> arrow ── arrays ────────────> Import ── Batch ──> the same
//! ```

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod arrow_rows;
mod assign_types;
mod batch_strings;
mod chunk_reader;
mod chunks;
pub(crate) mod column;
pub(crate) mod column_type;
mod convert_rows;
pub(crate) mod csv;
mod document;
mod error;
mod exclude;
pub(crate) mod field_changes;
mod hints;
pub(crate) mod ids;
mod infer_types;
mod ndjson;
pub(crate) mod notes;
mod odd_cells;
mod open_input;
mod parse_cell;
pub(crate) mod position;
mod row;
mod row_batch;
mod sample;
pub(crate) mod schema;
pub(crate) mod segment_input;
pub(crate) mod source;
mod spellings;
pub(crate) mod store_input;
pub(crate) mod store_schema;
mod widen;

use std::collections::HashMap;

use self::column::{Column, MissingTokens};
use self::column_type::ColumnType;
use self::csv::dialect::Extras;
use self::csv::header::{Header, NewName};
pub(crate) use self::document::Document;
use self::error::{BadRow, InputError, Result};
pub(crate) use self::exclude::Exclude;
pub(crate) use self::hints::{alter_command, type_flag, wider_type};
use self::open_input::{OpenInput, Rows};
use self::row::Fields;
pub(crate) use self::row_batch::Batch;
use self::schema::Schema;
use self::source::{Encoding, InputFormat, Source};
use crate::process::end_signal::EndSignal;

/// The options of the command line on inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportOptions {
    pub(crate) format: Option<InputFormat>,
    pub(crate) encoding: Encoding,
    pub(crate) delimiter: Option<u8>,
    pub(crate) quotes: bool,
    pub(crate) header: Header,
    pub(crate) extras: Extras,
    pub(crate) missing: MissingTokens,
    pub(crate) schema: Schema,
    /// Columns to leave out.
    pub(crate) exclude: Exclude,
    /// Rows of each input to infer types from.
    pub(crate) sample: u64,
    pub(crate) skip_bad: bool,
    /// Whether values after the sample may change the types of columns; see [`Import::with_all_rows`].
    pub(crate) widens: bool,
    /// The number of bad rows to keep for the report.
    pub(crate) shown: usize,
    /// The number of threads that convert chunks of rows; `None` to convert rows one by one.
    pub(crate) chunk_threads: Option<usize>,
    /// The approximate size of a batch of rows, in bytes, and the most rows.
    pub(crate) batch_bytes: usize,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "rows come one by one"))]
    pub(crate) batch_rows: usize,
    /// The column of ids, of which every row must have one.
    pub(crate) ids: Option<String>,
    /// The folder of the store that gets the documents, for hints.
    pub(crate) of_store: Option<String>,
    /// Reports pauses of pipes until this signal, which ends them.
    pub(crate) end: Option<EndSignal>,
}

impl ImportOptions {
    /// The options without any of the command line: rows come one by one, with types by the first 10,000.
    pub(crate) fn usual() -> ImportOptions {
        ImportOptions {
            quotes: true,
            missing: MissingTokens::new(false, &[]),
            sample: 10_000,
            shown: 5,
            batch_bytes: 1 << 20,
            batch_rows: usize::MAX,
            ..ImportOptions::default()
        }
    }
}

/// An item for the caller's sink.
pub(crate) enum Imported<'a> {
    Document(&'a mut Document),
    /// Several documents, column by column.
    Batch(&'a dyn Batch),
    /// The input pauses.
    Pause,
}

/// Inputs, and the types of their columns as far as samples give them.
#[derive(Default)]
pub(crate) struct Import {
    options: ImportOptions,
    inputs: Vec<Input>,
    fields: Fields,
    /// The columns, including excluded ones.
    pub(crate) columns: Vec<Column>,
    /// The index of the column of ids, once an input has it.
    ids: Option<usize>,
    /// The number of rows in all samples.
    pub(crate) sampled: u64,
    /// The number of documents so far.
    pub(crate) documents: u64,
    skipped: u64,
    first_skipped: Vec<BadRow>,
    /// Whether a value did not fit the type of the sample, which ended the import.
    has_misfit: bool,
    /// The notes about names of columns, of the first file with each such header.
    header_notes: Vec<(Vec<NewName>, Vec<String>)>,
    /// The delimiters other than commas that files turned out to have, and the note about the first file with each.
    sniffed: Vec<(u8, String)>,
    /// Whether all inputs name their columns before the first row, as CSV and Parquet do.
    all_named: bool,
}

struct Input {
    source: Source,
    /// The opened input, if it cannot be read twice.
    kept: Option<OpenInput>,
}

impl Import {
    /// Opens every input and chooses the types of its columns from a sample.
    ///
    /// # Errors
    ///
    /// If an input cannot be read, its sample has a bad row (unless bad rows are skipped), values of a
    /// column have no type in common, or the user named a column that does not exist.
    pub(crate) fn prepare(sources: Vec<Source>, options: ImportOptions) -> Result<Import> {
        Import::prepare_after(sources, options, &HashMap::new())
    }

    /// `before` has the types by name that samples gave to columns before.
    fn prepare_after(
        sources: Vec<Source>,
        options: ImportOptions,
        before: &HashMap<String, ColumnType>,
    ) -> Result<Import> {
        if let Some(again) = sources.iter().filter(|source| source.is_stdin()).nth(1) {
            return Err(InputError::refused(format!("{} is named twice", again.name), "name - once"));
        }
        let mut import = Import { options, all_named: true, ..Import::default() };
        let mut evidence = Vec::new();
        for source in sources {
            let opened = import.open(&source)?;
            import.all_named &= !matches!(opened, OpenInput::Rows(_, Rows::Ndjson(_)));
            let kept = match opened {
                OpenInput::Rows(_, rows) => import.sample(&source, rows, &mut evidence)?,
                #[cfg(feature = "parquet")]
                OpenInput::Columns(file) => {
                    import.declare(&source, &file)?;
                    (!source.is_replayable()).then_some(OpenInput::Columns(file))
                }
            };
            import.inputs.push(Input { source, kept });
        }
        import.assign_types(&evidence, before)?;
        if import.all_named {
            import.check_names()?;
        }
        Ok(import)
    }

    /// Notes about delimiters, and about names that headers do not have as they are.
    pub(crate) fn file_notes(&self) -> impl Iterator<Item = String> + '_ {
        let delimiters = self.sniffed.iter().map(|(_, note)| note);
        delimiters.chain(self.header_notes.iter().flat_map(|(_, notes)| notes)).cloned()
    }

    /// The number of skipped rows, and the first of them.
    pub(crate) fn skipped(&self) -> (u64, &[BadRow]) {
        (self.skipped, &self.first_skipped)
    }

    pub(crate) fn missing_tokens(&self) -> &MissingTokens {
        &self.options.missing
    }

    /// The size of the inputs on disk; `None` if one is a pipe.
    pub(crate) fn input_size(&self) -> Option<u64> {
        self.inputs.iter().map(|input| input.source.size()).sum()
    }

    /// Bytes read from the inputs so far, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.inputs.iter().map(|input| input.source.bytes_read()).sum()
    }

    /// Bytes read from the inputs so far, after decompression.
    pub(crate) fn text_read(&self) -> u64 {
        self.inputs.iter().map(|input| input.source.text_read()).sum()
    }

    /// The names of the inputs without a byte, if all inputs are text.
    pub(crate) fn empty_inputs(&self) -> impl Iterator<Item = &str> {
        let sources = self.inputs.iter().map(|input| &input.source).filter(|_| self.is_text());
        sources.filter(|source| source.text_read() == 0).map(|source| &*source.name)
    }

    /// Whether all inputs are text.
    pub(crate) fn is_text(&self) -> bool {
        self.columns.iter().all(|column| column.declared.is_none())
    }

    /// Adds a column for every field without one.
    fn add_columns(&mut self) {
        for name in self.fields.names().skip(self.columns.len()) {
            if self.options.ids.as_deref() == Some(name) {
                self.ids = Some(self.columns.len());
            }
            let mut column = Column::new(name, self.options.schema.get(name));
            column.excluded = self.options.exclude.has(name);
            self.columns.push(column);
        }
    }

    /// Converts every row and passes it to `sink`, together with the current columns.
    ///
    /// # Errors
    ///
    /// Errors of the inputs and of `sink`.
    pub(crate) fn run<E: From<InputError>>(
        &mut self,
        mut sink: impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for index in 0..self.inputs.len() {
            let Some(input) = self.inputs.get_mut(index) else { break };
            let source = input.source.clone();
            let opened = input.kept.take().map_or_else(|| self.open(&source), Ok)?;
            let (sample, rows) = match opened {
                OpenInput::Rows(sample, rows) => (sample, rows),
                #[cfg(feature = "parquet")]
                OpenInput::Columns(file) => {
                    self.add_file(&source, file, &mut sink)?;
                    continue;
                }
            };
            let mut document = Document::default();
            for mut row in sample {
                self.add(&source, row.as_mut().map_err(|bad| bad.clone()), &mut document, &mut sink)?;
            }
            self.add_text_file(&source, rows, &mut sink)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "import/tests.rs"]
mod tests;
