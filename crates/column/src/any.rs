//! Columns whose kind is known only when the program runs, and where they come from.

use std::sync::Arc;

use crate::{
    BinaryColumn, Column, Kind, NumericColumn, Result, SortKey, SortedColumn, SortedNumericColumn,
    SortedSetColumn,
};

/// A column of any kind.
#[derive(Clone)]
pub enum AnyColumn {
    /// See [`NumericColumn`].
    Numeric(Arc<dyn NumericColumn>),
    /// See [`BinaryColumn`].
    Binary(Arc<dyn BinaryColumn>),
    /// See [`SortedColumn`].
    Sorted(Arc<dyn SortedColumn>),
    /// See [`SortedNumericColumn`].
    SortedNumeric(Arc<dyn SortedNumericColumn>),
    /// See [`SortedSetColumn`].
    SortedSet(Arc<dyn SortedSetColumn>),
}

impl AnyColumn {
    /// What every column can tell.
    pub fn as_column(&self) -> &dyn Column {
        match self {
            AnyColumn::Numeric(column) => &**column,
            AnyColumn::Binary(column) => &**column,
            AnyColumn::Sorted(column) => &**column,
            AnyColumn::SortedNumeric(column) => &**column,
            AnyColumn::SortedSet(column) => &**column,
        }
    }

    /// The column's kind.
    pub fn kind(&self) -> Kind {
        match self {
            AnyColumn::Numeric(_) => Kind::Numeric,
            AnyColumn::Binary(_) => Kind::Binary,
            AnyColumn::Sorted(_) => Kind::Sorted,
            AnyColumn::SortedNumeric(_) => Kind::SortedNumeric,
            AnyColumn::SortedSet(_) => Kind::SortedSet,
        }
    }
}

impl std::fmt::Debug for AnyColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_column().field().fmt(f)
    }
}

/// Where columns come from: a segment, memory, an index of another engine.
pub trait ColumnSource {
    /// Documents in the source.
    fn docs(&self) -> u32;

    /// The names of all columns, ascending by their bytes.
    ///
    /// # Errors
    ///
    /// When the source is damaged.
    fn names(&self) -> Result<Vec<String>>;

    /// The column `name`.
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](crate::ErrorKind::NoSuchColumn), or when the source is damaged.
    fn column(&self, name: &str) -> Result<AnyColumn>;

    /// What the documents are sorted by, the key that counts most first; nothing if that is not known.
    ///
    /// Who relies on it gets wrong answers from a source that lies.
    fn sort(&self) -> &[SortKey] {
        &[]
    }
}
