//! [`Selection`]: the rows and columns that a scan reads. It knows no plan and no partition.

use std::sync::Arc;

use docvalues::search::Query;

use crate::dynamic::DynamicFilters;
use crate::open_parts::Bound;
use crate::places::Places;
use crate::table_data::TableData;

/// The documents that a scan returns: those that match a query, in some places.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) query: Query,
    /// `None` for all.
    pub(crate) places: Option<Places>,
}

impl Wanted {
    pub(crate) fn is_all(&self) -> bool {
        self.query == Query::All && self.places.is_none()
    }
}

/// Columns of the documents that match a query. A scan adds partitions and metrics, and a reader its progress.
#[derive(Clone)]
pub(crate) struct Selection {
    pub(crate) data: Arc<TableData>,
    pub(crate) wanted: Wanted,
    /// The query of `wanted`; `None` for objects, to which each reader binds it: a plan would keep their memory.
    pub(crate) bound: Option<Arc<Bound>>,
    pub(crate) dynamic: DynamicFilters,
    pub(crate) columns: Vec<usize>,
    /// Those of these that are read as ords.
    pub(crate) ords: Vec<usize>,
    pub(crate) limit: Option<usize>,
}
