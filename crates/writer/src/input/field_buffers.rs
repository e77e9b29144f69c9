//! [`FieldBuffers`]: the buffers of all fields, with commit and rollback of documents.
//!
//! Documents below `docs` are committed. Values of the next document or batch are already in the buffers, so that a
//! commit copies nothing. `touched` lists the buffers that have some: a rollback truncates only these, and a document
//! costs nothing for fields without a value.

use std::fmt;

use docvalues_format::file::kind::LogicalType;
use docvalues_format::id::MAX_DOCS;
use docvalues_storage::Spill;

use super::input_column::{self, InputColumn};
use crate::buffer::{BatchRows, FieldBuffer, MemoryBudget};
use crate::encode::sample;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{BytesKind, FieldId, FieldSpec, Schema};

/// The type of a value that a caller adds, and the fields that take it.
#[derive(Clone, Copy)]
pub(crate) struct InputType {
    /// The name of the type in errors, with an article.
    what: &'static str,
    /// Whether fields of a type take it.
    fits: fn(LogicalType) -> bool,
    /// Whether it is known to be UTF-8.
    pub(crate) is_text: bool,
}

impl InputType {
    pub(crate) const I64: InputType = InputType::new("a signed integer", |t| matches!(t, LogicalType::I64));
    pub(crate) const U64: InputType =
        InputType::new("an unsigned integer", |t| matches!(t, LogicalType::U64));
    pub(crate) const F64: InputType = InputType::new("a double", |t| matches!(t, LogicalType::F64));
    pub(crate) const BOOL: InputType = InputType::new("a boolean", |t| matches!(t, LogicalType::Bool));
    pub(crate) const DATE: InputType = InputType::new("a date", |t| matches!(t, LogicalType::Date));
    pub(crate) const TIMESTAMP: InputType = InputType::new("a timestamp", |t| {
        use LogicalType::{TimestampMicros, TimestampMillis, TimestampNanos};
        matches!(t, TimestampMillis | TimestampMicros | TimestampNanos)
    });
    pub(crate) const NUMBER: InputType = InputType::new("a number", |t| !t.is_bytes());
    pub(crate) const STR: InputType =
        InputType { is_text: true, ..InputType::new("a string", |t| matches!(t, LogicalType::Utf8)) };
    pub(crate) const BYTES: InputType = InputType::new("a byte string", |t| matches!(t, LogicalType::Bytes));
    pub(crate) const IP: InputType = InputType::new("an IP address", |t| matches!(t, LogicalType::Ip));
    pub(crate) const UUID: InputType = InputType::new("a 128-bit id", |t| matches!(t, LogicalType::Uuid));
    pub(crate) const BYTES_OF_ANY: InputType = InputType::new("byte strings", LogicalType::is_bytes);

    const fn new(what: &'static str, fits: fn(LogicalType) -> bool) -> InputType {
        InputType { what, fits, is_text: false }
    }
}

/// The buffers of all fields.
#[derive(Default)]
pub(crate) struct FieldBuffers {
    pub(crate) schema: Schema,
    pub(crate) buffers: Vec<FieldBuffer>,
    /// The number of committed documents.
    pub(crate) docs: u32,
    pub(crate) memory: MemoryBudget,
    /// The temporary file, if there is one.
    pub(crate) spill: Option<Spill>,
    touched: Vec<Touched>,
    /// Whether a committed field may have to decide whether its values repeat.
    sample_due: bool,
    /// For each field, whether the current batch has a column of it.
    given: Vec<bool>,
}

/// A field with uncommitted values.
#[derive(Clone, Copy, Debug)]
struct Touched {
    field: FieldId,
    /// The number of its distinct byte strings before them.
    terms: u32,
}

// Without the buffers, which may have gigabytes.
impl fmt::Debug for FieldBuffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("FieldBuffers");
        fields.field("fields", &self.buffers.len()).field("docs", &self.docs);
        fields.field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl FieldBuffers {
    pub(crate) fn new(schema: Schema, budget: usize) -> FieldBuffers {
        let buffers: Vec<_> = schema.iter().map(|(_, spec)| FieldBuffer::new(spec)).collect();
        let (memory, given) = (MemoryBudget::new(budget), vec![false; buffers.len()]);
        FieldBuffers { schema, buffers, memory, given, ..FieldBuffers::default() }
    }

    /// Adds a field. The documents so far have no value of it.
    pub(crate) fn add_field(&mut self, field: FieldSpec) -> Result<FieldId> {
        let buffer = FieldBuffer::new(&field);
        let id = self.schema.add(field)?;
        self.buffers.push(buffer);
        self.given.push(false);
        Ok(id)
    }

    /// Sets the format of `field`.
    pub(crate) fn set_format(&mut self, field: FieldId, format: String) -> Result<()> {
        let spec = spec(&self.schema, field, self.docs)?.clone().format(format);
        self.schema.replace(field, spec)
    }

    /// Makes `field` binary, as an id field has to be.
    pub(crate) fn require_binary(&mut self, field: FieldId) -> Result<()> {
        let spec = spec(&self.schema, field, self.docs)?;
        let wrong = match spec.bytes_kind() {
            _ if !spec.logical().is_bytes() => Some("its values are numbers"),
            _ if spec.is_multi_valued() => Some("a document may have several of its values"),
            BytesKind::Sorted => Some("its values have a dictionary: make the field binary"),
            BytesKind::Auto if self.buffers[field.index()].presence.count() > 0 => Some(
                "it has values already that may get a dictionary: say so before, or make the field binary",
            ),
            BytesKind::Auto | BytesKind::Binary => None,
        };
        if let Some(wrong) = wrong {
            return Err(Error::new(ErrorKind::NoIdField(wrong)).of(spec.name()));
        }
        if spec.bytes_kind() == BytesKind::Auto {
            let spec = spec.clone().kind(BytesKind::Binary);
            self.buffers[field.index()] = FieldBuffer::new(&spec);
            self.schema.replace(field, spec)?;
        }
        Ok(())
    }

    /// Checks that the field takes values of the type `given`.
    fn expect_type(&self, field: FieldId, given: InputType) -> Result<()> {
        let spec = spec(&self.schema, field, self.docs)?;
        if (given.fits)(spec.logical()) {
            return Ok(());
        }
        let wrong = ErrorKind::WrongType { given: given.what, logical: spec.logical() };
        Err(Error::new(wrong).of(spec.name()).in_doc(self.docs))
    }

    /// Adds a value to the next document: reserves memory, and calls `push` to check and append it.
    pub(super) fn add(
        &mut self,
        field: FieldId,
        given: InputType,
        push: impl FnOnce(LogicalType, &mut FieldBuffer, &mut MemoryBudget) -> Result<(), ErrorKind>,
    ) -> Result<()> {
        self.expect_type(field, given)?;
        self.sample_if_due()?;
        self.spill_if_tight()?;
        let doc = self.docs;
        let (spec, buffer) = (spec(&self.schema, field, doc)?, &mut self.buffers[field.index()]);
        let first = !buffer.presence.has(doc);
        let terms = buffer.terms();
        let add = || {
            if !first && !spec.is_multi_valued() {
                return Err(ErrorKind::SecondValue);
            }
            buffer.reserve(1, 1, &mut self.memory)?;
            if first {
                buffer.presence.reserve(doc..doc + 1, 1, &mut self.memory)?;
            }
            push(spec.logical(), buffer, &mut self.memory)
        };
        add().map_err(|kind| Error::new(kind).of(spec.name()).in_doc(doc))?;
        if first {
            buffer.presence.insert(doc);
            self.touched.push(Touched { field, terms });
        }
        Ok(())
    }

    /// Adds a column to the next documents. `rows` assigns its values to them.
    pub(crate) fn add_column(
        &mut self,
        field: FieldId,
        given: InputType,
        rows: &BatchRows<'_>,
        column: &dyn InputColumn,
    ) -> Result<()> {
        self.expect_type(field, given)?;
        self.sample_if_due()?;
        self.spill_if_tight()?;
        let first = self.docs;
        let (spec, buffer) = (spec(&self.schema, field, first)?, &mut self.buffers[field.index()]);
        let refuse = |(doc, kind)| Error::new(kind).of(spec.name()).in_doc(first + doc);
        let fits = match () {
            // Not `touched`: the first column may have had no values.
            () if self.given[field.index()] => Err(ErrorKind::SecondColumn),
            () if rows.lists.is_some() && !spec.is_multi_valued() => Err(ErrorKind::ListOfSingle),
            () => rows.check(),
        };
        fits.map_err(|kind| refuse((0, kind)))?;

        let terms = buffer.terms();
        let added = input_column::append(buffer, first, rows, column, spec.logical(), &mut self.memory);
        match added {
            Ok(()) => {
                self.touched.push(Touched { field, terms });
                self.given[field.index()] = true;
            }
            Err(refused) => {
                buffer.truncate(first, terms);
                return Err(refuse(refused));
            }
        }
        Ok(())
    }

    /// Lets fields decide whether their values repeat, if all values are committed.
    fn sample_if_due(&mut self) -> Result<()> {
        if self.sample_due && self.touched.is_empty() {
            self.sample_due = false;
            for ((_, spec), buffer) in self.schema.iter().zip(&mut self.buffers) {
                let sampled = sample::sample(buffer, spec, &mut self.memory);
                sampled.map_err(|kind| Error::new(kind).of(spec.name()).in_doc(self.docs))?;
            }
        }
        Ok(())
    }

    /// Spills the largest buffers if memory is tight and all values are committed: values that may be rolled back stay
    /// in memory.
    pub(crate) fn spill_if_tight(&mut self) -> Result<()> {
        if self.memory.is_tight() && self.touched.is_empty() { self.spill_largest() } else { Ok(()) }
    }

    /// Spills the largest buffers, if there is a temporary file, until a quarter of the budget is used.
    #[cold]
    pub(crate) fn spill_largest(&mut self) -> Result<()> {
        let Some(spill) = self.spill.clone() else { return Ok(()) };
        let mut largest: Vec<usize> = (0..self.buffers.len()).collect();
        largest.sort_by_cached_key(|&field| std::cmp::Reverse(self.buffers[field].heap()));
        for field in largest {
            if self.memory.used() <= self.memory.spill_target() {
                break;
            }
            self.buffers[field].spill(&spill, &mut self.memory)?;
        }
        self.memory.after_spill();
        Ok(())
    }

    /// Commits the next `docs` documents, whose number was checked.
    pub(crate) fn commit_batch(&mut self, docs: u32) {
        for Touched { field, .. } in self.touched.drain(..) {
            self.given[field.index()] = false;
            self.sample_due |= self.buffers[field.index()].is_sample_due();
        }
        self.docs += docs;
    }

    /// Commits the next document.
    pub(crate) fn commit_document(&mut self) -> Result<()> {
        self.check_doc_count(1)?;
        for Touched { field, .. } in self.touched.drain(..) {
            let buffer = &mut self.buffers[field.index()];
            buffer.end_document();
            self.sample_due |= buffer.is_sample_due();
        }
        self.docs += 1;
        Ok(())
    }

    /// Checks that the segment can number `docs` more documents.
    pub(crate) fn check_doc_count(&self, docs: u32) -> Result<()> {
        match self.docs.checked_add(docs) {
            Some(total) if total <= MAX_DOCS => Ok(()),
            _ => Err(Error::new(ErrorKind::TooManyDocs { max: MAX_DOCS }).in_doc(self.docs)),
        }
    }

    /// Removes all uncommitted values.
    pub(crate) fn roll_back(&mut self) {
        for Touched { field, terms } in self.touched.drain(..) {
            self.buffers[field.index()].truncate(self.docs, terms);
            self.given[field.index()] = false;
        }
    }
}

/// The declaration of `field`. `doc` is for the error.
fn spec(schema: &Schema, field: FieldId, doc: u32) -> Result<&FieldSpec> {
    schema.get(field).ok_or_else(|| Error::new(ErrorKind::UnknownField).in_doc(doc))
}
