//! [`TableData`]: the columns and figures of a table. It knows no scan.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::Statistics;
use datafusion_expr::Expr;
use docvalues::store::Dataset;

use crate::filter::TableField;
use crate::open_parts::OpenParts;
use crate::places::Places;

/// The columns and figures of a table, which its scans share.
#[derive(Clone)]
pub(crate) struct TableData {
    pub(crate) open: Arc<OpenParts>,
    pub(crate) schema: SchemaRef,
    /// The columns of the schema, without those of places.
    pub(crate) fields: Vec<TableField>,
    pub(crate) has_places: bool,
    /// Names the documents for other processes.
    pub(crate) dataset: Option<Arc<Dataset>>,
    /// Whether scans have a child that lists their partitions.
    #[cfg(feature = "proto")]
    pub(crate) is_sliced: bool,
    /// The number of documents in each part, deleted or not.
    pub(crate) docs: Vec<u32>,
    pub(crate) statistics: Statistics,
}

impl fmt::Debug for TableData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableData").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl TableData {
    /// The documents for which a condition is true, if it only asks for their places.
    pub(crate) fn places(&self, filter: &Expr) -> Option<Places> {
        if self.has_places { Places::of(filter) } else { None }
    }
}
