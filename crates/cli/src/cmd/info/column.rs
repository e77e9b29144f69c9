//! [`Column`]: a column in all segments of a store or an index.

use std::ops::RangeInclusive;

use crate::answer::table::Table;
use crate::answer::usage_tables::{column_row, json_ends, table_with};
use crate::api::{Bounds, Field};
use crate::text::{Json, thousands};

/// A column in all segments, with deleted documents.
pub(super) struct Column {
    pub(super) field: Field,
    docs: u64,
    /// The least and the greatest number, if they are known; the range is empty without numbers.
    bounds: Option<RangeInclusive<i64>>,
    bytes: u64,
}

impl Column {
    /// A column that no segment has.
    pub(super) fn new(field: Field) -> Column {
        Column { field, docs: 0, bounds: Some(Bounds::NONE.range()), bytes: 0 }
    }

    /// Adds the documents with a value, the bounds if they are known, and the bytes of a segment.
    pub(super) fn add(&mut self, docs: u64, bounds: Option<RangeInclusive<i64>>, bytes: u64) {
        self.docs += docs;
        let both = self.bounds.take().zip(bounds);
        self.bounds = both.map(|(a, b)| *a.start().min(b.start())..=*a.end().max(b.end()));
        self.bytes += bytes;
    }

    /// The least and the greatest number.
    fn ends(&self) -> Option<(i64, i64)> {
        self.bounds.clone().filter(|bounds| !bounds.is_empty()).map(RangeInclusive::into_inner)
    }

    /// The column as JSON, with members of its own after the type.
    pub(super) fn json<const N: usize>(&self, own: [(&'static str, Json); N]) -> Json {
        let Field { name, kind, logical, .. } = &self.field;
        let [min, max] = json_ends(&self.field, self.ends());
        let types: [(_, Json); 3] =
            [("name", name.as_str().into()), ("kind", kind.name().into()), ("type", logical.name().into())];
        let counts =
            [("documents", self.docs.into()), ("min", min), ("max", max), ("bytes", self.bytes.into())];
        Json::object(types.into_iter().chain(own).chain(counts))
    }
}

/// As for a segment, without distinct values, which only the directory of a segment knows. `bytes` are those of all
/// segments.
pub(super) fn column_table<'c>(columns: impl IntoIterator<Item = &'c Column>, bytes: u64) -> Table {
    let mut table = table_with(&["docs"]);
    for column in columns {
        let docs = [thousands(column.docs)];
        table.row(column_row(&column.field, docs, column.ends(), [column.bytes, bytes]));
    }
    table
}
