//! Opening columns: from a directory entry to readers over sections.

use std::sync::{Arc, OnceLock, PoisonError};

use docvalues_column::{Bounds, ColumnInfo, Count, Kind, Result};
use docvalues_format::binary::{Binary, BinaryReader};
use docvalues_format::dictionary::{self, DictionaryReader};
use docvalues_format::file::column::{Column, Values};
use docvalues_format::granule::SectionRef;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{Numeric, NumericReader};
use docvalues_format::presence::PresenceReader;
use docvalues_storage::{Section, Verify};

use super::Segment;
use crate::binary_column::BinaryColumn;
use crate::column::{ColumnCore, FormatResult, corrupt};
use crate::dictionary::Dictionary;
use crate::numeric_column::NumericColumn;
use crate::sort_key::PrimarySortKey;

/// An open column of any kind.
#[derive(Clone)]
pub(crate) enum OpenColumn {
    Numeric(Arc<NumericColumn>),
    Binary(Arc<BinaryColumn>),
}

impl OpenColumn {
    /// The column's kind.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            OpenColumn::Numeric(column) => column.core.info.kind(),
            OpenColumn::Binary(column) => column.core.info.kind(),
        }
    }
}

impl Segment {
    /// The column `name`: opened now, or kept from an earlier call.
    pub(crate) fn opened(&self, name: &str) -> Result<OpenColumn> {
        // The map is consistent even if a thread panicked while it held the lock.
        let columns = || self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = columns().get(name) {
            return Ok(column.clone());
        }
        let column = self.open_column(self.find(name)?)?;
        Ok(columns().entry(name.to_owned()).or_insert(column).clone())
    }

    /// Opens the sections of a column, and readers over them.
    pub(crate) fn open_column(&self, entry: Column<SectionRef>) -> Result<OpenColumn> {
        let name = entry.field.name.clone();
        self.open_sections(entry).map_err(|e| corrupt(self.file(), Some(&name), e))
    }

    fn open_sections(&self, entry: Column<SectionRef>) -> FormatResult<OpenColumn> {
        // With AtOpen, opening reads whole sections, not a few small ranges.
        if self.0.options.verify == Verify::AtOpen || !self.0.source.is_requested() {
            return self.open_readers(entry);
        }
        self.0.source.in_waves(|| self.open_readers(entry.clone()))
    }

    fn open_readers(&self, entry: Column<SectionRef>) -> FormatResult<OpenColumn> {
        let (mode, docs) = (self.0.options.jump_tables, self.docs());
        let column = entry.try_map(&mut |role, at| self.section(at, role))?;
        let presence = PresenceReader::open(column.presence, docs, mode)?;
        let (sort_key, with_value) =
            (PrimarySortKey::of(self.sort(), &column.field.name), presence.values().into());
        let info = ColumnInfo {
            field: column.field,
            docs,
            with_value: Count::Exact(with_value),
            value_count: Count::Exact(with_value),
            bounds: Bounds::Unknown,
            sum: None,
        };
        let (file, source) = (self.0.file.clone(), self.0.source.clone());
        let core = ColumnCore { file, source, sort_key, info, docs, presence };
        let (offsets, values, terms) = match column.values {
            Values::Numbers { offsets, values, terms } => (offsets, values, terms),
            Values::Binary(values) => return open_bytes(core, values, mode),
        };
        let offsets = offsets.map(|offsets| NumericReader::open(offsets, mode)).transpose()?;
        let terms = terms.map(|terms| open_terms(&core, terms, mode)).transpose()?;
        open_numbers(core, offsets, values, terms, column.statistics.sum, mode)
    }
}

// Three functions that are not inlined, so that opening one kind of reader takes no stack for the others.

#[inline(never)]
fn open_bytes(core: ColumnCore, values: Binary<Section>, mode: JumpTables) -> FormatResult<OpenColumn> {
    let values = BinaryReader::open(values, mode)?;
    Ok(OpenColumn::Binary(Arc::new(BinaryColumn { core, values })))
}

#[inline(never)]
fn open_terms(
    core: &ColumnCore,
    terms: dictionary::Dictionary<Section>,
    mode: JumpTables,
) -> FormatResult<Arc<Dictionary>> {
    let (file, source) = (core.file.clone(), core.source.clone());
    let (field, reader) = (core.info.field.name.clone(), DictionaryReader::open(terms, mode)?);
    Ok(Arc::new(Dictionary { file, source, field, reader }))
}

#[inline(never)]
fn open_numbers(
    mut core: ColumnCore,
    offsets: Option<NumericReader<Section>>,
    values: Numeric<Section>,
    terms: Option<Arc<Dictionary>>,
    sum: Option<i128>,
    mode: JumpTables,
) -> FormatResult<OpenColumn> {
    let values = NumericReader::open(values, mode)?;
    core.info.value_count = Count::Exact(values.count());
    if terms.is_none() {
        let meta = values.meta();
        core.info.bounds = if meta.count > 0 { Bounds::Exact(meta.min..=meta.max) } else { Bounds::NONE };
        core.info.sum = sum;
    }
    let (lookup, row_lookup) = (OnceLock::new(), OnceLock::new());
    let column = NumericColumn { core, offsets, values, lookup, row_lookup, terms };
    Ok(OpenColumn::Numeric(Arc::new(column)))
}
