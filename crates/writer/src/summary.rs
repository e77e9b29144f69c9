//! What a segment became: told at the end of writing, without reading it back.

use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Values};
use docvalues_format::file::field::Field;
use docvalues_format::granule::{SectionRef, extent};
use docvalues_terms::ids::{Form, Ids};

/// A segment that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Documents in it.
    pub docs: u32,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// The segment's id: a hash of its content. Equal content has equal ids.
    pub id: u128,
    /// Its columns, by name.
    pub columns: Vec<ColumnSummary>,
    /// Its index of ids, if it has one.
    pub ids: Option<IdsSummary>,
}

/// The index of ids of a segment that was written.
///
/// ```
/// use docvalues_writer::{FieldSpec, IdForm, IdOptions, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// writer.id_field(id, IdOptions { form: IdForm::Fst, ..IdOptions::default() })?;
/// for value in ["ant", "bee"] {
///     let mut doc = writer.document();
///     doc.str(id, value)?;
///     doc.finish()?;
/// }
/// let (_, summary) = writer.finish()?;
/// let ids = summary.ids.ok_or("no index of ids")?;
/// assert_eq!((ids.field.as_str(), ids.form(), ids.count()), ("id", IdForm::Fst, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdsSummary {
    /// The field whose values the ids are.
    pub field: String,
    pub(crate) ids: Ids<SectionRef>,
    /// Bytes of all its sections, with tails and checksums.
    pub bytes: u64,
}

/// One column of a segment that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSummary {
    /// The column as the directory has it, but without its fine zones, which come later.
    pub(crate) column: Column<SectionRef>,
    /// Bytes of all its sections, with tails and checksums; its entry in the directory not counted.
    pub bytes: u64,
}

impl IdsSummary {
    /// The form of the index.
    pub fn form(&self) -> Form {
        self.ids.form
    }

    /// How many ids there are.
    pub fn count(&self) -> u32 {
        self.ids.count
    }
}

impl ColumnSummary {
    /// The column's name, kind and type.
    pub fn field(&self) -> &Field {
        &self.column.field
    }

    /// How many documents have a value.
    pub fn docs_with_value(&self) -> u64 {
        match &self.column.values {
            Values::SortedNumeric { offsets, .. } | Values::SortedSet { offsets, .. } => {
                offsets.count.saturating_sub(1)
            }
            Values::Numeric(_) | Values::Binary(_) | Values::Sorted { .. } => self.values(),
        }
    }

    /// How many values there are: more than documents with one, if a document can have several.
    pub fn values(&self) -> u64 {
        match &self.column.values {
            Values::Numeric(values) | Values::SortedNumeric { values, .. } => values.count,
            Values::Sorted { ords, .. } | Values::SortedSet { ords, .. } => ords.count,
            Values::Binary(values) => values.count,
        }
    }

    /// The column's sections, in the order in which they lie in the file, with the bytes that each
    /// takes there.
    pub fn sections(&self) -> Vec<(Section, u64)> {
        let mut sections = Vec::new();
        let Ok(_) = self.column.clone().try_map(&mut |name, section: SectionRef| {
            sections.push((name, extent(section.len).unwrap_or(u64::MAX)));
            Ok::<_, std::convert::Infallible>(())
        });
        sections
    }
}
