//! [`Summary`]: a description of the written segment, made without reading it back.

use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Values};
use docvalues_format::file::field::Field;
use docvalues_format::granule::{SectionRef, extent};
use docvalues_terms::ids::{Form, Ids};

/// A description of a segment that was written.
///
/// # Examples
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// for value in [Some(512), None] {
///     let mut doc = writer.document();
///     if let Some(value) = value {
///         doc.i64(size, value)?;
///     }
///     doc.finish()?;
/// }
/// let (file, summary) = writer.finish()?;
/// assert_eq!((summary.docs, summary.bytes), (2, file.len() as u64));
/// let column = &summary.columns[0];
/// assert_eq!((column.field().name.as_str(), column.docs_with_value()), ("size", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of documents.
    pub docs: u32,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The segment's id: a hash of its content. Segments of equal content have equal ids.
    pub id: u128,
    /// The columns, sorted by name.
    pub columns: Vec<ColumnSummary>,
    /// The id index, if the segment has one.
    pub ids: Option<IdsSummary>,
}

/// A description of the id index of a segment that was written.
///
/// ```
/// use docvalues_writer::{FieldSpec, IdForm, IdOptions, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// writer.id_field(id, IdOptions::new().form(IdForm::Fst))?;
/// for value in ["ant", "bee"] {
///     let mut doc = writer.document();
///     doc.str(id, value)?;
///     doc.finish()?;
/// }
/// let (_, summary) = writer.finish()?;
/// let ids = summary.ids.ok_or("no id index")?;
/// assert_eq!((ids.field.as_str(), ids.form(), ids.count()), ("id", IdForm::Fst, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdsSummary {
    /// The name of the id field.
    pub field: String,
    pub(crate) ids: Ids<SectionRef>,
    /// The size of its sections, in bytes, with padding and checksums.
    pub bytes: u64,
}

/// A description of a column of a segment that was written, one of [`Summary::columns`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSummary {
    /// The column as in the directory, but without its fine zones, which are written later.
    pub(crate) column: Column<SectionRef>,
    /// The size of its sections, in bytes, with padding and checksums, without its entry in the directory.
    pub bytes: u64,
}

impl IdsSummary {
    /// The form of the id index.
    pub fn form(&self) -> Form {
        self.ids.meta.form
    }

    /// The number of ids.
    pub fn count(&self) -> u32 {
        self.ids.meta.count
    }
}

impl ColumnSummary {
    /// The column's name, kind and type.
    pub fn field(&self) -> &Field {
        &self.column.field
    }

    /// The number of documents that have a value.
    pub fn docs_with_value(&self) -> u64 {
        match &self.column.values {
            Values::Numbers { offsets: Some(offsets), .. } => offsets.count.saturating_sub(1),
            Values::Numbers { .. } | Values::Binary(_) => self.values(),
        }
    }

    /// The number of values. Multi-valued columns may have more values than documents.
    pub fn values(&self) -> u64 {
        match &self.column.values {
            Values::Numbers { values, .. } => values.count,
            Values::Binary(values) => values.count,
        }
    }

    /// The column's sections in file order, each with its size in the file, in bytes.
    pub fn sections(&self) -> Vec<(Section, u64)> {
        let sections = self.column.sections().into_iter();
        sections.map(|(name, section)| (name, extent(section.len).unwrap_or(u64::MAX))).collect()
    }
}
