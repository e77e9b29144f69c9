//! Disk usage of a segment, by column and section.

use docvalues_column::{Field, Result};
use docvalues_format::error::Section as Role;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::granule::{SectionRef, extent};
use docvalues_format::presence::Kind;

use crate::column::{FormatResult, corrupt};
use crate::segment::{OpenColumn, Segment};

/// Disk usage of a segment. The parts add up to the file's length. Returned by [`Segment::usage`].
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for value in [Some(512), None, Some(70)] {
/// #     let mut doc = writer.document();
/// #     if let Some(value) = value { doc.i64(size, value)?; }
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let usage = segment.usage()?;
/// let columns: u64 = usage.columns.iter().map(|column| column.bytes()).sum();
/// assert_eq!(usage.overhead + columns, usage.bytes);
/// for column in &usage.columns {
///     println!("{:>8} bytes  {}  {}", column.bytes(), column.field.name, column.encodings.join(", "));
/// }
/// # assert_eq!(usage.columns[0].docs_with_value, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentUsage {
    /// The file's length.
    pub bytes: u64,
    /// Bytes of the header, the footer, the directory, and padding between them.
    pub overhead: u64,
    /// The columns, ascending by name.
    pub columns: Vec<ColumnUsage>,
    /// The sections of the id index, in file order; empty if there is no index.
    pub ids: Vec<SectionUsage>,
}

/// Contents, encodings and disk usage of one column, one of [`SegmentUsage::columns`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnUsage {
    /// Name, kind and type.
    pub field: Field,
    /// The number of documents with a value.
    pub docs_with_value: u32,
    /// The number of values of all documents.
    pub value_count: u64,
    /// The number of terms, for kinds with a dictionary.
    pub term_count: Option<u32>,
    /// The smallest and largest stored number, for numeric kinds.
    pub bounds: Option<(i64, i64)>,
    /// The statistics in the directory.
    pub statistics: Statistics,
    /// A description of each part's encoding, such as `presence dense+list` or `values affine packed(3-17)`.
    pub encodings: Vec<String>,
    /// The column's sections in file order. Its fine zones are last: the file has them after all columns.
    pub sections: Vec<SectionUsage>,
}

/// Disk usage of one section, in [`ColumnUsage::sections`] and [`SegmentUsage::ids`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionUsage {
    /// The part of the column that the section holds.
    pub section: Role,
    /// The offset of the section in the file.
    pub offset: u64,
    /// Bytes of content.
    pub payload: u64,
    /// Bytes in the file, including padding and checksums.
    pub bytes: u64,
}

impl SectionUsage {
    fn of((section, at): (Role, SectionRef)) -> SectionUsage {
        let bytes = extent(at.len).unwrap_or(u64::MAX);
        SectionUsage { section, offset: at.offset, payload: at.len, bytes }
    }
}

impl ColumnUsage {
    /// The bytes of all sections in the file.
    pub fn bytes(&self) -> u64 {
        self.sections.iter().map(|s| s.bytes).sum()
    }
}

impl Segment {
    /// The disk usage of the segment, by column and section, with the encoding of each part.
    ///
    /// Reads the directory, block headers and jump tables, but no values.
    ///
    /// # Errors
    ///
    /// If one of those is damaged.
    pub fn usage(&self) -> Result<SegmentUsage> {
        let mut columns = Vec::new();
        self.each_entry(|entry| {
            let stats = self.column_usage(entry)?;
            columns.push(stats);
            Ok(())
        })?;
        let ids = self.ids_entry()?.map(|entry| entry.sections()).unwrap_or_default();
        let ids: Vec<_> = ids.into_iter().map(SectionUsage::of).collect();
        let sections: u64 = columns.iter().map(ColumnUsage::bytes).chain(ids.iter().map(|s| s.bytes)).sum();
        Ok(SegmentUsage { bytes: self.len(), overhead: self.len().saturating_sub(sections), columns, ids })
    }

    fn column_usage(&self, entry: Column<SectionRef>) -> Result<ColumnUsage> {
        let encodings = self.open_column(entry.clone())?.encodings();
        let encodings = encodings.map_err(|e| corrupt(self.file(), Some(&entry.field.name), e))?;
        let sections = entry.sections().into_iter().map(SectionUsage::of).collect();
        let docs_with_value = entry.presence.values(self.docs());
        let (value_count, term_count, bounds) = match &entry.values {
            Values::Binary(values) => (values.count, None, None),
            Values::Numbers { values, terms: Some(terms), .. } => (values.count, Some(terms.count), None),
            Values::Numbers { values, .. } => (values.count, None, Some((values.min, values.max))),
        };
        Ok(ColumnUsage {
            field: entry.field,
            docs_with_value,
            value_count,
            term_count,
            bounds: bounds.filter(|_| value_count > 0),
            statistics: entry.statistics,
            encodings,
            sections,
        })
    }
}

impl OpenColumn {
    /// A description of each part's encoding. Reads block headers.
    fn encodings(&self) -> FormatResult<Vec<String>> {
        let core = match self {
            OpenColumn::Numeric(column) => &column.core,
            OpenColumn::Binary(column) => &column.core,
        };
        let mut encodings = Vec::new();
        let kinds = core.presence.block_kinds()?;
        let kinds: Vec<_> = Kind::ALL.iter().zip(kinds).filter(|(_, blocks)| *blocks > 0).collect();
        if !kinds.is_empty() {
            let names: Vec<_> = kinds.iter().map(|(kind, _)| kind.name()).collect();
            encodings.push(format!("presence {}", names.join("+")));
        }
        match self {
            OpenColumn::Numeric(column) => {
                if let Some(offsets) = &column.offsets {
                    encodings.push(format!("offsets {}", offsets.encodings()?));
                }
                let what = if column.terms.is_some() { "ords" } else { "values" };
                encodings.push(format!("{what} {}", column.values.encodings()?));
                if column.terms.is_some() {
                    encodings.push("terms front-coded".to_owned());
                }
            }
            OpenColumn::Binary(column) => {
                let mut bytes = "bytes".to_owned();
                if let Some(len) = column.values.fixed_len() {
                    bytes += &format!("({len})");
                }
                if let Some(compression) = column.values.compression() {
                    bytes += &format!(" {compression}");
                }
                if let Some(offsets) = column.values.offsets() {
                    bytes += &format!(", offsets {}", offsets.encodings()?);
                }
                encodings.push(bytes);
            }
        }
        Ok(encodings)
    }
}
